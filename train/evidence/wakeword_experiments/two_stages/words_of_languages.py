"""What models made from a word's text alone find in many languages: many words of each, said once by the one or few people
of a collection."""

import datetime
import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from wakeword.audio.audio_listing import audio_files
from wakeword.base.errors import ConfigError, DataError
from wakeword.base.events import Line
from wakeword.base.files import write_json
from wakeword.base.types import Array, Scores
from wakeword.model.model import Model, read_model
from wakeword.verify.phoneme_verifier import PhonemeNetwork
from wakeword_experiments.figures_report import kept_rows
from wakeword_experiments.two_stages.anyword import RATES
from wakeword_experiments.two_stages.measured_rooms import Room, read_rooms
from wakeword_experiments.two_stages.two_stages_measure import TestClips, interval_of, scores_of_people, share
from wakeword_experiments.two_stages.typed_words import FITS, page_of_record, score_of_fit
from wakeword_tools.engines.languages import name_of_language
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.measure.rates import choose_fa_per_hour
from wakeword_tools.measure.scores import RecordingScorer, ScoreSet, events_at
from wakeword_train.data.clips import Clip, read_folder
from wakeword_train.data.store import ClipStore
from wakeword_train.from_text import model_from_text

_CONDITIONS = "clean", "noisy", "room"
_POINTS = {"default": "at their defaults"} | {name: f"at {rate:g} an hour" for name, rate in RATES.items()}


def measure_languages(
    languages: Sequence[str],
    words: int,
    folders: Mapping[str, Path],
    speech: Sequence[Path],
    work: Path,
    figures: Path,
    *,
    command: str,
    report: Line,
) -> None:
    """Make and measure ``words`` words of each language; the record and its page are written after each language.

    ``folders``: ``words``, where ``CODE/TEXT/SPEAKER_name.flac`` are, ``noise`` and ``rooms``.
    """
    rooms, noise = read_rooms(folders["rooms"]), [clip.path for clip in read_folder(folders["noise"], Kind.NOISE)]
    sounds = ClipStore([clip for folder in speech for clip in read_folder(folder, Kind.BACKGROUND)])
    looks = dict[bytes, Array]()
    for language in languages:
        models, tests = [], []
        for said in chosen_words(folders["words"] / language, words):
            path = work / language / f"{said.name}.onnx"
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                models.append(read_model(model_from_text(said.name, path, language=language, anyway=True)))
            except ConfigError as error:
                report(f"left out: {error}")
                continue
            clips = [
                Clip(one, Kind.POSITIVE, said.name, one.stem.split("_")[0], Split.TEST) for one in audio_files(said)
            ]
            tests.append(TestClips(clips, [], [], [], noise))
        with looks_remembered(looks):
            own = of_language(models, tests, sounds, rooms, report)
        known = kept_rows(figures, "words")
        name = name_of_language(language)
        record = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "command": command,
            "fits": FITS,
            "words": [
                *(one for one in known if one["language"] != language),
                {"keyword": name, "language": language, "collection": name, "text": own},
            ],
        }
        write_json(figures, record)
        figures.with_suffix(".md").write_text(countries_page(record, figures.name), encoding="utf-8")
        report(f"{name}: {len(models)} words")


def chosen_words(folder: Path, count: int) -> list[Path]:
    """Some of the folders of a language's words, always the same. ``DataError`` if there are none."""
    found = sorted(path for path in folder.glob("*") if path.is_dir())
    if not found:
        raise DataError(f"{folder}: expected a folder of recordings for each word, found none")
    random.Random(0).shuffle(found)
    return found[:count]


@contextmanager
def looks_remembered(looks: dict[bytes, Array]) -> Iterator[None]:
    """What the recogniser hears is kept, as words of all languages ask it about much the same places in speech."""
    hears = PhonemeNetwork.log_probabilities

    def remembered(network: PhonemeNetwork, samples: Array) -> Array:
        key = hashlib.blake2b(samples.tobytes() + id(network).to_bytes(8), digest_size=16).digest()
        if key not in looks:
            looks[key] = hears(network, samples)
        return looks[key]

    with patch.object(PhonemeNetwork, "log_probabilities", remembered):
        yield


