"""What ``wakeword train WORD`` gives for words of which it is told nothing but the text.

The recipe is the command's own. The people who say the word, and the speech in which false accepts are counted, are
strangers: nobody of the starter pack is among them. A few recordings may be given afterwards, of people who then do not
count.
"""

import dataclasses
import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.audio.audio_file import read_audio
from wakeword.audio.audio_listing import audio_files
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import DataError
from wakeword.base.events import Line
from wakeword.base.files import new_folder
from wakeword.base.poisson import poisson_rate
from wakeword.base.types import Scores
from wakeword.base.version import __version__
from wakeword.model.model import Model, read_model
from wakeword_experiments.two_stages.measured_rooms import Room, read_rooms
from wakeword_experiments.two_stages.two_stages_measure import TestClips, scores_of_people, share
from wakeword_experiments.two_stages.unheard import split_takes
from wakeword_tools.engines.languages import ENGLISH
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.measure.rates import choose_fa_per_hour
from wakeword_tools.measure.scores import ScoreSet, events_at, stream_scores
from wakeword_tools.training_record import file_stem
from wakeword_tools.transcripts import speaker_of
from wakeword_train.config import TrainConfig
from wakeword_train.data.clips import Clip, read_folder
from wakeword_train.data.store import ClipStore
from wakeword_train.pack.starter import pack_path, read_pack
from wakeword_train.pipeline import train_model
from wakeword_train.recipe import default_recipe
from wakeword_train.training_run import DataFolders, TrainingEvents

_STATES = "text", "before", "after"
_OTHER_SOUND = 5
"""Place of the column of other sound."""
CONDITIONS = "clean", "noisy", "quiet", "room"
RATES = {"at_rate": 0.5, "at_one": 1.0}
"""False accepts an hour at which recall is compared."""

_PEERS = (
    "No other engine's training from text stands beside: those of livekit-wakeword 0.3.0 and openWakeWord 0.6.0 begin with "
    "the download of a Piper checkpoint and of 16 GB of features that are in no package index, and could not be run where "
    "these figures were made."
)


def measure_anyword(
    given: str,
    audio: Path,
    speech: Sequence[Path],
    others: Sequence[Path],
    work: Path,
    *,
    takes: int,
    language: str,
    report: Line,
) -> dict[str, Any]:
    """Train a word from its text alone as the command does, and measure; with ``takes`` also after as many recordings.

    ``given``: the word, or the name of its folder and its text, as ``receive=اِسْتِقْبال``.

    ``audio``: the folder with ``speech_commands``, ``noise`` and, if people are to be heard there too, ``rooms``.
    ``speech``: folders of long recordings; ``others``: of other sound, say music or other languages, in which false accepts
    are counted too. A model of these settings in ``work`` is measured without training it again: its record has no cost.
    """
    word, _, said = given.partition("=")
    config = dataclasses.replace(default_recipe(), keyword=said or word, language=language)
    model_file = work / f"{word}.onnx"
    spoken = (work / "runs" / file_stem(config.keyword) / "synthesised").is_dir()
    foreign = {} if language == ENGLISH else {"said": config.keyword, "language": language}
    record: dict[str, Any] = {
        "keyword": word,
        **foreign,
        "collection": collection_of(audio, word, language),
        "spoken_before": spoken,
        **_trained(config, DataFolders(), model_file, work, report),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "engines": read_model(model_file).card.training["engines"],
    }
    test = people_clips(audio, word, language)
    rooms = read_rooms(audio / "rooms") if (audio / "rooms").is_dir() else []
    sounds = strangers_speech(config, speech)
    record["text"] = measured(read_model(model_file), test, sounds, others, rooms, report)
    if takes:
        own, left = split_takes(test.people, takes)
        folder = work / f"{word}-takes"
        if not folder.is_dir():
            with new_folder(folder) as made:
                for take in own:
                    (made / take.path.name).symlink_to(take.path.resolve())
        again = work / f"{word}-takes.onnx"
        record["takes"] = {"takes": len(own), **_trained(config, DataFolders(positives=[folder]), again, work, report)}
        rest = dataclasses.replace(test, people=left)
        record["before"] = measured(read_model(model_file), rest, sounds, others, rooms, report)
        record["after"] = measured(read_model(again), rest, sounds, others, rooms, report)
    return record


def _trained(config: TrainConfig, folders: DataFolders, out: Path, work: Path, report: Line) -> dict[str, float]:
    """Train a model, unless ``out`` is the one that would be made; the seconds that it took, or nothing."""
    if _is_of(out, config):
        return {}
    began, spent = time.monotonic(), _cpu()
    train_model(config, folders, out, work=work / "runs", events=TrainingEvents(report))
    return {"clock": time.monotonic() - began, "cpu": _cpu() - spent}


