"""What is heard in a simulated house: the talk of its room, and people who say the word in it."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.signal import fftconvolve

from wakeword import Detector, FileSource, Model
from wakeword.audio.detection import KEPT_AFTER, Detection, WakeOutcome
from wakeword.audio.pcm import SAMPLE_RATE, AudioFile, read_audio
from wakeword.base.types import Array
from wakeword.model.candidate_looks import Looks, looks_of
from wakeword_train.house.own_evidence import kept_looks

ROOMS = {"talk of one collection": ("speechocean762",), "talk of all collections": ("",)}
"""Rooms: what the names of the recordings in ``varied_speech``, ``long_speech`` and ``languages`` begin with."""
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
    hours: float
    starts: list[float]
    """Seconds."""
    events: list[Looks]


def talk_of(model: Model, audio: Path, work: Path) -> Iterator[RoomTalk]:
    """Every event in the long recordings of talk; heard once, then from ``work``."""
    threshold = max(0.0011, _LOWEST * model.card.point().threshold)
    for folder in ("varied_speech", "long_speech", "languages"):
        for path in sorted(one for one in (audio / folder).rglob("*") if one.suffix in (".opus", ".flac")):
            with AudioFile(path) as file:
                seconds = file.seconds
            if seconds < _LEAST_SECONDS:
                continue

            def heard(path: Path = path) -> tuple[list[Looks], list[float]]:
                kept = _Kept()
                with FileSource(path) as source:
                    for _ in Detector(model, threshold=threshold, keep=kept).run(source):
                        pass
                return [looks_of(model, one.audio) for one in kept.events], [one.start for one in kept.events]

            events, starts = kept_looks(_kept(work, model, str(path.relative_to(audio))), heard)
            yield RoomTalk(path.name, seconds / 3600, starts, events)


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
