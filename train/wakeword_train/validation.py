"""The measure by which epochs are chosen: recall on held-out clips at low false positive rates."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from wakeword_tools.kinds import WORD_KINDS, Kind
from wakeword_tools.measure.thresholds import threshold_at_mean_fpr
from wakeword_train.data.frontend import Frontend
from wakeword_train.data.packed import PackedStore
from wakeword_train.data.store import ClipStore
from wakeword_train.model.network import WakeWordNetwork

_MOST_LONG = 5_000
"""Windows of long recordings, at most."""


@dataclass(frozen=True)
class ValidationSet:
    """MFCC windows without augmentation, and the clip that each was cut from."""

    windows: Tensor
    """``(windows, window, n_mfcc)`` float32."""
    clip: Tensor
    """``(windows,)`` int64; a clip has the score of its best window."""
    kinds: list[Kind]
    """Kind of each clip; every window of background counts as a separate clip."""

    def clip_scores(self, window_scores: Tensor) -> Tensor:
        """``(windows,)`` -> ``(clips,)``."""
        scores = torch.full((len(self.kinds),), -torch.inf, dtype=window_scores.dtype)
        return scores.scatter_reduce(0, self.clip, window_scores, "amax")


def validation_set(
    stores: dict[Kind, ClipStore],
    window: int,
    packed: PackedStore | None = None,
) -> ValidationSet:
    """Windows of every validation clip: the word early, in the middle and late; of long recordings, one every 0.5 s.

    ``packed``: background as features, in addition to that in ``stores``.
    """
    frontend = Frontend()
    samples = frontend.config.samples_in(window)
    generator = torch.Generator().manual_seed(0)
    windows: list[Tensor] = []
    owners: list[Tensor] = []
    kinds: list[Kind] = []
    for kind, store in stores.items():
        rows, offsets = _validation_places(store, kind, samples)
        for some in torch.split(torch.arange(len(rows)), 256):
            windows.append(frontend(store.cut(rows[some], offsets[some], samples, generator=generator)))
        owner = rows if kind in WORD_KINDS else torch.arange(len(rows))
        owners.append(len(kinds) + owner)
        kinds += [kind] * (len(store) if kind in WORD_KINDS else len(rows))
    if packed is not None:
        step = max(50, int(packed.lengths.sum()) // _MOST_LONG)
        for _, some, _ in packed.hops(window, step=step):
            windows.append(some)
            owners.append(len(kinds) + torch.arange(len(some)))
            kinds += [Kind.BACKGROUND] * len(some)
    return ValidationSet(torch.cat(windows), torch.cat(owners), kinds)


def _validation_places(store: ClipStore, kind: Kind, samples: int) -> tuple[Tensor, Tensor]:
    """Clips and the offsets of their validation windows, each ``(windows,)``."""
    if kind in WORD_KINDS:
        first, last = store.word_ends - samples, store.word_starts
        offsets = torch.stack([first + (last - first) * part // 4 for part in (1, 2, 3)], dim=1)
        return torch.arange(len(store)).repeat_interleave(3), offsets.flatten()
    # Half a second apart, or further in many hours: epochs are compared, and nothing is promised by this.
    step = max(8_000, int(store.lengths.sum()) // _MOST_LONG)
    steps = [torch.arange(0, max(1, length - samples), step) for length in store.lengths.tolist()]
    counts = torch.tensor([len(step) for step in steps])
    return torch.arange(len(store)).repeat_interleave(counts), torch.cat(steps)


def score_windows(network: WakeWordNetwork, windows: Tensor, *, device: str = "cpu", batch: int = 1024) -> Tensor:
    """Logits of MFCC windows, ``(windows, window, n_mfcc)`` -> ``(windows,)``, without gradient or dropout."""
    network.eval()
    with torch.no_grad():
        pieces = [network(network.normalise(piece.to(device))).cpu() for piece in torch.split(windows, batch)]
    return torch.cat(pieces)


def validate(network: WakeWordNetwork, validation: ValidationSet, *, device: str = "cpu") -> dict[str, float]:
    """Recall at the false positive rates that ``loop.EpochReport`` names, by group of negatives."""
    # In float64, in which thresholds are exact.
    scores = validation.clip_scores(score_windows(network, validation.windows, device=device)).double().numpy()
    kinds = np.array([kind.value for kind in validation.kinds])
    of_kind = {kind: scores[kinds == kind.value] for kind in Kind}
    near, negative = of_kind[Kind.NEAR_NEGATIVE], of_kind[Kind.NEGATIVE]
    long = np.concatenate([of_kind[Kind.BACKGROUND], of_kind[Kind.NOISE]])
    groups = {
        "words": ([negative, near], 0.03),
        "near_negative": ([near], 0.03),
        "negative": ([negative], 0.03),
        "background": ([long], 0.003),
    }
    recall = {
        name: float((of_kind[Kind.POSITIVE] >= threshold_at_mean_fpr(given, fpr)).mean())
        for name, (some, fpr) in groups.items()
        if (given := [group for group in some if len(group)])
    }
    recall.setdefault("words", recall.get("background", 0.0))
    return recall
