"""Known voices and words made from their text.

    python -m wakeword_experiments.known_voice.false_wakes AUDIO NETWORK OUT

False wakes in strangers' speech for people who were enrolled, and what these miss of their own words. ``AUDIO`` and
``NETWORK`` are the same as for ``one_home``. Every window is judged as a detector does it: at each score that could fire
for a known voice, by the 1.2 s before the end of the window.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import soundfile
from numpy.typing import NDArray
from scipy.stats import chi2

from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.files import write_json
from wakeword.base.types import Array
from wakeword.model.model import Model, read_model
from wakeword.verify.known_voices import LOOK_AT_VOICE, LOWERED, direction_of
from wakeword_experiments.known_voice.one_home import RULES, events, logit, unheard_people
from wakeword_experiments.known_voice.said_words import (
    KNOWN_FROM,
    ROOMS,
    SETS,
    TAKES,
    UNKNOWN_BELOW,
    SaidWord,
    VoiceTrial,
    clips_of,
    in_room,
    share,
    voice_of,
)
from wakeword_tools.measure.scores import RecordingScorer
from wakeword_tools.training_record import file_stem
from wakeword_train.from_text import model_from_text

WORDS = ("operator", "think engine", "onword", "marvin", "sheila", "computer", "jarvis", "alexa")
SAID = {
    "operator": "telephone",
    "think engine": "telephone",
    "onword": "telephone",
    "marvin": "English, one sitting",
    "sheila": "English, one sitting",
}
"""Words with recordings that name their speakers: of "computer", "jarvis" and "alexa" no speaker is known."""
UNHEARD = (
    *(f"long_speech/{name}.opus" for name in ("3526-176653", "6848-252323", "7859-102519")),
    *(f"varied_speech/librispeech-resemblyzer-{number}.opus" for number in (1, 2, 3)),
)
"""Speech that no network of words from a text has heard."""
POINTS = {"strictest": 0.0, "laxer": -1.5}
"""Added to the logit of the threshold of the first point of a model, its strictest, which of most words is the default."""
_STREAM_FLOOR = 0.0005
_STEP = 16 * 160


class WordWindows(NamedTuple):
    """WordWindows of one word that could fire for a known voice."""

    places: list[tuple[str, float]]
    logits: Array
    directions: Array
    """Of the voice before the end of each, ``(n, 192)``."""


class Enrolled(NamedTuple):
    """A voice."""

    direction: Array
    alike: float

    def near(self, directions: Array) -> Array:
        """How near voices are to it."""
        return np.asarray(directions @ self.direction - self.alike, np.float32)


def fires(windows: WordWindows, near: Array, rule: str, threshold: float) -> NDArray[np.bool_]:
    """Which windows do by a rule of ``one_home``; ``threshold`` as a logit."""
    known, between, unknown = RULES[rule]
    moved = np.where(near >= KNOWN_FROM, -known, np.where(near < UNKNOWN_BELOW, unknown, between))
    return np.asarray(windows.logits >= threshold + moved, np.bool_)


def lowest(model: Model) -> float:
    """The logit below which nothing fires, whoever speaks."""
    return strictest(model) + min(POINTS.values()) - LOWERED


def strictest(model: Model) -> float:
    """The logit of the threshold of the first point."""
    return logit(model.card.operating_points[0].threshold)


def television(audio: Path, work: Path, models: Mapping[str, Model]) -> dict[str, Any]:
    """Places and scores of all windows of strangers' speech that could fire, but for the word itself; once, in ``work``."""
    if not work.is_file():
        folders = [audio / "varied_speech", audio / "long_speech"]
        said = [json.loads(line) for one in folders for line in (one / "transcripts.jsonl").read_text().splitlines()]
        told: dict[str, Any] = {"hours": {}, "words": {word: [] for word in models}}
        scorer = RecordingScorer(list(models.values()))
        for name in UNHEARD:
            path = audio / name
            samples = read_audio(path)
            told["hours"][name] = len(samples) / SAMPLE_RATE / 3600
            rows = [(row, row.get("text", "").lower()) for row in said if row["file"] == path.name]
            for (word, model), scores in zip(models.items(), scorer.score([samples]), strict=True):
                spoken = [(row["start"] - 0.2, row["end"] + 1.2) for row, text in rows if word in text]
                window = model.card.features.samples_in(model.card.window)
                for place in np.flatnonzero(scores > 1 / (1 + np.exp(-lowest(model)))):
                    end = (window + int(place) * _STEP) / SAMPLE_RATE
                    if not any(low < end < high for low, high in spoken):
                        told["words"][word].append((name, end, float(scores[place])))
        write_json(work, told)
    found: dict[str, Any] = json.loads(work.read_text())
    return found


