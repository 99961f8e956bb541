"""What is heard in a simulated house: the talk of its room, and people who say the word in it."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.signal import fftconvolve

from wakeword import Detector, Model
from wakeword.audio.detection import KEPT_AFTER, Detection, WakeOutcome
from wakeword.audio.pcm import SAMPLE_RATE, AudioFile, read_audio
from wakeword.base.types import Array
from wakeword.model.candidate_looks import Looks, looks_of
from wakeword_train.house.own_evidence import kept_looks

_TALK, _OTHER = ("varied_speech", "long_speech"), ("languages", "more/common_voice")
_MUSIC = ("music", "more/music")
ROOMS = {
    "talk": _TALK,
    "other languages": _OTHER,
    "music": _MUSIC,
    "all of these": (*_TALK, *_OTHER, *_MUSIC),
}
"""Rooms: the folders of what is heard there."""
WAYS = ("far", "after talk", "in talk")
"""How people say the word."""
_LEAST_SECONDS = 60
_LOWEST = 0.01
"""Events are kept from this share of the default threshold on: a house may be as sensitive as that."""


class _Kept:
    """Keeps the wakes, each with the audio around it, and no near misses."""

    def __init__(self) -> None:
        self.events: list[Detection] = []

    def keep(self, detection: Detection, *, near_miss: bool = False) -> Callable[[WakeOutcome], None]:
        if not near_miss:
            self.events.append(detection)
        return lambda outcome: None


@dataclass(frozen=True)
class RoomTalk:
    """Events of one model in one recording of talk without the word."""

    name: str
    """The folder and the file, or the first of them."""
    hours: float
    starts: list[float]
    """Seconds."""
    events: list[Looks]


def talk_of(model: Model, audio: Path, work: Path) -> Iterator[RoomTalk]:
    """Every event in the recordings without the word; heard once, then from ``work``."""
    threshold = max(0.0011, _LOWEST * model.card.point().threshold)
    for name, files, leave_out in _recordings(audio, model.card.phrase):

        def heard(files: Sequence[Path] = files) -> tuple[list[Looks], list[float]]:
            sound = np.concatenate([np.concatenate([read_audio(one), _PAUSE]) for one in files])
            kept = _Kept()
            detector = Detector(model, threshold=threshold, keep=kept)
            for first in range(0, len(sound), SAMPLE_RATE):
                detector.push(sound[first : first + SAMPLE_RATE])
            detector.flush()
            starts = [one.start for one in kept.events]
            return [looks_of(model, one.audio) for one in kept.events], [*starts, len(sound) / SAMPLE_RATE]

        events, numbers = kept_looks(_kept(work, model, "joined", name), heard)
        *starts, seconds = numbers
        here = [row for row, at in enumerate(starts) if not any(low - 3 < at < high + 1 for low, high in leave_out)]
        yield RoomTalk(name, seconds / 3600, [starts[row] for row in here], [events[row] for row in here])


_PAUSE = np.zeros(SAMPLE_RATE // 2, np.float32)


def _recordings(audio: Path, word: str) -> Iterator[tuple[str, list[Path], list[tuple[float, float]]]]:
    """Long files, and short files of one folder together; with the times at which a transcript has the word."""
    for folder in (*_TALK, *_OTHER, *_MUSIC):
        short: dict[Path, list[Path]] = {}
        for path in sorted(one for one in (audio / folder).rglob("*") if one.suffix in (".opus", ".flac")):
            with AudioFile(path) as file:
                seconds = file.seconds
            if folder == "languages" and path.suffix == ".flac":
                continue  # words alone
            if folder in _TALK or seconds >= _LEAST_SECONDS:
                yield f"{folder}/{path.name}", [path], _said_in(path, word)
            else:
                short.setdefault(path.parent, []).append(path)
        for place, paths in short.items():
            yield f"{folder}/{place.name}", paths, []


def _said_in(path: Path, word: str) -> list[tuple[float, float]]:
    texts = path.parent / "transcripts.jsonl"
    lines = [json.loads(one) for one in texts.read_text().splitlines()] if texts.is_file() else []
    return [
        (one["start"], one["end"])
        for one in lines
        if one["file"] == path.name and word in one["text"].casefold().split()
    ]


def people_of(model: Model, audio: Path, word: str, work: Path) -> dict[str, list[Looks]]:
    """Every recording of the word, said in each of ``WAYS``, in the sequence of their names."""
    files = sorted((audio / "wake_words" / word).glob("*.flac"))
    rooms = [read_audio(path) for path in sorted((audio / "rooms").glob("*.flac"))]
    talk = [
        piece
        for path in sorted((audio / "long_speech").glob("*.opus"))
        for piece in np.array_split(read_audio(path)[100 * SAMPLE_RATE : 300 * SAMPLE_RATE], 80)
    ]
    found = {}
    for way in WAYS:

        def heard(way: str = way) -> tuple[list[Looks], list[float]]:
            random = np.random.default_rng(0)
            said = [_said(read_audio(path), way, rooms, talk, random) for path in files]
            return [looks_of(model, one) for one in said], [0.0] * len(said)

        found[way], _ = kept_looks(_kept(work, model, word, way), heard)
    return found


def _said(word: Array, way: str, rooms: Sequence[Array], talk: Sequence[Array], random: np.random.Generator) -> Array:
    """A recording of the word in a room, after talk or amid it, ``(n,)``."""
    sound = np.concatenate([np.zeros(3 * SAMPLE_RATE // 2), word, np.zeros(KEPT_AFTER)]).astype(np.float32)
    level = float(np.sqrt(np.mean(word**2))) + 1e-6
    other = np.resize(talk[int(random.integers(len(talk)))], len(sound))
    other = other * level / (float(np.sqrt(np.mean(other**2))) + 1e-6)
    if way == "far":
        far = fftconvolve(sound, rooms[int(random.integers(len(rooms)))])[: len(sound)]
        loudest = float(np.abs(word).max()) / (float(np.abs(far).max()) + 1e-6)
        sound = (far * loudest * 10 ** (-random.uniform(0, 18) / 20)).astype(np.float32)
    elif way == "after talk":
        until = 3 * SAMPLE_RATE // 2 - int(random.uniform(0.03, 0.4) * SAMPLE_RATE)
        sound[:until] += other[:until] * 10 ** (random.uniform(-9, 3) / 20)
        begin = 3 * SAMPLE_RATE // 2 + len(word) + int(random.uniform(0, 0.3) * SAMPLE_RATE)
        sound[begin:] += other[begin:] * 10 ** (random.uniform(-9, 3) / 20)  # what is asked for
    else:
        sound += other * 10 ** (-random.uniform(5, 20) / 20)
    clipped: Array = (sound / max(1.0, float(np.abs(sound).max()))).astype(np.float32)
    return clipped


def _kept(work: Path, model: Model, *parts: str) -> Path:
    key = [2, model.card.phrase, model.card.self_test.logit, *parts]
    return work / f"heard-{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.npz"
