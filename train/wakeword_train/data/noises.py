"""Noise to mix into clips: recorded, household sounds, and noise that is made."""

import torch
from torch import Tensor

from wakeword_train.data.augment import uniform
from wakeword_train.data.household import HouseholdSounds
from wakeword_train.data.store import ClipStore

_RECORDED_SHARE = 0.75
"""Share of noise that is recorded, if recordings are given."""
_SPEED = 0.2
"""Recorded noise is played up to this share faster or slower."""


class NoiseSource:
    """Draws noise for the rows of a batch."""

    def __init__(
        self,
        length: int,
        generator: torch.Generator,
        *,
        household: HouseholdSounds | None,
        household_share: float,
        recorded: ClipStore | None,
        weights: Tensor | None = None,
    ) -> None:
        """``length``: samples of the noise that is made, once. ``weights`` of the recordings, their lengths by default."""
        self._generator = generator
        self._made = coloured_noise(length, generator)
        self._household, self._household_share = household, household_share
        self._recorded = recorded if recorded is not None and len(recorded) else None
        self._weights = weights

    def draw(self, count: int, samples: int) -> Tensor:
        """Recorded noise for most rows if there is any, and noise that is made for the others; ``(count, samples)``."""
        generator = self._generator
        starts = torch.randint(self._made.shape[1] - samples, (count,), generator=generator)
        colours = torch.randint(len(self._made), (count,), generator=generator)
        made = self._made[colours[:, None], starts[:, None] + torch.arange(samples)]
        if self._household is not None:
            chosen = torch.rand(count, generator=generator) < self._household_share
            made[chosen] = self._household.cut(int(chosen.sum()), samples, generator)
        store = self._recorded
        if store is None:
            return made
        weights = store.lengths.double() if self._weights is None else self._weights
        rows = torch.multinomial(weights, count, replacement=True, generator=generator)
        speed = 1 + uniform(count, -_SPEED, _SPEED, generator)
        offsets = store.any_offsets(rows, samples, speed=speed, generator=generator)
        recorded = store.cut(rows, offsets, samples, speed=speed, generator=generator)
        is_recorded = torch.rand(count, generator=generator) < _RECORDED_SHARE
        return torch.where(is_recorded[:, None], recorded, made)


def coloured_noise(samples: int, generator: torch.Generator) -> Tensor:
    """White, pink and brown noise of deviation 1, ``(3, samples)``: power falling as frequency to 0, -1 and -2."""
    spectrum = torch.fft.rfft(torch.randn(3, samples, generator=generator))
    frequency = torch.arange(spectrum.shape[1]).clamp_min(1)
    exponents = torch.tensor([0.0, -0.5, -1.0])[:, None]
    noise = torch.fft.irfft(spectrum * frequency**exponents, samples)
    return torch.div(noise, noise.std(dim=1, keepdim=True))
