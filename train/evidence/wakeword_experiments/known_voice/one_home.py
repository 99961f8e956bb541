"""A known voice in a home: ``python -m wakeword_experiments.known_voice.one_home AUDIO NETWORK OUT``.

``AUDIO`` has the folders that ``train/evidence/README.md`` names, ``NETWORK`` is what `wakeword voice enrol` makes. "stop"
is said in one room with everybody and the television in it; then come the takes of ``said_words``.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import soundfile
from numpy.typing import NDArray

from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.files import write_json
from wakeword.base.types import Array
from wakeword.model.model import load_model
from wakeword.verify.known_voices import LOOK_AT_VOICE, LOWERED, RAISED, direction_of
from wakeword_experiments.accuracy.held_out import data_folders, dealing
from wakeword_experiments.known_voice.said_words import (
    KNOWN_FROM,
    ROOMS,
    SETS,
    TAKES,
    UNKNOWN_BELOW,
    Places,
    VoiceTrial,
    clips_of,
    in_room,
    share,
    study_words,
    voice_of,
    words_report,
)
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.measure.scores import RecordingScorer
from wakeword_train.training import gather_clips

WORD = "stop"
POINTS = ("fa_per_hour=0.5", "fpr=0.03")
"""The default, at which the television fires once, and a laxer one."""
_STREAM_FLOOR = 0.0005


class Television(NamedTuple):
    """Windows of speech that nearly fire or do."""

    places: list[tuple[str, float]]
    """Recording, and the end in seconds."""
    logits: Array
    hours: float

    def sounds(self, audio: Path) -> Iterator[Array]:
        """What is heard up to the end of each, with a second before it."""
        for name, end in self.places:
            samples, _ = soundfile.read(
                audio / name,
                start=max(0, round(end * SAMPLE_RATE) - LOOK_AT_VOICE - SAMPLE_RATE),
                stop=round(end * SAMPLE_RATE),
                dtype="float32",
            )
            yield samples


def logit(score: float) -> float:
    """The logit of a score."""
    score = min(max(score, 1e-6), 1 - 1e-6)
    return float(np.log(score / (1 - score)))


def television(audio: Path, work: Path, scorer: RecordingScorer, window: int, step: int) -> Television:
    """All windows of the speech of strangers that reach a score of 0.003, without the word; once, into ``work``."""
    if not work.is_file():
        write_json(work, scanned(audio, scorer, window, step))
    stored = json.loads(work.read_text())
    logits = np.array([logit(score) for score in stored["scores"]], np.float32)
    return Television([(name, end) for name, end in stored["places"]], logits, stored["hours"])


def scanned(audio: Path, scorer: RecordingScorer, window: int, step: int) -> dict[str, Any]:
    """The places, scores and hours of ``television``."""
    says = defaultdict(list)
    folders = [audio / "varied_speech", audio / "long_speech"]
    for folder in folders:
        for line in (folder / "transcripts.jsonl").read_text().splitlines():
            row = json.loads(line)
            if WORD in row.get("text", "").lower().replace(".", " ").replace(",", " ").split():
                says[row["file"]].append((row["start"] - 0.2, row["end"] + 1.2))
    found: dict[str, Any] = {"places": [], "scores": [], "hours": 0.0}
    for path in sorted(path for folder in folders for path in folder.glob("*.opus")):
        samples = read_audio(path)
        found["hours"] += len(samples) / SAMPLE_RATE / 3600
        for start in range(0, len(samples), 300 * SAMPLE_RATE):
            first = max(0, start - 2 * SAMPLE_RATE)
            (scores,) = scorer.score([samples[first : start + 300 * SAMPLE_RATE]])
            for place in np.flatnonzero(scores >= 0.003):
                end = first + window + int(place) * step
                at = end / SAMPLE_RATE
                if (end > start or start == 0) and not any(low < at < high for low, high in says[path.name]):
                    found["places"].append((str(path.relative_to(audio)), at))
                    found["scores"].append(float(scores[place]))
    return found


def events(places: Sequence[tuple[str, float]], fires: NDArray[np.bool_]) -> int:
    """Detections, at most one a second."""
    count, last = 0, ("", 0.0)
    for number in np.flatnonzero(fires).tolist():
        name, at = places[number]
        if name != last[0] or at - last[1] > 1:
            count, last = count + 1, (name, at)
    return count


@dataclass(frozen=True)
class Listening:
    """A detector of the word in a room with a little noise, and the network of speakers."""

    heard: Places
    network: Path
    scorer: RecordingScorer
    window: int
    step: int
    floor: np.random.Generator

    def stream(self, samples: Array) -> Array:
        """With the noise of the microphone."""
        return (samples + self.floor.normal(0, _STREAM_FLOOR, len(samples))).astype(np.float32)

    def at_best(self, samples: Array) -> tuple[float, Array]:
        """The best score of a clip, as a logit, and the direction of the voice then."""
        padded = self.stream(np.pad(samples, SAMPLE_RATE))
        (scores,) = self.scorer.score([padded])
        end = self.window + int(np.argmax(scores)) * self.step
        return logit(float(scores.max())), direction_of(self.network, padded[max(0, end - LOOK_AT_VOICE) : end])


def unheard_people(audio: Path) -> set[str]:
    """Those who say the word in the test of the model: it was not trained on them, and nothing was chosen on them."""
    dealt = gather_clips(dealing({WORD: load_model(WORD).card}), data_folders(audio, WORD))
    test = [clip for clip in dealt if clip.split is Split.TEST and clip.kind is Kind.POSITIVE]
    return {clip.path.stem.split("_nohash_")[0] for clip in test if "_nohash_" in clip.path.stem}


def study_home(audio: Path, network: Path, room: str, tv: Television, listening: Listening) -> dict[str, Any]:
    """Own words, strangers' words and the television in one room: thresholds with and without voices."""
    response, heard, listened = read_audio(audio / "rooms" / f"{room}.flac"), listening.heard, listening.at_best
    people = unheard_people(audio)
    clips = [clip for clip in clips_of(audio, SETS["English, one sitting"]) if clip.speaker in people]

    said: dict[tuple[int, str], tuple[float, Array]] = {}
    enrolment: dict[int, Array] = {}
    for number, clip in enumerate(clips):
        samples = in_room(read_audio(clip.path), response)
        if clip.word == WORD:
            random = np.random.default_rng(number)
            said[number, "near"] = listened(samples)
            said[number, "noise at 10 dB"] = listened(heard.noisy(samples, random))
            said[number, "20 dB lower"] = listened(samples * 0.1)
            enrolment[number] = said[number, "near"][1]
        else:
            enrolment[number] = direction_of(network, listening.stream(np.pad(samples, (3_000, 0))))
    shown = [listening.stream(in_room(one, response)[-LOOK_AT_VOICE:]) for one in tv.sounds(audio)]
    spoken = [direction_of(network, one) for one in shown]
    voices: dict[str, tuple[Array, float]] = {}
    random, own, strangers = np.random.default_rng(0), [], []
    for number in {number for number, _ in said}:
        person = clips[number].speaker
        others = [one for one in enrolment if clips[one].speaker == person and one != number]
        random.shuffle(others)
        others = sorted(others, key=lambda one: clips[one].word != WORD)[:TAKES]
        if len(others) < 5:
            continue
        direction, alike = voice_of([enrolment[one] for one in others])
        voices.setdefault(person, (direction, alike))
        for (one, condition), (score, vector) in said.items():
            if one == number:
                own.append(VoiceTrial(person, condition, float(vector @ direction) - alike, score))
    for person, (direction, alike) in voices.items():
        for (one, condition), (score, vector) in said.items():
            if clips[one].speaker != person:
                strangers.append(VoiceTrial(person, condition, float(vector @ direction) - alike, score))
    nears = {
        person: np.array([one @ direction for one in spoken], np.float32) - np.float32(alike)
        for person, (direction, alike) in voices.items()
    }
    card = load_model(WORD).card
    points = {point.name: point.threshold for point in card.operating_points if point.name in POINTS}
    return {
        "room": room,
        "points": {name: home_report(own, strangers, tv, nears, logit(value)) for name, value in points.items()},
    }


