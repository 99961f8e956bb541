"""Batches for training, from clips in memory to MFCC."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from torch import Tensor

from wakeword.takes.word_region import locate_word
from wakeword_tools.kinds import WORD_KINDS, Kind, Split
from wakeword_train.data.augment import (
    AugmentationConfig,
    augment_log_mel,
    augment_waves,
    factors,
    mix_log_mel,
    narrow_log_mel,
)
from wakeword_train.data.clips import Clip
from wakeword_train.data.frontend import Frontend
from wakeword_train.data.household import household_of
from wakeword_train.data.mining import MiningConfig, hardest_packed, hardest_places
from wakeword_train.data.mixed_sounds import NoiseSource, amid_talk, talk_of
from wakeword_train.data.packed import PackedStore, rounded
from wakeword_train.data.store import ClipStore, Stores
from wakeword_train.data.weights import FRAGMENT, HOUSEHOLD, MixConfig, clip_weights

_POOL = 5
"""Batches made together when their windows are used more than once."""
_JITTER = 1_280
"""Largest shift of a hard place in samples, in either direction: one hop."""


_PACKED = "packed"
"""Name of the rows from the starter pack; they are background."""
_ROUNDED = 0.5
"""Share of the other rows that are rounded as the pack is."""


def load_stores(clips: Iterable[Clip], *splits: Split) -> Stores:
    """The clips of some splits that are audio, by kind, read into memory."""
    chosen = [clip for clip in clips if clip.split in splits and not clip.is_packed]
    of_kinds = {kind: [clip for clip in chosen if clip.kind is kind] for kind in Kind}
    return {kind: ClipStore(of_kind) for kind, of_kind in of_kinds.items() if of_kind}


class LabelledBatch(NamedTuple):
    """The windows and labels of one step."""

    frames: Tensor
    """MFCC, ``(batch, window, n_mfcc)``."""
    labels: Tensor
    """1 where the window holds the keyword, else 0; ``(batch,)`` float32."""


class BatchSampler:
    """Endless augmented batches with a fixed share of each kind, seeded by its generator.

    A window holds the whole word, anywhere in it, and at times other speech around it; then come a room, noise and a level,
    and of the features other frequencies. ``LookCutter`` and ``SceneMaker`` share what is mixed in (``NoiseSource``,
    ``amid_talk``), but place the word elsewhere and draw in another order, on which trained models depend.
    """

    def __init__(
        self,
        stores: Stores,
        *,
        mix: MixConfig,
        augmentation: AugmentationConfig,
        window: int,
        batch_size: int,
        generator: torch.Generator,
        mining: MiningConfig | None = None,
        reuse: int = 1,
        packed: PackedStore | None = None,
    ) -> None:
        """``packed``: background as features, in addition to that in ``stores``."""
        self.stores = stores
        self.augmentation = augmentation
        self.generator = generator
        self.mining = mining or MiningConfig(rounds=0)
        self.reuse = reuse
        self.frontend = Frontend()
        self.window = window
        self.samples = self.frontend.config.samples_in(window)
        self.packed = packed
        self._household = None
        if augmentation.household:
            # Nothing is drawn without them, so that older recipes give the same models.
            seed = int(torch.randint(2**31, (1,), generator=generator))
            self._household = household_of(stores.get(Kind.NEGATIVE), seed=seed)
        nothing = (torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=torch.int64))
        self._hard, self._hard_packed = nothing, nothing
        self._weights = {kind: clip_weights(store, kind, mix.recorded) for kind, store in stores.items()}
        self._counts = self._shares(mix, batch_size)
        # A row is of the same kind in every batch.
        self._labels = torch.cat(
            [torch.full((count,), float(name == Kind.POSITIVE.value)) for name, count in self._counts.items()]
        )
        self._talk = talk_of(stores)
        self._pool = torch.empty(0)
        self._uses = 0
        self._noise = NoiseSource(
            2**20,
            generator,
            household=self._household,
            household_share=augmentation.household,
            recorded=stores.get(Kind.NOISE),
            weights=self._weights.get(Kind.NOISE),
        )

    def _shares(self, mix: MixConfig, batch_size: int) -> dict[str, int]:
        shares = {kind.value: float(getattr(mix, kind.value)) for kind in self.stores}
        shares[FRAGMENT] = mix.fragment
        if self._household is not None and Kind.NOISE not in self.stores:
            shares[HOUSEHOLD] = mix.noise
        if self.packed is not None:
            own = self.stores[Kind.BACKGROUND].hours if Kind.BACKGROUND in self.stores else 0.0
            part = self.packed.hours / (self.packed.hours + own)
            shares[Kind.BACKGROUND.value] = mix.background * (1 - part)
            shares[_PACKED] = mix.background * part
        total = sum(shares.values())
        counts = {name: round(batch_size * share / total) for name, share in shares.items()}
        return {name: count for name, count in counts.items() if count}

    def next(self) -> LabelledBatch:
        """The next batch."""
        log_mel = self._fresh() if self.reuse == 1 else self._from_pool()
        log_mel = augment_log_mel(log_mel, self.augmentation, self.generator)
        return LabelledBatch(self.frontend.cepstrum(log_mel), self._labels.clone())

    def restart(self) -> None:
        """Make the next batch from new windows."""
        self._uses = 0

    def _fresh(self) -> Tensor:
        """Log mel energies of windows, each in its own room and noise, ``(batch, window, n_mels)``."""
        waves = torch.cat([self._cut(name, count) for name, count in self._counts.items() if name != _PACKED])
        waves = augment_waves(waves, self._noise.draw(len(waves), self.samples), self.augmentation, self.generator)
        log_mel = self.frontend.log_mel(waves)
        if self.packed is None or not self._counts.get(_PACKED):
            return log_mel
        chosen = torch.rand(len(log_mel), generator=self.generator) < _ROUNDED
        cepstrum = self.frontend.cepstrum(log_mel[chosen])
        log_mel[chosen] = rounded(cepstrum, self.packed.pack.mfcc_codec) @ self.frontend.dct.T
        return torch.cat([log_mel, self._cut_packed(self.packed, self._counts[_PACKED])])

    def _cut_packed(self, store: PackedStore, count: int) -> Tensor:
        """Log mel energies of windows of the starter pack, in noise, ``(count, window, n_mels)``."""
        rows = torch.multinomial(store.lengths.double(), count, replacement=True, generator=self.generator)
        speed = factors(count, self.augmentation.speed, self.generator)
        offsets = store.any_offsets(rows, self.window, generator=self.generator)
        if len(self._hard_packed[0]):
            hard = round(count * self.mining.share)
            some = torch.randint(len(self._hard_packed[0]), (hard,), generator=self.generator)
            rows[:hard], offsets[:hard] = self._hard_packed[0][some], self._hard_packed[1][some]
        speech = store.log_mel(rows, offsets, self.window, speed=speed)
        noise = self.frontend.log_mel(self._noise.draw(count, self.samples))
        mixed = mix_log_mel(speech, noise, self.augmentation, self.generator)
        return narrow_log_mel(mixed, self.frontend.centres, self.frontend.silence, self.augmentation, self.generator)

    def _from_pool(self) -> Tensor:
        """As ``_fresh``, but a window is used in ``reuse`` batches on average, each time together with different ones."""
        if self._uses == 0:
            self._pool = torch.stack([self._fresh() for _ in range(_POOL)])
            self._uses = _POOL * self.reuse
        self._uses -= 1
        size = len(self._labels)
        return self._pool[torch.randint(_POOL, (size,), generator=self.generator), torch.arange(size)]

    def mine(self, score: Callable[[Tensor], Tensor]) -> None:
        """From now on, draw a share of the background from where ``score`` is highest.

        ``score``: windows ``(batch, window, n_mfcc)`` -> ``(batch,)``.
        """
        store = self.stores.get(Kind.BACKGROUND)
        if store is not None:
            places = self.mining.places
            self._hard = hardest_places(store, score, frontend=self.frontend, window=self.window, count=places)
        if self.packed is not None:
            self._hard_packed = hardest_packed(self.packed, score, window=self.window, count=self.mining.places)

    def relocate_words(self, score: Callable[[Tensor], Tensor]) -> None:
        """Locate the word again in positives that are longer than a window: in the window with the highest ``score``.

        ``score``: MFCC windows ``(windows, window, n_mfcc)`` -> ``(windows,)``. Energy finds the loudest stretch, which
        in a sentence need not be the keyword.
        """
        store = self.stores[Kind.POSITIVE]
        for row in torch.nonzero(store.lengths > self.samples).flatten().tolist():
            offsets = torch.arange(0, int(store.lengths[row]) - self.samples + 1, 1_280)
            windows = store.cut(torch.full_like(offsets, row), offsets, self.samples, generator=self.generator)
            winner = int(score(self.frontend(windows)).argmax())
            best = int(offsets[winner])
            start, end = int(store.word_starts[row]), int(store.word_ends[row])
            if start < best or end > best + self.samples:
                word, _ = locate_word(windows[winner].numpy())
                store.word_starts[row], store.word_ends[row] = best + word.start, best + word.end

    def _cut(self, name: str, count: int) -> Tensor:
        """Windows of one kind, ``(count, samples)``."""
        if name == HOUSEHOLD:
            assert self._household is not None
            return self._household.cut(count, self.samples, self.generator)
        kind = Kind.POSITIVE if name == FRAGMENT else Kind(name)
        store = self.stores[kind]
        rows = torch.multinomial(self._weights[kind], count, replacement=True, generator=self.generator)
        speed = factors(count, self.augmentation.speed, self.generator)
        if name == FRAGMENT:
            place = store.fragment_offsets
        else:
            place = store.word_offsets if kind in WORD_KINDS else store.any_offsets
        offsets = place(rows, self.samples, speed=speed, generator=self.generator)
        if kind is Kind.BACKGROUND and len(self._hard[0]):
            hard = round(count * self.mining.share)
            chosen = torch.randint(len(self._hard[0]), (hard,), generator=self.generator)
            moved = torch.randint(-_JITTER, _JITTER + 1, (hard,), generator=self.generator)
            rows[:hard], offsets[:hard] = self._hard[0][chosen], self._hard[1][chosen] + moved
        silent = torch.rand(count, generator=self.generator) < self.augmentation.silence_probability
        waves = store.cut(rows, offsets, self.samples, speed=speed, silent=silent, generator=self.generator)
        if name != kind.value or kind not in WORD_KINDS or self._talk is None:
            return waves
        begins, ends = (((place[rows] - offsets) / speed).long() for place in (store.word_starts, store.word_ends))
        share = self.augmentation.talk_probability
        return amid_talk(waves, begins, ends, talk=self._talk, share=share, generator=self.generator)
