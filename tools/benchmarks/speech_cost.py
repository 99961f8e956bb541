"""The cost of words on a recording of speech: of shipped ones, with and without their second stage, and of words from
their text.

Speech, and not noise that resembles it: how often a second stage looks depends on what is said.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.contenders import Listener, start
from benchmarks.own_engine import OURS
from benchmarks.stopwatch import TICK, cpu_ms_per_second, settle
from wakeword import Detector
from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.checkup.processor import Pcm
from wakeword.model.installed import shipped_models
from wakeword_tools.contenders.seam import Contender

WORD_COUNTS = (1, 2, 6)
TYPED_COUNTS = (1, 2, 10, 20)
TYPED_WORDS = (
    *("jarvis", "hey zorvella", "alexa", "computer", "operator", "think engine", "marvin", "hey luna", "okay nabu"),
    *("hello kitchen", "magic mirror", "open sesame", "good evening", "telephone", "umbrella", "good morning"),
    *("hey pumpkin", "elephant", "dear butler", "banana split"),
)
_BLOCK = 8 * TICK
MIN_SECONDS = 60.0
"""Seconds that a turn should have: a second stage looks about once a minute, and in a short turn perhaps never."""


@dataclass(frozen=True)
class SpeechCost:
    """CPU milliseconds per second of speech in blocks of 80 ms, one figure for each turn."""

    contender: str
    words: int
    verified: bool
    """With the second stage."""
    ms_per_second: list[float]
    typed: bool = False
    """Words from their text, and not shipped ones."""


def speech_costs(
    recording: Path,
    seconds: float,
    repeats: int,
    peers: Sequence[Contender] = (),
    advance: Callable[[float], None] = lambda done: None,
    typed: Sequence[Path] = (),
) -> list[SpeechCost]:
    """Measure the first shipped words together, the first of those in ``typed``, and one word of each peer, in turns.

    ``typed``: models of words from their text. Each turn takes the next ``seconds`` of the recording, which begins again at
    its end. Raises ``AudioFormatError`` if it cannot be read.
    """
    audio = _pcm(recording)
    shipped = [(words, verified) for words in WORD_COUNTS for verified in (False, True)]
    from_text = [words for words in TYPED_COUNTS if words <= len(typed)]
    listeners = [
        *(_ours(list(shipped_models())[:words], verified=verified) for words, verified in shipped),
        *(_ours(typed[:words]) for words in from_text),
        *(start(peer, "", 1) for peer in peers),
    ]
    costs = [
        *(SpeechCost(OURS.distribution, words, verified, []) for words, verified in shipped),
        *(SpeechCost(OURS.distribution, words, True, [], typed=True) for words in from_text),
        *(SpeechCost(peer.distribution, 1, False, []) for peer in peers),
    ]
    for listener in listeners:
        settle(listener, audio[: 2 * SAMPLE_RATE])
    length = round(seconds * SAMPLE_RATE)
    for turn in range(repeats):
        piece = np.take(audio, range(turn * length, (turn + 1) * length), mode="wrap")
        for listener, cost in zip(listeners, costs, strict=True):
            cost.ms_per_second.append(cpu_ms_per_second(listener, piece, _BLOCK))
        advance((turn + 1) / repeats)
    return costs


def typed_models(folder: Path, words: Sequence[str] = TYPED_WORDS) -> list[Path]:
    """Models of words from their text, made in a folder; none where what makes them is not installed."""
    if find_spec("wakeword_train") is None or find_spec("onnx") is None:
        return []
    from wakeword_train import model_from_text

    return [model_from_text(word, folder / f"{number}.onnx", anyway=True) for number, word in enumerate(words)]


def _ours(words: Sequence[Path | str], *, verified: bool = True) -> Listener:
    # It never fires: the cost of handling a detection is the application's.
    return Detector(words, threshold=1.0, verify=verified).push


def _pcm(recording: Path) -> Pcm:
    samples = read_audio(recording)
    return np.asarray((np.clip(samples, -1, 1) * 32_767).round(), np.int16)
