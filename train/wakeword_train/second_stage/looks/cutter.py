"""Looks: the two seconds of sound that the second stage judges, cut out of recordings and varied."""

from collections.abc import Mapping

import torch
from torch import Tensor

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.verify.embedding import STEP_OVERLAP, STEP_SAMPLES, WARM_UP
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS
from wakeword_tools.kinds import Kind
from wakeword_train.data.augment import AugmentationConfig, factors, root_mean_square, uniform, warped
from wakeword_train.data.household import HouseholdSounds
from wakeword_train.data.mixed_sounds import FAINT, LOUDNESS, NoiseSource, amid_talk, talk_of
from wakeword_train.data.store import ClipStore

WARP = 0.15
"""Largest relative shift of the frequencies, in either direction: adults and children."""
TILT = 2.5
"""Standard deviation of the random smooth curve, dB, that a microphone and a room add to a spectrum."""
_KNOTS = 5

WARMED_LOOK_SAMPLES = (HEAD_EMBEDDINGS + WARM_UP) * STEP_SAMPLES + STEP_OVERLAP
"""Samples of a look, warm-up of the embedding included."""

_EARLIEST, _LATEST = 0.02, 0.55
"""Seconds from the end of a word to the end of a look at it: the window of the first stage ends that much later."""
_PRECEDED = 0.3
"""Share of looks at words with other speech before the clip."""
_PAUSE = SAMPLE_RATE // 16
"""Samples between that speech and the clip."""


class LookCutter:
    """Cuts looks at the words of clips, in other rooms, noises and channels. Seeded by its generator.

    A look ends with the word or up to half a second after it, and at times has other speech before the clip and around the
    word; then come a room, noise, a level and a channel. ``BatchSampler`` has the word anywhere in a window,
    ``SceneMaker`` seconds of sound before it.
    ``stores`` and ``household`` give the sounds to mix in, and the speech before and after a word, where there are any.
    """

    def __init__(
        self,
        stores: Mapping[Kind, ClipStore],
        augmentation: AugmentationConfig,
        generator: torch.Generator,
        household: HouseholdSounds | None = None,
    ) -> None:
        self._household = household
        self._augmentation = augmentation
        self._background, self._talk = stores.get(Kind.BACKGROUND), talk_of(stores)
        self._generator = generator
        noise, share = stores.get(Kind.NOISE), augmentation.household
        self.noise = NoiseSource(2**19, generator, household=household, household_share=share, recorded=noise)

    def words(self, store: ClipStore, rows: Tensor, *, fragment: bool = False) -> Tensor:
        """Looks at the clips ``rows``, ``(batch,)`` -> ``(batch, WARMED_LOOK_SAMPLES)``.

        The word ends 0.02 to 0.55 s before the look; a ``fragment`` ends at 30 to 70 % of the word.
        """
        count, generator = len(rows), self._generator
        speed = factors(count, self._augmentation.speed, generator)
        late = uniform(count, _EARLIEST, _LATEST, generator) * SAMPLE_RATE
        ends = store.word_ends[rows]
        if fragment:
            length = (store.word_ends - store.word_starts)[rows]
            ends = store.word_starts[rows] + (uniform(count, 0.3, 0.7, generator) * length).long()
            late = torch.zeros(count)
        offsets = (ends + (late - WARMED_LOOK_SAMPLES) * speed).long()
        silent = torch.rand(count, generator=generator) < self._augmentation.silence_probability
        waves = store.cut(rows, offsets, WARMED_LOOK_SAMPLES, speed=speed, silent=silent, generator=generator)
        self._speak_before(waves, (-offsets / speed).long())
        if self._talk is not None and not fragment:
            begins, stops = (((place - offsets) / speed).long() for place in (store.word_starts[rows], ends))
            share = self._augmentation.talk_probability
            waves = amid_talk(waves, begins, stops, talk=self._talk, share=share, generator=generator)
        return self.varied(waves)

    def household(self, count: int) -> Tensor:
        """Looks at household sounds alone, ``(count, WARMED_LOOK_SAMPLES)``. There must be such sounds."""
        assert self._household is not None
        return self.varied(self._household.cut(count, WARMED_LOOK_SAMPLES, self._generator))

    def varied(self, waves: Tensor) -> Tensor:
        """Other rooms, noises, levels and channels, ``(batch, samples)`` -> the same shape."""
        return self.noise.recorded_anew(waves, self._augmentation)

    def _speak_before(self, waves: Tensor, begins: Tensor) -> None:
        """Put other speech before the clips of some rows, which begin at the samples ``begins``; in place.

        It adds where ``amid_talk`` replaces; drawn as there, looks and the heads that learn from them would be others.
        """
        store, generator = self._background, self._generator
        if store is None:
            return
        some = (torch.rand(len(waves), generator=generator) < _PRECEDED) & (begins > 3 * _PAUSE)
        for row in torch.nonzero(some).flatten().tolist():
            length = min(int(begins[row]), WARMED_LOOK_SAMPLES) - _PAUSE
            speech = store.anywhere(1, WARMED_LOOK_SAMPLES, generator=generator)[0, :length]
            level = root_mean_square(waves[row : row + 1, length:]) * uniform(1, *LOUDNESS, generator)
            waves[row, :length] += (speech * level / root_mean_square(speech[None]).clamp_min(FAINT)).clamp(-1, 1)


def varied_spectra(power: Tensor, generator: torch.Generator) -> Tensor:
    """Spectra ``(batch, frames, bins)`` of another vocal tract and microphone in each row -> the same shape."""
    batch, _, bins = power.shape
    factor = factors(batch, WARP, generator)
    knots = TILT * torch.randn(batch, 1, _KNOTS, generator=generator)
    curve = torch.nn.functional.interpolate(knots, bins, mode="linear", align_corners=True)
    return warped(power, factor) * 10 ** (curve / 10)
