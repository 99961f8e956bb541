"""Whether synthesised clips hold speech, by Silero's voice activity detector: ``python -m wakeword_tools.clips.quality``.

For each engine of the sets, the share of clips in which speech is heard, in which it is as long as the clip's words,
and the clips that are empty, clipped or said at an impossible speed.
"""

import importlib.util
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import onnxruntime

from wakeword.audio import SAMPLE_RATE, read_audio
from wakeword.errors import DataError
from wakeword.types import Array
from wakeword_tools.clips.manifest import MANIFEST, read_manifest, recipe_of

_BLOCK, _CONTEXT = 512, 64
_SPEECH = 0.5
_AROUND = SAMPLE_RATE // 2
_NOISE = 1e-3
"""Root mean square, -60 dB of full scale: the detector knows no digital silence."""
_LEAST_HEARD, _LONGER = 0.5, 0.25
"""Of the words' length, the part that must be heard; and seconds by which what is heard may be longer."""
_SECONDS_PER_PHONEME = (0.03, 0.4)


@dataclass(frozen=True)
class Heard:
    """What is heard in a clip."""

    engine: str
    probability: float
    """Highest of any 32 ms."""
    heard: float
    """Seconds of speech."""
    said: float
    """Seconds of the clip without its pauses."""
    phonemes: int
    peak: float

    @property
    def has_speech(self) -> bool:
        """Whether the detector hears speech at all."""
        return self.probability > _SPEECH

    @property
    def right_length(self) -> bool:
        """Whether the speech heard is as long as the words, and these as long as words are."""
        slow_and_fast = _SECONDS_PER_PHONEME[0] <= self.said / max(1, self.phonemes) <= _SECONDS_PER_PHONEME[1]
        return _LEAST_HEARD * self.said <= self.heard <= self.said + _LONGER and slow_and_fast


def hear(folder: Path) -> Iterable[Heard]:
    """Each clip of a set with a manifest. ``DataError`` if there is none."""
    for row in read_manifest(folder / MANIFEST):
        recipe = recipe_of(row)
        samples = read_audio(folder / row.file)
        probabilities = speech_probabilities(samples)
        yield Heard(
            engine=recipe.voice.engine,
            probability=float(probabilities.max()),
            heard=float((probabilities > _SPEECH).sum()) * _BLOCK / SAMPLE_RATE,
            said=len(samples) / SAMPLE_RATE - recipe.pause_before - recipe.pause_after,
            phonemes=len(str(row.content.get("phonemes", "")).split()),
            peak=float(np.abs(samples).max()),
        )


def speech_probabilities(samples: Array) -> Array:
    """``(samples,)`` at 16 kHz -> the probability of speech in each 32 ms, with half a second of quiet at either end."""
    quiet = np.zeros(_AROUND, np.float32)
    padded = np.concatenate([quiet, samples, quiet])
    padded = padded + np.random.default_rng(0).normal(0, _NOISE, len(padded)).astype(np.float32)
    state, context = np.zeros((2, 1, 128), np.float32), np.zeros((1, _CONTEXT), np.float32)
    found = []
    for start in range(0, len(padded) - _BLOCK + 1, _BLOCK):
        block = np.concatenate([context, padded[None, start : start + _BLOCK]], axis=1)
        inputs = {"input": block, "state": state, "sr": np.array(SAMPLE_RATE, np.int64)}
        probability, state = _detector().run(None, inputs)
        found.append(probability[0, 0])
        context = block[:, -_CONTEXT:]
    return np.array(found, np.float32)


@cache
def _detector() -> onnxruntime.InferenceSession:
    # The package itself would import torch; its ONNX file needs only the runtime.
    package = importlib.util.find_spec("silero_vad")
    if package is None or package.origin is None:
        raise DataError(
            "expected the package silero-vad to listen with, found none; install it: pip install silero-vad"
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    path = Path(package.origin).parent / "data" / "silero_vad.onnx"
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def table(folders: Sequence[Path]) -> str:
    """A Markdown table, a row for each engine."""
    clips = [heard for folder in folders for heard in hear(folder)]
    rows = ["| engine | clips | speech heard | of the right length | empty or clipped |", "|---|---|---|---|---|"]
    for engine in sorted({clip.engine for clip in clips}):
        own = [clip for clip in clips if clip.engine == engine]
        heard = sum(clip.has_speech for clip in own) / len(own)
        right = sum(clip.right_length for clip in own) / len(own)
        bad = sum(clip.peak < 0.05 or clip.peak > 0.999 for clip in own)
        rows.append(f"| {engine} | {len(own)} | {heard:.1%} | {right:.1%} | {bad} |")
    return "\n".join(rows)


if __name__ == "__main__":
    sys.stdout.write(table([Path(folder) for folder in sys.argv[1:]]) + "\n")