def of_language(
    models: Sequence[Model], tests: Sequence[TestClips], sounds: ClipStore, rooms: Sequence[Room], report: Line
) -> dict[str, Any]:
    """What the words of a language find together, as the record of ``typed`` has it of one, and each of them."""
    # One pass for all words: they ask the recogniser about much the same places.
    scorer = RecordingScorer(models)
    heard = [scorer.score([sounds.recorded(row)]) for row in range(len(sounds))]
    words = []
    for number, (model, test) in enumerate(zip(models, tests, strict=True)):
        streams = [scores[number] for scores in heard]
        words.append(_of_word(model, streams, sounds.hours, scores_of_people(model, test, rooms, report)))
    best = np.concatenate([word["scores"]["clean"] for word in words])
    found: dict[str, Any] = {
        "speakers": len({clip.speaker for test in tests for clip in test.people}),
        "hours": sounds.hours,
        "at_fits": [float(np.mean(best >= score_of_fit(fit))) for fit in FITS],
        "of_words": [
            {
                "word": model.card.phrase,
                "point": model.card.point().name,
                "scores": {name: [round(float(one), 6) for one in word["scores"][name]] for name in _CONDITIONS},
                "thresholds": word["thresholds"],
                "events": word["events"],
            }
            for model, word in zip(models, words, strict=True)
        ],
    }
    for point in _POINTS:
        found[point] = {
            "threshold": float(np.median([word["thresholds"][point] for word in words])),
            "events": sum(word["events"][point] for word in words),
            **{
                name: share(np.concatenate([word["scores"][name] >= word["thresholds"][point] for word in words]))
                for name in _CONDITIONS
            },
        }
    return found


def _of_word(model: Model, streams: Sequence[Scores], hours: float, people: Mapping[str, Scores]) -> dict[str, Any]:
    scores = ScoreSet(positives=people["clean"], negatives=np.zeros(0), streams=streams, hours=hours)
    thresholds = {"default": model.card.point().threshold}
    thresholds |= {name: choose_fa_per_hour(scores, rate).threshold for name, rate in RATES.items()}
    events = {name: events_at(streams, threshold) for name, threshold in thresholds.items()}
    return {"scores": people, "thresholds": thresholds, "events": events}


def countries_page(record: Mapping[str, Any], figures: str) -> str:
    """The page in Markdown; ``figures`` is a link to the record."""
    languages = record["words"]
    hours = min(one["text"]["hours"] for one in languages)
    columns = " | ".join(f"{name}, % | false accepts" for name in _POINTS.values())
    rows = [
        f"| | speakers | words | {columns} |",
        f"| --- | ---: | ---: |{' ---: |' * 2 * len(_POINTS)}",
        *(_row(one["keyword"], one["text"]) for one in languages),
        _mean([one["text"] for one in languages]),
    ]
    head = (
        "# Words of many languages from their text",
        "",
        "Names of countries, as the speakers of GCompris say them, mostly one a language and once a word; they "
        "taught none of our networks. Their spelling is that of Unicode's CLDR, Portuguese as in Brazil though the "
        "speakers may be from Portugal, and Arabic with vowels by libtashkeel. The speech is mostly English and French, "
        "with some minutes of Common Voice in 13 languages and of calls in eleven, in which names may be said.",
        "",
        "What models made by `wakeword train WORD --language CODE --now` find as recorded / "
        "in noise at 10 dB / in measured rooms, in brackets the exact 95 % interval of the first by recording, and how "
        f"often all words of a language together fire in {hours:.1f} h of speech. The words of a language were drawn, "
        "seed 0.",
        "",
    )
    return page_of_record(record, head, rows, figures)


def _row(name: str, own: Mapping[str, Any]) -> str:
    cells = []
    for point in _POINTS:
        low, high = interval_of(own[point]["clean"])
        rates = " / ".join(f"{100 * own[point][condition]['rate']:.0f}" for condition in _CONDITIONS)
        cells.append(f"{rates} ({100 * low:.0f} to {100 * high:.0f}) | {own[point]['events']}")
    return f"| {name} | {own['speakers']} | {len(own['of_words'])} | {' | '.join(cells)} |"


def _mean(languages: Sequence[Mapping[str, Any]]) -> str:
    cells = []
    for point in _POINTS:
        rates = [np.mean([own[point][condition]["rate"] for own in languages]) for condition in _CONDITIONS]
        events = sum(own[point]["events"] for own in languages)
        cells.append(f"{' / '.join(f'{100 * rate:.0f}' for rate in rates)} | {events}")
    words = sum(len(own["of_words"]) for own in languages)
    return f"| **mean** | | {words} | {' | '.join(cells)} |"