def heard_in(
    audio: Path, rows: Sequence[tuple[str, float, float]], network: Path, hear: Callable[[Array], Array]
) -> WordWindows:
    """The windows of ``television``, as they sound where they are heard."""
    directions = []
    for name, end, _ in rows:
        last = round(end * SAMPLE_RATE)
        first = max(0, last - LOOK_AT_VOICE - SAMPLE_RATE)
        samples, _ = soundfile.read(audio / name, start=first, stop=last, dtype="float32")
        directions.append(direction_of(network, hear(samples)[-LOOK_AT_VOICE:]))
    return WordWindows(
        [(name, end) for name, end, _ in rows],
        np.array([logit(score) for *_, score in rows], np.float32),
        np.array(directions, np.float32).reshape(-1, 192),
    )


def said_in(model: Model, samples: Array, network: Path) -> WordWindows:
    """The windows of a recording that could fire."""
    padded = np.pad(samples, SAMPLE_RATE)
    (scores,) = RecordingScorer([model]).score([padded])
    window = model.card.features.samples_in(model.card.window)
    places = np.flatnonzero(scores > 1 / (1 + np.exp(-lowest(model))))
    ends = [window + int(place) * _STEP for place in places]
    found = [direction_of(network, padded[max(0, end - LOOK_AT_VOICE) : end]) for end in ends]
    return WordWindows(
        [("", end / SAMPLE_RATE) for end in ends],
        np.array([logit(float(scores[place])) for place in places], np.float32),
        np.array(found, np.float32).reshape(-1, 192),
    )


def own_words(
    word: str, model: Model, clips: Sequence[SaidWord], network: Path, hear: Callable[[Array], Array]
) -> dict[str, Any]:
    """What people miss of their own words, who are enrolled with ten other takes, first with takes of the word."""
    sounds = [hear(read_audio(clip.path)) for clip in clips]
    takes = [direction_of(network, np.pad(sound, (3_000, 0))) for sound in sounds]
    random, missed = np.random.default_rng(0), defaultdict[str, dict[str, list[VoiceTrial]]](lambda: defaultdict(list))
    for number, clip in enumerate(clips):
        others = [one for one, other in enumerate(clips) if other.speaker == clip.speaker and one != number]
        random.shuffle(others)
        others = sorted(others, key=lambda one: clips[one].word != clip.word)[:TAKES]
        if file_stem(clip.word) != file_stem(word) or len(others) < 5:
            continue
        voice = Enrolled(*voice_of([takes[one] for one in others]))
        windows = said_in(model, sounds[number], network)
        near = voice.near(windows.directions)
        for point, shift in POINTS.items():
            for rule in RULES:
                found = fires(windows, near, rule, strictest(model) + shift).any()
                missed[point][rule].append(VoiceTrial(clip.speaker, rule, 0.0, float(found)))
    return {
        point: {rule: share(some, lambda one: one.logit == 0) for rule, some in rules.items()}
        for point, rules in missed.items()
    }


def rates(
    found: Mapping[str, WordWindows], models: Mapping[str, Model], voices: Sequence[Enrolled], hours: float
) -> dict[str, Any]:
    """False wakes of each word, mean over the voices, and an hour of all words with the interval of as many events."""
    told: dict[str, Any] = {}
    for point, shift in POINTS.items():
        told[point] = {}
        for rule in RULES:
            counts = {
                word: float(
                    np.mean(
                        [
                            events(
                                some.places,
                                fires(some, one.near(some.directions), rule, strictest(models[word]) + shift),
                            )
                            for one in voices
                        ]
                    )
                )
                for word, some in found.items()
            }
            total = sum(counts.values())
            low, high = chi2.ppf(0.025, 2 * total) / 2 if total else 0.0, chi2.ppf(0.975, 2 * total + 2) / 2
            told[point][rule] = {
                "events": counts,
                "per_hour": total / hours / len(found),
                "low": float(low) / hours / len(found),
                "high": float(high) / hours / len(found),
            }
    return told


