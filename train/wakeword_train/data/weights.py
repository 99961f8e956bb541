"""How often each kind, and each clip of a kind, is drawn into a batch."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from wakeword.base.errors import ConfigError
from wakeword_tools.kinds import Kind
from wakeword_train.data.clips import Clip
from wakeword_train.data.store import ClipStore
from wakeword_train.fields import Share, check_fields

FRAGMENT = "fragment"
"""Name of the rows and looks that hold a part of a positive."""
HOUSEHOLD = "household"
"""Name of the rows and looks that hold household sounds alone; they stand for recorded noise where there is none."""


@dataclass(frozen=True)
class MixConfig:
    """Shares of a batch. They are scaled to add up to one; the share of a kind that the data lacks goes to the others."""

    positive: float = 0.25
    negative: float = 0.2
    """Other words."""
    near_negative: float = 0.15
    """Words that sound like the keyword."""
    background: float = 0.27
    """Windows of long recordings."""
    noise: float = 0.05
    fragment: float = 0.08
    """The beginning or the end of a positive, as a negative."""
    recorded: Share = 0.5
    """Within a kind that has both, the share of recorded clips; the others are synthesised."""

    def __post_init__(self) -> None:
        shares = [self.negative, self.near_negative, self.background, self.noise, self.fragment]
        if min(shares) < 0 or self.positive <= 0 or sum(shares) <= 0:
            raise ConfigError(f"expected shares that are not negative, of positives and of negatives, got {self}")
        check_fields(self)


def clip_weights(store: ClipStore, kind: Kind, recorded: float) -> Tensor:
    """How often to draw each clip, ``(clips,)``: rare words more often, long recordings by length.

    The recorded clips get the share ``recorded``; synthetic ones are drawn by engine, see ``_weigh_engines``. All ways
    to say the keyword that are given as phonemes count as one word.
    """
    if kind in (Kind.BACKGROUND, Kind.NOISE):
        weights = store.lengths.double()
    else:
        together = kind is Kind.POSITIVE
        words = ["[[" if together and clip.word.startswith("[[") else clip.word for clip in store.clips]
        counts = Counter(words)
        weights = torch.tensor([counts[word] ** -0.5 for word in words], dtype=torch.float64)
    _weigh_engines(weights, store.clips)
    weigh_recorded(weights, store.clips, recorded)
    return weights


def weigh_recorded(weights: Tensor, clips: Sequence[Clip], share: float) -> None:
    """Give recorded clips that share of ``weights`` ``(clips,)``, in place, where there are synthetic ones too."""
    synthetic = torch.tensor([clip.synthetic for clip in clips])
    if synthetic.any() and not synthetic.all():
        for group, of_group in ((synthetic, 1 - share), (~synthetic, share)):
            weights[group] *= of_group / weights[group].sum()


def _weigh_engines(weights: Tensor, clips: Sequence[Clip]) -> None:
    """Give each speech engine a share in proportion to the square root of its number of voices, in place.

    In proportion to clips, a fast engine would dominate one that sounds human; in proportion to voices, an engine that
    mixes voices without limit would dominate all others.
    """
    voices: dict[str, set[str]] = {}
    for clip in clips:
        if clip.synthetic:
            voices.setdefault(clip.engine, set()).add(clip.speaker)
    for engine, speakers in voices.items():
        of_engine = torch.tensor([clip.engine == engine for clip in clips])
        weights[of_engine] *= len(speakers) ** 0.5 / weights[of_engine].sum()