RULES = {"no voice": (0.0, 0.0, 0.0), "known voice": (LOWERED, 0.0, RAISED), "only": (LOWERED, np.inf, np.inf)}
"""What a known voice takes from the threshold, and what one between known and unknown, and an unknown one, add."""


def home_report(
    own: Sequence[VoiceTrial], strangers: Sequence[VoiceTrial], tv: Television, nears: dict[str, Array], point: float
) -> dict[str, Any]:
    """Misses and false accepts by each rule, at a threshold that is ``point`` as a logit."""

    def threshold(near: Array | float, rule: str) -> Array:
        known, between, unknown = RULES[rule]
        return np.where(near >= KNOWN_FROM, point - known, point + np.where(near < UNKNOWN_BELOW, unknown, between))

    found: dict[str, Any] = {"people": len(nears), "hours": tv.hours}
    for rule in RULES:
        counts = [events(tv.places, tv.logits >= threshold(near, rule)) for near in nears.values()]
        found[rule] = {"false_accepts_per_hour": float(np.mean(counts)) / tv.hours}
        for who, trials in (("own_missed", own), ("strangers_missed", strangers)):
            found[rule][who] = {
                condition: share(
                    [one for one in trials if one.condition == condition],
                    partial(lambda one, rule: bool(one.logit < threshold(one.near, rule)), rule=rule),
                )
                for condition in ("near", "noise at 10 dB", "20 dB lower")
            }
    found["own_talk_per_hour"] = events(tv.places, tv.logits >= point - LOWERED) / tv.hours
    return found


def measure_known_voices(audio: Path, network: Path, out: Path) -> None:
    """Measure and write the figures; what ``out`` has already is not measured again."""
    heard = Places.of(audio)
    model = load_model(WORD)
    scorer, step = RecordingScorer([model]), 16 * model.card.features.hop_length
    window = model.card.features.samples_in(model.card.window)
    record: dict[str, Any] = json.loads(out.read_text()) if out.is_file() else {"words": {}, "home": []}
    tv = television(audio, out.with_suffix(".windows.json"), scorer, window, step)
    for room in ROOMS[len(record["home"]) :]:
        listening = Listening(heard, network, scorer, window, step, np.random.default_rng(3))
        record["home"].append(study_home(audio, network, room, tv, listening))
        write_json(out, record)
    for name, pattern in list(SETS.items())[len(record["words"]) :]:
        record["words"][name] = list(words_report(*study_words(clips_of(audio, pattern), heard, network)))
        write_json(out, record)


if __name__ == "__main__":
    measure_known_voices(*map(Path, sys.argv[1:4]))