def measure_false_wakes(audio: Path, network: Path, out: Path) -> None:
    """Measure and write the figures."""
    work = out.with_suffix("")
    work.mkdir(exist_ok=True)
    files = {word: work / f"{file_stem(word)}.onnx" for word in WORDS}
    models = {
        word: read_model(file if file.is_file() else model_from_text(word, file, anyway=True))
        for word, file in files.items()
    }
    tv = television(audio, work / "windows.json", models)
    record: dict[str, Any] = {
        "thresholds": {word: model.card.operating_points[0].threshold for word, model in models.items()}
    }
    floor = np.random.default_rng(3)
    people = unheard_people(audio)
    english = clips_of(audio, SETS["English, one sitting"])
    for room in ROOMS:
        response = read_audio(audio / "rooms" / f"{room}.flac")

        def hear(samples: Array, response: Array = response) -> Array:
            return (in_room(samples, response) + floor.normal(0, _STREAM_FLOOR, len(samples))).astype(np.float32)

        takes = defaultdict[str, list[Array]](list)
        for clip in english:
            if clip.speaker in people and len(takes[clip.speaker]) < TAKES:
                takes[clip.speaker].append(direction_of(network, np.pad(hear(read_audio(clip.path)), (3_000, 0))))
        voices = [Enrolled(*voice_of(some)) for some in takes.values() if len(some) >= 5]
        found = {word: heard_in(audio, rows, network, hear) for word, rows in tv["words"].items()}
        hours = sum(tv["hours"].values())
        record[room] = {"hours": hours, "people": len(voices), **rates(found, models, voices, hours)}
        write_json(out, record)
        for word, clips in SAID.items():
            if clips == "English, one sitting":
                speakers = {clip.speaker for clip in english if clip.word == word}
                some = [clip for clip in english if clip.speaker in speakers]
                record[room].setdefault("own_missed", {})[word] = own_words(word, models[word], some, network, hear)
                write_json(out, record)
    calls = clips_of(audio, SETS["telephone"])
    for word, set_of in SAID.items():
        if set_of == "telephone":
            record.setdefault("calls", {})[word] = own_words(
                word, models[word], calls, network, lambda samples: samples
            )
            write_json(out, record)


_NAMES = {"no voice": "no voice", "known voice": "`--voice`", "only": "`--only`"}


def false_wakes_page(record: Mapping[str, Any], *, figures: str) -> str:
    """The page in Markdown; ``figures`` is a link to the record."""
    rows = [f"| | {' | '.join(_NAMES.values())} |", "| --- | ---: | ---: | ---: |"]
    for point, shift in POINTS.items():
        at = point if shift == 0 else f"{point} ({shift} in the logit)"
        for room in ROOMS:
            some = record[room][point]
            cells = [
                f"{some[rule]['per_hour']:.2f} ({sum(some[rule]['events'].values()):.1f} events)" for rule in _NAMES
            ]
            rows.append(f"| {at}, {room}: fires in an hour, a word | {' | '.join(cells)} |")
        for place in ("calls", *ROOMS):
            for word, own in (record["calls"] if place == "calls" else record[place]["own_missed"]).items():
                some = own[point]
                cells = [
                    "{:.0f} ({:.0f} to {:.0f})".format(*(100 * some[rule][one] for one in ("share", "low", "high")))
                    for rule in _NAMES
                ]
                what = f'"{word}" missed, percent, {some["only"]["trials"]} of {some["only"]["people"]} people'
                rows.append(f"| {at}, {place}: {what} | {' | '.join(cells)} |")
    room = record[ROOMS[0]]
    head = (
        "# Known voices and words from their text",
        "",
        f"{len(record['thresholds'])} words made from their text, in {room['hours']:.2f} h of strangers' speech that no "
        f"network of theirs has heard, for {room['people']} people who were enrolled with up to {TAKES} takes in the same "
        'room: events a word, means over the people. The strictest point of a model is its default, but for "onword", '
        '"sheila" and "alexa". Own words are of people with five other takes or more: in calls as '
        "recorded, else in the room. Intervals are of 95 %, by people.",
        "",
    )
    made = "Made by `python -m wakeword_experiments.known_voice.false_wakes audio speakers.onnx known-voice-text.json`."
    return "\n".join([*head, *rows, "", f"{made} [Figures]({figures}).", ""])


def main(audio: Path, network: Path, out: Path) -> None:
    """Measure, and write the figures and their page."""
    measure_false_wakes(audio, network, out)
    page = false_wakes_page(json.loads(out.read_text()), figures=out.name)
    out.with_suffix(".md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