def _is_of(model_file: Path, config: TrainConfig) -> bool:
    """Whether a file is the model of these settings, of this version and of the same starter pack."""
    if not model_file.is_file():
        return False
    training = read_model(model_file).card.training
    settings = json.loads(json.dumps(dataclasses.asdict(config)))
    pack = read_pack(pack_path(config.starter_pack)).digest if config.starter_pack else None
    made_from = (training["config"], training["versions"]["wakeword"], training.get("starter_pack", {}).get("digest"))
    return bool(made_from == (settings, __version__, pack))


def strangers_speech(config: TrainConfig, folders: Sequence[Path]) -> ClipStore:
    """The speech of people who are not in the starter pack, without the utterances in which the keyword is said."""
    known = read_pack(pack_path(config.starter_pack)).heard if config.starter_pack else frozenset()
    clips = [clip for folder in folders for clip in read_folder(folder, Kind.BACKGROUND, keyword=config.keyword)]
    return ClipStore([clip for clip in clips if (clip.path.stem, clip.speaker) not in known])


def measured(
    model: Model, test: TestClips, speech: ClipStore, others: Sequence[Path], rooms: Sequence[Room], report: Line
) -> dict[str, Any]:
    """Recall of people as they are, in noise, quiet and in rooms, and false accepts: at the default, and at half a one an
    hour."""
    point = model.card.point()
    streams = _streams(model, speech)
    people = scores_of_people(model, test, rooms, report)
    scores = ScoreSet(positives=people["clean"], negatives=np.zeros(0), streams=streams, hours=speech.hours)
    thresholds = {"default": point.threshold}
    thresholds |= {name: choose_fa_per_hour(scores, rate).threshold for name, rate in RATES.items()}
    heard = {folder.name: _heard(model, folder) for folder in others}
    found: dict[str, Any] = {
        "point": point.name,
        "phonemes": model.card.verifier.fusion.phonemes if model.card.verifier is not None else 0.0,
        "promised": {"recall": point.recall, "synthetic": point.synthetic},
        "hours": speech.hours,
        "speakers": len({clip.speaker for clip in speech.clips}),
        "hours_of_others": {name: hours for name, (_, hours) in heard.items()},
    }
    for name, threshold in thresholds.items():
        events = events_at(streams, threshold)
        found[name] = {
            "threshold": threshold,
            "events": events,
            "per_hour": [events / speech.hours, *poisson_rate(events, speech.hours)],
            "others": {name: events_at(scores, threshold) for name, (scores, _) in heard.items()},
            **{condition: share(some >= threshold, test.groups["people"]) for condition, some in people.items()},
        }
    return found


def people_of(audio: Path, word: str, language: str = ENGLISH) -> list[Path]:
    """The recordings of people who say a word, in any collection of its language. ``DataError`` if there are none."""
    english = (
        Path("speech_commands") / word,
        Path("wake_words") / word,
        Path("telephone/words") / word.replace(" ", "-"),
    )
    names = (
        *(english if language == ENGLISH else ()),
        *(path.relative_to(audio) for path in sorted(audio.glob(f"languages/{language}/*/{word}"))),
    )
    files = [path for name in names if (audio / name).is_dir() for path in audio_files(audio / name)]
    if not files:
        raise DataError(f"{audio}: expected recordings of people who say {word!r}, found none; leave the word out")
    return files


def collection_of(audio: Path, word: str, language: str = ENGLISH) -> str:
    """The name of the collections that the recordings of a word come from. Raises as ``people_of``."""
    parts = [path.relative_to(audio).parts for path in people_of(audio, word, language)]
    return "+".join(sorted({own[2] if own[0] == "languages" else own[0] for own in parts}))


def people_clips(audio: Path, word: str, language: str) -> TestClips:
    """Every recording of the word: nobody who says it was trained on."""
    people = [
        Clip(path, Kind.POSITIVE, word, collection_speaker(path), Split.TEST)
        for path in people_of(audio, word, language)
    ]
    noise: list[Clip] = read_folder(audio / "noise", Kind.NOISE)
    return TestClips(people, [], [], [], [clip.path for clip in noise])


def collection_speaker(path: Path) -> str:
    """Who speaks in a file of the collections: in some the name comes first, before the word."""
    first = path.parent.parent.parent.name == "telephone" or "languages" in path.parts
    return path.stem.split("_")[0] if first else speaker_of(path)


def _streams(model: Model, speech: ClipStore) -> list[Scores]:
    return [stream_scores(model, speech.wave(row)) for row in range(len(speech))]


def _heard(model: Model, folder: Path) -> tuple[list[Scores], float]:
    """The scores of a folder's recordings, and their hours."""
    scores, samples = [], 0
    for path in audio_files(folder):
        sound = read_audio(path)
        scores.append(stream_scores(model, sound))
        samples += len(sound)
    return scores, samples / SAMPLE_RATE / 3600


