"""Windows of training with other voices, stretches of silence, and the sound of other windows."""

import torch
from torch import Tensor

from wakeword_export.micro.mixed_net import OF_FEATURES
from wakeword_train.data.augment import factors, warped

_WARP = 0.08
"""As ``AugmentationConfig.warp``, of the channels of the features."""
_WIDEST_BANDS, _WIDEST_FRAMES = 5, 8
"""The masks of silence, two of each in a window."""
_MIN_SPREAD = 0.3
"""So that a channel without any sound in it is not divided by nothing."""


def varied(windows: Tensor, generator: torch.Generator) -> Tensor:
    """Features ``(batch, frames, 40)`` with other vocal tracts, and masks of silence."""
    batch, frames, channels = windows.shape
    windows = warped(windows, factors(batch, _WARP, generator))
    for _ in range(2):
        windows = windows * ~_stretch(batch, channels, _WIDEST_BANDS, generator)[:, None, :]
        windows = windows * ~_stretch(batch, frames, _WIDEST_FRAMES, generator)[:, :, None]
    return windows


def restyled(windows: Tensor, share: float, generator: torch.Generator | None = None) -> Tensor:
    """A share of the windows ``(batch, frames, channels)`` with the mean and the spread of each channel nearer to another
    one's: features, and in a network what blocks give, for which Zhou et al., 2021, call it MixStyle. All are in 0..26.

    So a synthetic word gets the sound of people's voices, rooms and microphones, and these are no sign of other speech.
    """
    batch = len(windows)
    mean = windows.mean(dim=1, keepdim=True)
    apart = windows - mean
    # torch.std takes 20 times as long. A root has no slope at 0.
    spread = apart.square().mean(dim=1, keepdim=True).clamp_min(1e-6).sqrt() + _MIN_SPREAD
    other = torch.randperm(batch, generator=generator)
    part = torch.rand(batch, 1, 1, generator=generator) * (torch.rand(batch, 1, 1, generator=generator) < share)
    scale = torch.lerp(spread, spread[other], part) / spread
    return torch.addcmul(torch.lerp(mean, mean[other], part), apart, scale).clamp(0, 255 * OF_FEATURES.scale)


def _stretch(batch: int, size: int, widest: int, generator: torch.Generator) -> Tensor:
    first, width = (torch.randint(high, (batch,), generator=generator) for high in (size, widest + 1))
    index = torch.arange(size)
    return (index >= first[:, None]) & (index < (first + width)[:, None])
