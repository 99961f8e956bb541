"""What is mixed into recordings and done to them: noise, other speech, and what microphones and transmissions do."""

from collections.abc import Mapping

import numpy as np
import soxr
import torch
from scipy.ndimage import uniform_filter1d
from torch import Tensor

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword_tools.kinds import Kind
from wakeword_train.data.augment import AugmentationConfig, augment_waves, root_mean_square, uniform
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
        recorded = store.anywhere(count, samples, weights=self._weights, change=_SPEED, generator=generator)
        is_recorded = torch.rand(count, generator=generator) < _RECORDED_SHARE
        return torch.where(is_recorded[:, None], recorded, made)

    def recorded_anew(self, waves: Tensor, config: AugmentationConfig) -> Tensor:
        """Waves in other rooms, noises, levels and channels, ``(batch, samples)`` -> the same shape."""
        noisy = augment_waves(waves, self.draw(*waves.shape), config, self._generator)
        return _through_channels(noisy, self._generator)


def coloured_noise(samples: int, generator: torch.Generator) -> Tensor:
    """White, pink and brown noise of deviation 1, ``(3, samples)``: power falling as frequency to 0, -1 and -2."""
    spectrum = torch.fft.rfft(torch.randn(3, samples, generator=generator))
    frequency = torch.arange(spectrum.shape[1]).clamp_min(1)
    exponents = torch.tensor([0.0, -0.5, -1.0])[:, None]
    noise = torch.fft.irfft(spectrum * frequency**exponents, samples)
    return torch.div(noise, noise.std(dim=1, keepdim=True))


_BEFORE, _AFTER = 0.6, 0.8
"""Share of the chosen rows with speech before the word, and of those with speech after it."""
_LONGEST_PAUSE = 0.15
"""Seconds between the word and other speech; half of the rows have none."""
_FADE = SAMPLE_RATE // 100
LOUDNESS = 0.4, 1.2
"""Range of the level of the other speech, as a multiple of the word's."""
FAINT = 1e-4


def amid_talk(
    waves: Tensor, begins: Tensor, ends: Tensor, *, talk: ClipStore, share: float, generator: torch.Generator
) -> Tensor:
    """Put other speech right before and after the words of some rows, in place of what is there.

    ``waves`` ``(batch, samples)`` with a word from sample ``begins`` to ``ends``, both ``(batch,)`` and not always inside;
    ``talk``: recordings of other speech; ``share`` of the rows, 0 to 1 -> ``(batch, samples)``. Nothing is drawn for a
    share of 0.
    """
    if not share:
        return waves
    rows = torch.nonzero(torch.rand(len(waves), generator=generator) < share).flatten()
    if not len(rows):
        return waves
    count, samples = len(rows), waves.shape[1]
    time = torch.arange(samples)
    before = (begins[rows] - _pauses(count, generator))[:, None] - time
    after = time - (ends[rows] + _pauses(count, generator))[:, None]
    spoken = torch.maximum(
        before * _chosen(count, _BEFORE, generator)[:, None], after * _chosen(count, _AFTER, generator)[:, None]
    )
    weight = (spoken / _FADE).clamp(0, 1)
    speech = talk.anywhere(count, samples, generator=generator)
    inside = (time >= begins[rows][:, None]) & (time < ends[rows][:, None])
    word = (waves[rows].square() * inside).sum(dim=1) / inside.sum(dim=1).clamp_min(1)
    gain = word.sqrt() * uniform(count, *LOUDNESS, generator) / root_mean_square(speech).clamp_min(FAINT)
    spoken_over = torch.lerp(waves[rows], (speech * gain[:, None]).clamp(-1, 1), weight)
    mixed = waves.clone()
    mixed[rows] = spoken_over
    return mixed


def talk_of(stores: Mapping[Kind, ClipStore]) -> ClipStore | None:
    """What other speech is taken from: long recordings, or other words where there are none."""
    return stores.get(Kind.BACKGROUND) or stores.get(Kind.NEGATIVE)


def _pauses(count: int, generator: torch.Generator) -> Tensor:
    """Samples, ``(count,)``."""
    return (uniform(count, -_LONGEST_PAUSE, _LONGEST_PAUSE, generator).clamp_min(0) * SAMPLE_RATE).long()


def _chosen(count: int, share: float, generator: torch.Generator) -> Tensor:
    """1 in a share of the rows, else 0; ``(count,)``."""
    return (torch.rand(count, generator=generator) < share).long()


_NARROW = 8_000
"""Sample rate of a telephone."""
_GAIN_SAMPLES = SAMPLE_RATE // 5
"""Over how many samples a gain control measures the level."""
_MU = 255


def _through_channels(waves: Tensor, generator: torch.Generator) -> Tensor:
    """Some rows of ``(batch, samples)`` as another device would have recorded them; the level stays about the same."""
    seed = int(torch.randint(2**31, (1,), generator=generator))
    random = np.random.default_rng(seed)
    changed = waves.numpy().copy()
    edges = np.cumsum([share for share, _ in _CHANGES])
    for row, draw in enumerate(random.random(len(changed))):
        place = int(np.searchsorted(edges, draw, side="right"))
        if place < len(_CHANGES):
            _, change = _CHANGES[place]
            changed[row] = change(changed[row], random)
    return torch.from_numpy(changed)


def _narrow(wave: Array, random: np.random.Generator) -> Array:
    """Through 8 kHz and back."""
    back = soxr.resample(soxr.resample(wave, SAMPLE_RATE, _NARROW), _NARROW, SAMPLE_RATE)[: len(wave)]
    padded: Array = np.pad(back, (0, len(wave) - len(back)))
    return padded


def _companded(wave: Array, random: np.random.Generator) -> Array:
    """Eight bits by the mu-law."""
    coded = np.sign(wave) * np.log1p(_MU * np.abs(wave).clip(0, 1)) / np.log1p(_MU)
    steps = np.round(coded * 127) / 127
    decoded: Array = (np.sign(steps) * np.expm1(np.abs(steps) * np.log1p(_MU)) / _MU).astype(np.float32)
    return decoded


def _clipped(wave: Array, random: np.random.Generator) -> Array:
    """Cut off above a part of the peak."""
    peak = max(float(np.abs(wave).max()), 1e-6)
    most = peak / random.uniform(1.5, 5)
    return wave.clip(-most, most)


def _levelled(wave: Array, random: np.random.Generator) -> Array:
    """Quiet parts raised towards loud ones."""
    power = uniform_filter1d(wave.astype(np.float64) ** 2, _GAIN_SAMPLES, mode="constant")
    level = np.sqrt(power.clip(0) + 1e-7)
    loudest = max(float(level.max()), 1e-4)
    levelled: Array = (wave * (loudest / level) ** random.uniform(0.3, 0.8)).clip(-1, 1).astype(np.float32)
    return levelled


_CHANGES = ((0.12, _narrow), (0.08, _companded), (0.08, _clipped), (0.08, _levelled))
"""Shares of rows, and what is done to them; the other rows stay as they are."""
