"""A day of audio through one detector, as fast as possible: memory use and scores."""

import itertools
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.memory import resident_memory
from wakeword import Detector, load_model
from wakeword.audio.audio_file import read_audio
from wakeword.audio.audio_listing import audio_files
from wakeword.audio.features import FeatureConfig
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import ConfigError
from wakeword.base.events import Line
from wakeword.format.card import DEFAULT_HOP
from wakeword.model.installed import assets_folder

Pcm = NDArray[np.int16]

MAX_GROWTH_MB = 1.0
SCORE_TOLERANCE = 1e-6
_HOP = DEFAULT_HOP * FeatureConfig().hop_length
"""Samples between the starts of two windows."""
_HOUR = 3_600 * SAMPLE_RATE
_SPEECH_SECONDS, _QUIET_SECONDS = 1_200, 120
_LAST_SECONDS = 60
_BLOCKS = (160, 320, 1_280, 333, 4_096, 17, 480)


@dataclass(frozen=True)
class PushSoak:
    """The results of a soak."""

    audio: str
    hours: float
    cpu_seconds: float
    detections: int
    memory_mb: list[float | None]
    """Resident memory before the first hour of audio, after each hour, and at the end."""
    growth_mb: float | None
    """Highest memory after the first hour minus that at the end of the first hour."""
    compared_scores: int
    score_difference: float
    """Largest difference to the scores of a new detector in the last minute, window by window."""
    same_detections: bool
    """Whether the new detector fired at the same times in the last minute."""

    @property
    def faults(self) -> list[str]:
        """The laws that were broken, a line each."""
        found = []
        if self.growth_mb is not None and self.growth_mb >= MAX_GROWTH_MB:
            found.append(f"memory grew by {self.growth_mb:.2f} MB after the first hour")
        if not self.score_difference <= SCORE_TOLERANCE:
            found.append(f"scores differ from a new detector's by {self.score_difference:g}")
        if not self.same_detections:
            found.append("detections differ from a new detector's")
        return found


def listening_cycle(data: Path | None, *, speech_seconds: float = _SPEECH_SECONDS) -> tuple[Pcm, str]:
    """Audio to repeat: speech, then quiet-room noise, then silence. 16 kHz int16, and its description.

    Speech comes from ``long_speech/`` in the folder ``data``; without it the demo recording is repeated.
    """
    wanted = round(speech_seconds * SAMPLE_RATE)
    folder = data / "long_speech" if data is not None else None
    if folder is not None and folder.is_dir():
        pieces, described = [], "read speech"
        for path in audio_files(folder):
            pieces.append(_to_pcm(read_audio(path)))
            if sum(map(len, pieces)) >= wanted:
                break
        speech = np.concatenate(pieces)[:wanted]
    else:
        described = "the demo recording"
        speech = np.resize(demo(), wanted)
    quiet = round(speech_seconds / _SPEECH_SECONDS * _QUIET_SECONDS * SAMPLE_RATE)
    room = np.asarray((16 * np.random.default_rng(0).standard_normal(quiet)).round(), np.int16)
    cycle = np.concatenate([speech, room, np.zeros(quiet, np.int16)])
    return cycle, (
        f"{len(speech) / SAMPLE_RATE / 60:.3g} min of {described}, {quiet / SAMPLE_RATE / 60:.2g} min of quiet-room noise "
        f"(-66 dBFS) and as much digital silence, over and over"
    )


def demo() -> Pcm:
    """The demo recording with noise at -46 dBFS, which keeps the gate open in its pauses."""
    speech = read_audio(assets_folder() / "audio" / "demo.flac")
    hiss = 10 ** (-46 / 20) * np.random.default_rng(1).standard_normal(len(speech))
    return _to_pcm(speech + hiss)


def _to_pcm(audio: NDArray[np.floating]) -> Pcm:
    return np.asarray((audio * 2**15).round().clip(-(2**15), 2**15 - 1), np.int16)


def soak(model: str, cycle: tuple[Pcm, str], hours: float, *, report: Line = lambda line: None) -> PushSoak:
    """Push ``hours`` of the cycle through one detector, then a last minute through it and through a new detector.

    Raises ``ConfigError`` if ``hours`` is not positive, ``ModelError`` for an unusable model.
    """
    if hours <= 0:
        raise ConfigError(f"expected more than 0 hours, got {hours:g}")
    loaded = load_model(model)
    audio, described = cycle
    detector = Detector(loaded)
    memory, detections = [resident_memory()], 0
    began = time.process_time()
    # With a whole number of hops before, the windows of a new detector begin at the same samples.
    total = max(1, round(hours * _HOUR / _HOP)) * _HOP
    pushed = 0
    for block in _blocks(audio, total):
        detections += len(detector.push(block))
        if (pushed + len(block)) // _HOUR > pushed // _HOUR:
            memory.append(resident_memory())
            report(f"{(pushed + len(block)) // _HOUR} h: {memory[-1]} MB, {detections} detections")
        pushed += len(block)
    # Before the comparison, which needs memory too.
    memory.append(resident_memory())
    compared, difference, same = _compare(detector, Detector(loaded))
    known = [one for one in memory if one is not None]
    return PushSoak(
        audio=described,
        hours=hours,
        cpu_seconds=time.process_time() - began,
        detections=detections,
        memory_mb=memory,
        growth_mb=max(known[1:]) - known[1] if known else None,
        compared_scores=compared,
        score_difference=difference,
        same_detections=same,
    )


def _blocks(audio: Pcm, total: int) -> Iterator[Pcm]:
    """``total`` samples of the repeated audio, in blocks of changing sizes."""
    at = pushed = 0
    for size in itertools.cycle(_BLOCKS):
        size = min(size, total - pushed, len(audio) - at)
        if size == 0:
            return
        yield audio[at : at + size]
        pushed += size
        at = (at + size) % len(audio)


def _compare(old: Detector, new: Detector) -> tuple[int, float, bool]:
    """Number of scores compared in the last minute, the largest difference, and whether both fired at the same times."""
    before = old.seconds
    speech = np.resize(demo(), _LAST_SECONDS * SAMPLE_RATE)
    # The old detector's first windows contain earlier audio, and its trigger may be in its refractory second.
    settled = 3 * SAMPLE_RATE
    compared, largest = 0, 0.0
    fired: tuple[list[float], list[float]] = ([], [])
    for start in range(0, len(speech), _HOP):
        block = speech[start : start + _HOP]
        for detector, some, offset in ((old, fired[0], before), (new, fired[1], 0.0)):
            some += [round(one.end - offset, 6) for one in detector.push(block) if one.end - offset > 3]
        if start >= settled:
            compared += 1
            pairs = zip(old.scores.values(), new.scores.values(), strict=True)
            largest = max(largest, *(abs(score - other) for score, other in pairs))
    return compared, largest, fired[0] == fired[1]


def data_folder() -> Path | None:
    """The folder of real recordings in ``WAKEWORD_DATA``, if it is set."""
    named = os.environ.get("WAKEWORD_DATA")
    return Path(named) if named else None
