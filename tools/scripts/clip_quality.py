"""Whether synthesised clips hold speech, by Silero's voice activity detector: ``python -m scripts.clip_quality``.

For each engine in the sets: the share of clips in which speech is detected, the share in which it is as long as the
words and spoken at a possible speed, and the number of clips that are empty or clipped.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scripts.recipes import recipe_of
from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword.format.session import open_session, run_session
from wakeword.model.installed import encoders_folder
from wakeword_tools.clips.manifest import MANIFEST, read_manifest

_BLOCK, _CONTEXT = 512, 64
_SPEECH = 0.5
_AROUND = SAMPLE_RATE // 2
_NOISE = 1e-3
"""Root mean square, -60 dBFS: the detector was not trained on digital silence."""
_MIN_DETECTED, _LONGER = 0.5, 0.25
"""Share of the words' length that must be detected as speech, and seconds by which the detected speech may be longer."""
_SECONDS_PER_PHONEME = (0.03, 0.4)


@dataclass(frozen=True)
class DetectedSpeech:
    """The speech detected in a clip."""

    engine: str
    probability: float
    """Highest probability of speech in any 32 ms."""
    detected: float
    """Seconds of detected speech."""
    spoken: float
    """Seconds of the clip without its pauses."""
    phonemes: int
    peak: float

    @property
    def has_speech(self) -> bool:
        """Whether the detector finds any speech."""
        return self.probability > _SPEECH

    @property
    def right_length(self) -> bool:
        """Whether the detected speech is as long as the words, and these are spoken at a possible speed."""
        possible_speed = _SECONDS_PER_PHONEME[0] <= self.spoken / max(1, self.phonemes) <= _SECONDS_PER_PHONEME[1]
        return _MIN_DETECTED * self.spoken <= self.detected <= self.spoken + _LONGER and possible_speed


def detect_speech(folder: Path) -> Iterable[DetectedSpeech]:
    """The speech in each clip of a folder with a manifest. ``DataError`` if there is no manifest."""
    for row in read_manifest(folder / MANIFEST):
        recipe = recipe_of(row)
        samples = read_audio(folder / row.file)
        probabilities = speech_probabilities(samples)
        yield DetectedSpeech(
            engine=recipe.voice.engine,
            probability=float(probabilities.max()),
            detected=float((probabilities > _SPEECH).sum()) * _BLOCK / SAMPLE_RATE,
            spoken=len(samples) / SAMPLE_RATE - recipe.pause_before - recipe.pause_after,
            phonemes=len(str(row.content.get("phonemes", "")).split()),
            peak=float(np.abs(samples).max()),
        )


def speech_probabilities(samples: Array) -> Array:
    """``(samples,)`` at 16 kHz -> the probability of speech in each 32 ms, with half a second of quiet at each end."""
    quiet = np.zeros(_AROUND, np.float32)
    padded = np.concatenate([quiet, samples, quiet])
    padded = padded + np.random.default_rng(0).normal(0, _NOISE, len(padded)).astype(np.float32)
    blocks = padded[: len(padded) - len(padded) % _BLOCK].reshape(-1, _BLOCK)
    before = np.concatenate([np.zeros((1, _CONTEXT), np.float32), blocks[:-1, -_CONTEXT:]])
    nothing = np.zeros((1, 1, 128), np.float32)
    session = open_session(encoders_folder() / "silero.onnx")
    inputs = {"input": np.concatenate([before, blocks], axis=1), "h": nothing, "c": nothing}
    (found,) = run_session(session, ["speech_probs"], inputs)
    return found


def table(folders: Sequence[Path]) -> str:
    """A Markdown table, a row for each engine."""
    clips = [clip for folder in folders for clip in detect_speech(folder)]
    rows = ["| engine | clips | speech detected | of the right length | empty or clipped |", "|---|---|---|---|---|"]
    for engine in sorted({clip.engine for clip in clips}):
        own = [clip for clip in clips if clip.engine == engine]
        detected = sum(clip.has_speech for clip in own) / len(own)
        right = sum(clip.right_length for clip in own) / len(own)
        bad = sum(clip.peak < 0.05 or clip.peak > 0.999 for clip in own)
        rows.append(f"| {engine} | {len(own)} | {detected:.1%} | {right:.1%} | {bad} |")
    return "\n".join(rows)


if __name__ == "__main__":
    sys.stdout.write(table([Path(folder) for folder in sys.argv[1:]]) + "\n")
