"""A night in a house where a Marlin lives: sounds, kept events spread over days, and ``wakeword improve``.

python tests/support/house_night.py MODEL KEPT     # as a nightly run, with voices of the repository's own clips
"""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import soxr

from wakeword.audio.pcm import read_audio
from wakeword.base.types import Array

CLIPS = Path(__file__).resolve().parents[2] / "assets/audio"
COUNT = 14
_RATES = (0.9, 0.95, 1.0, 1.05, 1.1)


def marlin(number: int) -> Array:
    """The name "Marlin", which the included model of "marvin" takes for the word, and a second around it, ``(n,)``."""
    return _spoken("other-marlin", 0.9 if number % 2 else 0.92, 1.0 - 0.03 * number)


def marvin(voice: str = "belinda") -> Array:
    """The word, and a second around it, ``(n,)``."""
    return _spoken(f"marvin-{voice}", 1.0, 1.0)


def _spoken(name: str, rate: float, gain: float) -> Array:
    clip = soxr.resample(read_audio(CLIPS / f"{name}.flac"), 16_000, 16_000 * rate)
    quiet = 1e-4 * np.random.default_rng(round(1e3 * gain)).standard_normal(len(clip) + 40_000)
    quiet[20_000 : 20_000 + len(clip)] += gain * clip
    sound: Array = quiet.astype(np.float32)
    return sound


def spread(kept: Path) -> None:
    """As if the events had come 20 minutes after each other, so that some of them teach and the others judge."""
    for number, path in enumerate(sorted(kept.rglob("*.json"))):
        content = json.loads(path.read_text())
        content["time"] = (datetime(2024, 5, 1, tzinfo=UTC) + timedelta(minutes=20 * number)).isoformat()
        path.write_text(json.dumps(content))


def main(model: str, kept: str) -> None:
    """``wakeword improve`` with the voices of the clips in place of some minutes of synthesis."""
    from wakeword.cli import main as command
    from wakeword.model.candidate_looks import looks_of
    from wakeword.model.model import read_model
    from wakeword_train.house import own_evidence

    spread(Path(kept))
    heard = read_model(Path(model))
    voices = [
        looks_of(heard, _spoken(f"marvin-{voice}", rate, 1.0))
        for rate in _RATES
        for voice in ("belinda", "david", "f4", "m2")
    ]
    evidence = own_evidence.OwnEvidence(voices, [number % 2 == 1 for number in range(len(voices))], [], 1.0)
    own_evidence.own_evidence = lambda *_, **__: evidence
    sys.argv = ["wakeword", "improve", model, "--kept", kept]
    command()


if __name__ == "__main__":
    main(*sys.argv[1:])
