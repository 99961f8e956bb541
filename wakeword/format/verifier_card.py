"""What a model file says about its second stage."""

import math
import re
from dataclasses import dataclass, field

from wakeword.base.checks import integer, number
from wakeword.base.errors import ConfigError
from wakeword.base.logistic import score_of_logit
from wakeword.base.text import shortened
from wakeword.format.card_checks import MAX_LOGIT, MAX_TEXT, require_name
from wakeword.format.operating_point import OperatingPoint, Rate, require_points

FLOOR = 1e-3
"""The lowest score of a window that was verified; all others are below it, and so below every threshold."""
LARGEST_GATE = 20.0
"""Largest size of a gate's logit: beyond it, scores have too few digits."""


@dataclass(frozen=True)
class Fusion:
    """A logistic regression: the fused logit is ``bias + stage_one * s + embedding * e + phonemes * p``.

    ``s`` and ``e`` are the logits of the first stage and of the embedding's head. ``p``, how well the keyword's phonemes
    fit, is at most 0, so without it the sum is an upper bound.
    """

    bias: float
    stage_one: float
    """Weight of the first stage's logit."""
    embedding: float
    """Weight of the head's logit."""
    phonemes: float
    """Weight of the phonemes' score; at least 0."""
    phoneme_floor: float
    """The phonemes' score is never below minus this number, which is also its value if they are not looked at."""
    phoneme_gate: float
    """The phonemes are looked at only if the sum without them reaches this logit."""

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, vars(self).values())):
            raise ConfigError(f"expected finite numbers in the fusion of two stages, got {self}")
        if self.phonemes < 0 or self.phoneme_floor < 0:
            raise ConfigError(
                f"expected a weight and a floor of the phonemes of at least 0, got {self.phonemes} and {self.phoneme_floor}"
            )

    def upper(self, stage_one: float, embedding: float) -> float:
        """The highest fused logit that these two logits allow."""
        return self.bias + self.stage_one * stage_one + self.embedding * embedding

    def score(self, upper: float, phonemes: float | None) -> float:
        """The fused score, ``FLOOR`` to 1; ``phonemes``: their score, ``None`` if they were not looked at."""
        lowest = -self.phoneme_floor
        fit = lowest if phonemes is None else min(0.0, max(lowest, phonemes))
        return fused_score(upper + self.phonemes * fit)


def fused_score(logit: float) -> float:
    """The score of a window that was verified, ``FLOOR`` to 1."""
    return max(FLOOR, score_of_logit(logit))


def unverified_score(logit: float, gate: float) -> float:
    """The score of a window that is not verified, below ``FLOOR``: rises with its logit, which is below the gate."""
    return min(FLOOR * score_of_logit(logit) / score_of_logit(gate), math.nextafter(FLOOR, 0))


_MAX_SPAN = 200
"""Frames: two seconds."""
MAX_PHONEME_STEP = 32
"""Frames."""
_MAX_PARTS = 64
"""Most variants of a word, near words, phonemes of a variant, and tokens of a phoneme: a file must not decide how much work
is done."""

Variant = tuple[tuple[str, ...], ...]
"""One way to say a word: its phonemes, each as the tokens of the recogniser that may stand for it."""
TokenLosses = tuple[tuple[float, ...], ...]
"""What each token of a variant costs, in its shape: 0 for the token that is heard most often, more for rarer ones."""


