"""Names for the arrays that pass between modules. The functions that use them document shapes and units."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
"""Audio at 16 kHz, features, states: everything inside the engine."""
NO_SAMPLES: Array = np.zeros(0, np.float32)

Samples = NDArray[Any]
"""Input audio: int16, int32 or float32, of any rate and number of channels."""

Scores = NDArray[np.float64]
"""Scores in 0..1. In float64: thresholds for rare false accepts are so close to 1 that float32 has ties."""