def _cpu() -> float:
    """CPU seconds of this process and of those that it has ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def anyword_page(record: Mapping[str, Any], *, figures: str) -> str:
    """The page in Markdown; ``figures`` is a link to the record."""
    every = [word[state] for word in record["words"] for state in _STATES if state in word]
    heard = [name for name in CONDITIONS if all(name in own["default"] for own in every)]
    in_room = "room" in heard
    rows = [
        f"| | recordings | default | clean / 10 dB / -20 dB{' / rooms' if in_room else ''} "
        "| false accepts an hour (95 %) | in other sound "
        "| at 0.5 an hour | clock, CPU |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for word in record["words"]:
        said = f" ({word['language']}: {word['said']})" if "said" in word else ""
        rows.append(word_row(f"{word['keyword']}{said}, text alone", word["text"], heard, _cost(word)))
        if "after" in word:
            own = word["takes"]
            rows.append(word_row("the same, people who gave none", word["before"], heard, ""))
            rows.append(
                word_row(f"and {own['takes']} recordings", word["after"], heard, _cost(own | {"spoken_before": True}))
            )
    rows += [
        row
        for state, name in (
            ("text", "mean, text alone"),
            ("before", "the same, who gave none"),
            ("after", "and recordings"),
        )
        if (row := mean_row(name, [word[state] for word in record["words"] if state in word], heard))
    ]
    hours = min((word["text"]["hours"] for word in record["words"]), default=0.0)
    others = ", ".join(
        f"{name} ({hours:.2f} h)" for name, hours in record["words"][0]["text"].get("hours_of_others", {}).items()
    )
    if not others:
        rows = [_without_cell(row, _OTHER_SOUND) for row in rows]
    foreign = all("said" in word for word in record["words"])
    with_takes = any("after" in word for word in record["words"])
    after = ", and after `wakeword train WORD --positives` with recordings" if with_takes else ""
    unnamed = (
        " Some files bear no speaker's name, so that who gave recordings may be heard again."
        if with_takes and not foreign
        else ""
    )
    head = (
        "# Any word",
        "",
        f"What `wakeword train WORD` finds, told nothing but the text{after}. "
        "Nobody who says the word was heard in training; false accepts "
        f"are counted in {hours:.1f} h or more of the speech of people who are not in the starter pack. One training each, "
        f"with {_cores(record['words'])} and seed 0. People are heard as they are, in noise at 10 dB, and 20 dB below that "
        f"with a microphone's own noise{', and as they are in measured rooms in turn' if in_room else ''}. "
        f"{f'Other sound: {others}, false accepts of the default. ' if others else ''}"
        f"{'' if foreign else 'The recipe was chosen by some of these words. '}*: with the synthetic speech of an "
        "earlier training; -: trained earlier."
        f"{unnamed}",
        "",
    )
    return "\n".join(
        [*head, *rows, "", _PEERS, "", f"Made by `{record['command']}` on {record['date']}. [Figures]({figures}).", ""]
    )


def _without_cell(row: str, place: int) -> str:
    """A row of a table without its cell at a place, counted from 0; an empty row stays."""
    cells = row.split("|")
    return "|".join(cells[: place + 1] + cells[place + 2 :]) if row else row


def word_row(name: str, own: Mapping[str, Any], heard: Sequence[str], cost: str) -> str:
    point, at = own["default"], own["at_rate"]
    rate, low, high = point["per_hour"]
    return (
        f"| {name} | {point['clean']['of']} | `{own['point']}` | {_conditions(point, heard)} | "
        f"{rate:.2f} ({low:.2f} to {high:.2f}) | {_events([own])} | {_conditions(at, heard)} | {cost} |"
    )


def _events(words: Sequence[Mapping[str, Any]]) -> str:
    """The false accepts at the default in each folder of other sound."""
    names = words[0].get("hours_of_others", ())
    return " / ".join(str(sum(own["default"]["others"][name] for own in words)) for name in names) or "-"


def mean_row(name: str, words: Sequence[Mapping[str, Any]], heard: Sequence[str]) -> str:
    """The means over words; empty for fewer than two."""
    if len(words) < 2:
        return ""

    def mean(point: str) -> str:
        shares = {name: float(np.mean([own[point][name]["rate"] for own in words])) for name in heard}
        return _conditions({name: {"rate": share} for name, share in shares.items()}, heard)

    clips = sum(own["default"]["clean"]["of"] for own in words)
    events = sum(own["default"]["events"] for own in words)
    rate = events / sum(own["hours"] for own in words)
    return f"| **{name}** | {clips} | | {mean('default')} | {rate:.2f} | {_events(words)} | {mean('at_rate')} | |"


def _cores(words: Sequence[Mapping[str, Any]]) -> str:
    numbers = sorted({word["cores"] for word in words})
    return " or ".join(str(number) for number in numbers) + (" core" if numbers == [1] else " cores")


def _cost(own: Mapping[str, Any]) -> str:
    if "clock" not in own:
        return "-"
    return f"{own['clock'] / 60:.0f}, {own['cpu'] / 60:.0f} min{'*' if own['spoken_before'] else ''}"


def _conditions(at: Mapping[str, Any], heard: Sequence[str]) -> str:
    return " / ".join(f"{100 * at[name]['rate']:.0f}" for name in heard) + " %"