@dataclass(frozen=True)
class VerifierCard:
    """The second stage of a model: when it looks, with which networks, and how its evidence is weighed."""

    gate: float
    """Logit of the first stage from which on a window is looked at again."""
    span: int
    """Frames for which every window is looked at after one that reached the gate."""
    embedding_digest: str
    """SHA-256, in hex, of the embedding network that the head was trained on."""
    fusion: Fusion
    self_test: float
    """The logit that the head must give for two seconds of ``self_test_signal``."""
    phonemes_digest: str | None = None
    """SHA-256, in hex, of the phoneme recogniser; ``None`` if none is used."""
    phonemes: tuple[Variant, ...] = ()
    """The ways to say the word; none: no phonemes are looked at."""
    phoneme_losses: tuple[TokenLosses, ...] = ()
    """What their tokens cost; none: nothing."""
    candidates_per_hour: Rate | None = None
    """How often in other speech the gate is passed, if measured: runs of windows that are looked at."""
    stage_one_points: tuple[OperatingPoint, ...] = ()
    """The operating points of the first stage alone, for use without the second."""
    stage_one_default: str | None = None
    """Name of the one to use when none is chosen."""
    phoneme_step: int = 0
    """The phonemes are heard up to the last multiple of this number of frames, so that windows share what is heard; 0: up
    to the end of the window."""
    quick_digest: str | None = None
    """SHA-256, in hex, of the quick recogniser; ``None`` if the recogniser is asked without it."""
    quick_gate: float = 0.0
    """How well the quick recogniser must hear the word, at most 0, before the recogniser is asked."""
    opinion_digest: str | None = None
    """SHA-256, in hex, of a recogniser that is asked for a second opinion where the first one finds the word; ``None`` for
    none."""
    near: tuple[Variant, ...] = ()
    """Other words that sound like the word: where one of them is said, the phonemes fit as badly as they can."""
    near_losses: tuple[TokenLosses, ...] = ()
    """What their tokens cost; none: nothing."""
    data: str = field(default="", kw_only=True)
    """What gate, head and fusion were chosen on."""

    @property
    def late(self) -> int:
        """Frames after a word in which it may be looked at first: what the quick recogniser hears 0.28 s late counts from
        the next step of the phonemes on."""
        return self.phoneme_step + 28 if self.quick_digest is not None else 0

    @property
    def by_phonemes_alone(self) -> bool:
        """Whether phonemes count, and neither the first stage nor the head: any sound is a candidate."""
        return self.fusion.stage_one == self.fusion.embedding == 0 < self.fusion.phonemes

    def __post_init__(self) -> None:
        number(self.gate, "the logit of the gate", -LARGEST_GATE, LARGEST_GATE)
        integer(self.span, "the span of the second stage", 1, _MAX_SPAN, unit=" frames")
        integer(self.phoneme_step, "the step of the phonemes", 0, MAX_PHONEME_STEP, unit=" frames")
        number(self.self_test, "the logit of the head's self-test", -MAX_LOGIT, MAX_LOGIT)
        number(self.quick_gate, "the gate of the quick recogniser", -MAX_LOGIT, 0)
        for digest in (self.embedding_digest, self.phonemes_digest, self.quick_digest, self.opinion_digest):
            if digest is not None and not re.fullmatch("[0-9a-f]{64}", digest):
                raise ConfigError(f"expected a SHA-256 digest of 64 hex digits, got {shortened(repr(digest))}")
        if (self.phonemes or self.near) and self.phonemes_digest is None:
            raise ConfigError("expected the digest of the phoneme recogniser with the word's phonemes, got none")
        _check_ways(self.phonemes, self.phoneme_losses)
        _check_ways(self.near, self.near_losses)
        require_name("the data of the second stage", self.data, MAX_TEXT)
        require_points(self.stage_one_points, self.stage_one_default, of=" of the first stage")


def _check_ways(ways: tuple[Variant, ...], losses: tuple[TokenLosses, ...]) -> None:
    """``ConfigError`` for too many or empty ways to say words, tokens without a name, and losses of another shape."""
    sizes = [len(ways), *map(len, ways), *(len(phoneme) for way in ways for phoneme in way)]
    if max(sizes) > _MAX_PARTS or 0 in sizes[1:]:
        raise ConfigError(f"expected 1 to {_MAX_PARTS} phonemes in a variant and tokens in each, got {shortened(ways)}")
    for token in {token for way in ways for phoneme in way for token in phoneme}:
        require_name("a token of a phoneme", token)
    shapes = [[tuple(map(len, way)) for way in of_words] for of_words in (ways, losses)]
    if losses and shapes[0] != shapes[1]:
        raise ConfigError(f"expected a loss for each token of the word's phonemes, got {shortened(losses)}")
    for loss in (loss for way in losses for phoneme in way for loss in phoneme):
        number(loss, "the loss of a token", 0, MAX_LOGIT)


def require_above_floor(threshold: float, word: str) -> None:
    """``ConfigError`` for a threshold that windows reach without verification."""
    if threshold < FLOOR:
        raise ConfigError(
            f"expected a threshold of at least {FLOOR:g} for '{word}', whose model has a second stage, got {threshold}; "
            "or run it without that stage"
        )
