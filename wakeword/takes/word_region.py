"""The position of the word in a clip."""

from dataclasses import dataclass

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array

_STEP = SAMPLE_RATE // 100


@dataclass(frozen=True)
class Region:
    """The position of the word in a clip, in samples."""

    start: int
    end: int


def locate_word(samples: Array) -> tuple[Region, float]:
    """The word in a clip by its energy, and the level of the noise around it.

    ``samples`` ``(n,)`` at 16 kHz -> the stretch with the most energy among those within 30 dB of the loudest 10 ms
    (gaps of up to 150 ms, as in a stop consonant, do not end it), widened by 30 ms; and the clip's noise floor as a
    root mean square.
    """
    n_steps = len(samples) // _STEP
    if n_steps < 3:
        return Region(0, len(samples)), 0.0
    energy = np.square(samples[: n_steps * _STEP].reshape(n_steps, _STEP)).mean(axis=1)
    floor = float(np.percentile(energy, 10))
    # Halfway (in dB) between floor and peak if the noise is less than 60 dB below the peak.
    threshold = max(float(energy.max()) * 1e-3, np.sqrt(floor * float(energy.max())))
    loud = np.flatnonzero(energy >= threshold)
    stretches = np.split(loud, np.flatnonzero(np.diff(loud) > 15) + 1)
    best = max(stretches, key=lambda part: float(energy[part].sum()) if len(part) else 0.0)
    if len(best) == 0:
        return Region(0, len(samples)), float(np.sqrt(floor))
    start, end = (int(best[0]) - 3) * _STEP, (int(best[-1]) + 4) * _STEP
    return Region(max(0, start), min(len(samples), end)), float(np.sqrt(floor))
