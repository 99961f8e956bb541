"""Power spectra as the speech embedding takes them, of other vocal tracts and microphones."""

import torch
from torch import Tensor

from wakeword.audio.features import FeatureConfig
from wakeword.verify.embedding import STEP_FRAMES
from wakeword_train.data.augment import uniform, warped

_CONFIG = FeatureConfig()
SAMPLES_OF_STEP = STEP_FRAMES * _CONFIG.hop_length
"""Samples from one embedding to the next."""
STEP_OVERLAP = _CONFIG.n_fft - _CONFIG.hop_length
"""Samples of a step's last frame that belong to the next step too."""

WARP = 0.15
"""Largest relative shift of the frequencies, in either direction: adults and children."""
TILT = 2.5
"""Standard deviation of the random smooth curve, dB, that a microphone and a room add to a spectrum."""
_KNOTS = 5


def varied_spectra(power: Tensor, generator: torch.Generator) -> Tensor:
    """Spectra ``(batch, frames, bins)`` of another vocal tract and microphone in each row -> the same shape."""
    batch, _, bins = power.shape
    factor = 1 + uniform(batch, -WARP, WARP, generator)
    knots = TILT * torch.randn(batch, 1, _KNOTS, generator=generator)
    curve = torch.nn.functional.interpolate(knots, bins, mode="linear", align_corners=True)
    return warped(power, factor) * 10 ** (curve / 10)
