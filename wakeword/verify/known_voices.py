"""Known voices: who says a word, as far as a second of sound tells, and what that does to the threshold.

A network of speakers makes a direction of 192 numbers of each second. A voice is the mean of the directions of its takes.
The angle to it is judged by how like one another the takes are, as a room and a microphone have a part in it.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np

from wakeword.audio.pcm import INT16_STEP, SAMPLE_RATE
from wakeword.base.errors import ConfigError, DataError, ModelError
from wakeword.base.files import DAMAGED, file_sha256, read_json, write_whole
from wakeword.base.types import Array
from wakeword.format.session import open_session, run_session
from wakeword.format.verifier_card import FLOOR

LOOK_AT_VOICE = SAMPLE_RATE * 12 // 10
"""Samples that a look at a voice takes: a word, and some of its room."""
LOWERED, RAISED = 3.0, 2.0
"""What a known voice takes from the logit of a threshold, and an unknown one adds to it."""
_MIN_ENROLLED = 5
"""Takes of a voice; ten are better."""
_KNOWN, _UNKNOWN = 0.10, 0.20
"""How much less like the takes than these are like one another a known voice is at most, and an unknown one at least."""
_FRAME, _HOP, _FFT, _MELS = 400, 160, 512, 80
_MIN_SAMPLES = SAMPLE_RATE // 2
_NUMBERS = 192
_MAX_BYTES = 100_000


@dataclass(frozen=True)
class KnownVoice:
    """A voice that was enrolled."""

    name: str
    direction: tuple[float, ...]
    alike: float
    """The mean cosine of each take and the mean of the others."""
    takes: int
    network: str
    """SHA-256 of the network that heard the takes."""


@dataclass(frozen=True)
class Voices:
    """The voices that a detector knows, and the file of the network that tells them apart. For processes and threads.

    Raises ``ConfigError`` for a voice that another network heard.
    """

    known: tuple[KnownVoice, ...]
    network: Path
    only: bool = False
    """Whether nothing fires for another voice."""

    def __post_init__(self) -> None:
        # A direction says nothing to another network.
        digest = file_sha256(self.network)
        for voice in self.known:
            if voice.network != digest:
                raise ConfigError(
                    f"expected a voice of {self.network}, got {voice.name!r} of another; delete that file if it "
                    "is damaged, and the voice, and enrol it again"
                )

    def lowest(self, threshold: float) -> float:
        """The threshold for a known voice: nothing fires below it."""
        return min(threshold, max(FLOOR, _moved(threshold, -LOWERED)))

    def judge(self, threshold: float, samples: Array) -> tuple[str | None, float]:
        """Who speaks before the end of a window, ``None`` for an unknown voice, and the threshold for this voice."""
        heard = direction_of(self.network, samples)
        near = [float(heard @ voice.direction) - voice.alike for voice in self.known]
        best = int(np.argmax(near))
        # Not "near < ...": a NaN is no known voice.
        if near[best] >= -_KNOWN:
            return self.known[best].name, self.lowest(threshold)
        if self.only:
            return None, math.inf
        return None, threshold if near[best] >= -_UNKNOWN else _moved(threshold, RAISED)


def _moved(threshold: float, shift: float) -> float:
    return threshold / (threshold + (1 - threshold) * math.exp(-shift))


def direction_of(network: Path, samples: Array) -> Array:
    """The direction of a voice, ``(192,)`` of length 1, in ``(n,)`` float32 at 16 kHz; zeros for too little sound."""
    samples = np.trim_zeros(samples, "f")  # before a stream there is silence
    if len(samples) < _MIN_SAMPLES:
        return np.zeros(_NUMBERS, np.float32)
    try:
        (found,) = run_session(_session(network), [], {"features": _features(samples)[None]})
        direction = np.asarray(found, np.float32).reshape(_NUMBERS)
    except (ModelError, ValueError) as error:
        raise ModelError(f"{network}: expected the network of speakers; delete it and enrol again ({error})") from error
    return np.asarray(direction / np.linalg.norm(direction), np.float32)


def enrolled(name: str, takes: Sequence[Array], network: Path) -> KnownVoice:
    """The voice of sounds that each end with the word. ``ConfigError`` for fewer than ``_MIN_ENROLLED`` usable takes."""
    directions = [voice for voice in (direction_of(network, take[-LOOK_AT_VOICE:]) for take in takes) if voice.any()]
    if len(directions) < _MIN_ENROLLED:
        raise ConfigError(
            f"expected at least {_MIN_ENROLLED} takes of half a second or more, got {len(directions)}; record more of them"
        )
    total = np.sum(directions, axis=0)
    alike = np.mean([own @ (total - own) / np.linalg.norm(total - own) for own in directions])
    direction = (total / np.linalg.norm(total)).tolist()
    return KnownVoice(name, tuple(direction), float(alike), len(directions), file_sha256(network))


def write_voice(path: Path, voice: KnownVoice) -> None:
    """Write it whole, for its owner alone. Raises ``ConfigError`` where there is a voice."""
    if path.exists():
        raise ConfigError(f"expected a new name, got {voice.name!r}, which is known; delete that voice first")
    write_whole(path, json.dumps(asdict(voice)).encode(), private=True)


def read_voice(path: Path) -> KnownVoice:
    """The voice of a file. Raises ``DataError`` for any other one."""
    try:
        content = read_json(path, _MAX_BYTES)
        voice = KnownVoice(**{**content, "direction": tuple(map(float, content["direction"]))})
        length = math.hypot(*voice.direction) if len(voice.direction) == _NUMBERS else 0.0
        numbers = abs(length - 1) < 1e-3 and isinstance(voice.takes, int) and -1 <= voice.alike <= 1
        if not (numbers and isinstance(voice.name, str) and isinstance(voice.network, str)):
            raise ValueError
    except (OSError, *DAMAGED) as error:
        raise DataError(f"{path}: expected a voice that `wakeword voice enrol` wrote; delete and enrol it") from error
    return voice


_session = cache(open_session)


@cache
def _filters() -> tuple[Array, Array]:
    """The window of a frame, ``(400,)``, and the mel filters, ``(257, 80)``, as Kaldi has them."""
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_FRAME) / (_FRAME - 1))) ** 0.85
    mel = 1_127 * np.log1p(np.arange(_FFT // 2 + 1) * SAMPLE_RATE / _FFT / 700)
    edges = np.linspace(1_127 * np.log1p(20 / 700), 1_127 * np.log1p(SAMPLE_RATE / 2 / 700), _MELS + 2)
    rising = (mel[:, None] - edges[:-2]) / np.diff(edges)[:-1]
    falling = (edges[2:] - mel[:, None]) / np.diff(edges)[1:]
    return window.astype(np.float32), np.minimum(rising, falling).clip(0).astype(np.float32)


def _features(samples: Array) -> Array:
    """80 log mels of each 10 ms less their mean, ``(frames, 80)``, which do not change with the level."""
    window, filters = _filters()
    frames = np.lib.stride_tricks.sliding_window_view(samples.astype(np.float64) / INT16_STEP, _FRAME)[::_HOP]
    frames = frames - frames.mean(axis=1, keepdims=True)
    frames = frames - 0.97 * np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
    power = np.abs(np.fft.rfft(frames * window, _FFT)) ** 2
    logs = np.log((power @ filters).clip(np.finfo(np.float32).eps))
    features: Array = (logs - logs.mean(axis=0)).astype(np.float32)
    return features
