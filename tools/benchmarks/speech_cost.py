"""The cost of the shipped words on a recording of speech, with and without their second stage.

Speech, and not noise that resembles it: how often a second stage looks depends on what is said.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.contenders import Listener, start
from benchmarks.stopwatch import TICK, cpu_ms_per_second, settle
from wakeword import Detector
from wakeword.audio.pcm import SAMPLE_RATE, read_audio
from wakeword.checkup.processor import Pcm
from wakeword.model.installed import shipped_models
from wakeword_tools.contenders.contender import Contender
from wakeword_tools.contenders.own_engine import OURS

WORD_COUNTS = (1, 2, 6)
_BLOCK = 8 * TICK
LEAST_SECONDS = 60.0
"""Seconds that a turn should have: a second stage looks about once a minute, and in a short turn perhaps never."""


@dataclass(frozen=True)
class SpeechCost:
    """CPU milliseconds per second of speech in blocks of 80 ms, one figure for each turn."""

    contender: str
    words: int
    verified: bool
    """With the second stage."""
    ms_per_second: list[float]


def speech_costs(
    recording: Path,
    seconds: float,
    repeats: int,
    peers: Sequence[Contender] = (),
    advance: Callable[[float], None] = lambda done: None,
) -> list[SpeechCost]:
    """Measure the first shipped words together, and one word of each peer, in turns.

    Each turn takes the next ``seconds`` of the recording, which begins again at its end. Raises ``AudioFormatError`` if
    it cannot be read.
    """
    audio = _pcm(recording)
    loads = [(OURS, words, verified) for words in WORD_COUNTS for verified in (False, True)]
    loads += [(peer, 1, False) for peer in peers]
    listeners = [
        _ours(words, verified=verified) if one is OURS else start(one, "", words) for one, words, verified in loads
    ]
    costs = [SpeechCost(one.distribution, words, verified, []) for one, words, verified in loads]
    for listener in listeners:
        settle(listener, audio[: 2 * SAMPLE_RATE])
    length = round(seconds * SAMPLE_RATE)
    for turn in range(repeats):
        piece = np.take(audio, range(turn * length, (turn + 1) * length), mode="wrap")
        for listener, cost in zip(listeners, costs, strict=True):
            cost.ms_per_second.append(cpu_ms_per_second(listener, piece, _BLOCK))
        advance((turn + 1) / repeats)
    return costs


def _ours(words: int, *, verified: bool) -> Listener:
    # It never fires: the cost of handling a detection is the application's.
    return Detector(list(shipped_models())[:words], threshold=1.0, verify=verified).push


def _pcm(recording: Path) -> Pcm:
    samples = read_audio(recording)
    return np.asarray((np.clip(samples, -1, 1) * 32_767).round(), np.int16)
