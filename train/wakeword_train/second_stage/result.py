"""A trained second stage, and what both stages say of recordings that the first was not trained on."""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from wakeword.base.logistic import logit_of, score_of_logit
from wakeword.base.types import Array, Scores
from wakeword.format.verifier_card import FLOOR, VerifierCard
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.measure.scores import ScoreSet
from wakeword_tools.training_record import HEAD_ALONE_KEY
from wakeword_train.data.clips import Clip
from wakeword_train.second_stage.evidence import Evidence
from wakeword_train.second_stage.heads.fit_heads import HeadEpoch
from wakeword_train.second_stage.heads.gru_head import PointsAlone

_ROOM = 1e-3
"""Logits between the gate of the phonemes and the sums that must or must not pass it."""


@dataclass(frozen=True)
class HeldOut:
    """Clips that the first stage was not trained on, each judged by a head that was not trained on its speaker."""

    evidence: Mapping[Kind, Sequence[Evidence]]
    clips: Mapping[Kind, Sequence[Clip]]
    """The clips in the sequence of their evidence."""
    hours: float
    """Hours of background."""
    positives: Sequence[Array] = field(default=(), repr=False)
    """The sound of the positives, ``(samples,)`` each."""
    noisy: "HeldOut | None" = None
    """Some of the clips again, in noise, for the fusion: the rates of points are measured on clips as they are."""

    def of(self, kind: Kind, *, synthetic: bool | None = None) -> list[Evidence]:
        """The evidence of the clips of a kind: all, or only the synthetic or the recorded ones."""
        pairs = zip(self.evidence.get(kind, ()), self.clips.get(kind, ()), strict=True)
        return [evidence for evidence, clip in pairs if synthetic in (None, clip.synthetic)]

    def score_set(self, scores: Callable[[Evidence], Scores]) -> ScoreSet:
        """The scores of all clips; ``scores`` gives the scores of one clip's windows."""

        def clips(kind: Kind, synthetic: bool | None = None) -> Scores:
            return np.array([float(scores(evidence).max()) for evidence in self.of(kind, synthetic=synthetic)])

        people, voices = clips(Kind.POSITIVE, False), clips(Kind.POSITIVE, True)
        return ScoreSet(
            positives=people if len(people) else voices,
            negatives=clips(Kind.NEGATIVE),
            near_negatives=clips(Kind.NEAR_NEGATIVE),
            streams=[scores(evidence) for evidence in self.of(Kind.BACKGROUND)],
            hours=self.hours,
            synthetic_positives=voices if len(people) else np.zeros(0),
            only_synthetic=not len(people),
        )


@dataclass(frozen=True, kw_only=True)
class SecondStageResult:
    """A trained second stage."""

    head: bytes
    """An ONNX file."""
    card: VerifierCard
    held_out: HeldOut
    description: str
    """The held-out recordings in words."""
    fingerprint: str
    """Sixteen hex digits of them."""
    heads: Sequence[Sequence[HeadEpoch]] = ()
    """What each epoch of each head did; the last is the head of ``head``, the others are for what was held out."""
    fold_heads: Sequence[bytes] = ()
    """The heads as ONNX files, in the sequence of their folds, each trained without the recorded speakers of its fold;
    empty if they are not known."""

    alone: PointsAlone | None = None
    """How often the head alone fires: see ``points_alone``."""

    @property
    def head_training(self) -> dict[str, object] | None:
        """For the card: the last epoch of the head with its adversary, and its points alone; ``None`` if none is known."""
        if not self.heads:
            return None
        alone = {} if self.alone is None else {HEAD_ALONE_KEY: self.alone._asdict()}
        return dataclasses.asdict(self.heads[-1][-1]) | alone

    def stage_one_scores(self) -> ScoreSet:
        """The first stage's scores of the held-out recordings."""
        return self.held_out.score_set(lambda one: np.array([score_of_logit(logit) for logit in one.logits.tolist()]))

    def scores(self) -> ScoreSet:
        """The fused scores of the held-out recordings."""
        fused = self.held_out.score_set(lambda one: one.scores(self.card.gate, self.card.fusion))
        return dataclasses.replace(fused, least_threshold=FLOOR)

    def with_phoneme_gate(self, threshold: float) -> "SecondStageResult":
        """The same, looking for phonemes only where the sum without them can reach ``threshold``, a score."""
        if not self.card.phonemes:
            return self
        fusion = self.card.fusion
        gate = logit_of(max(FLOOR, threshold)) - _ROOM
        # Where the phonemes were not asked for in training, they must not be asked for in use.
        for evidence in itertools.chain(*self.held_out.evidence.values()):
            unasked = (evidence.best >= self.card.gate) & np.isnan(evidence.phonemes)
            pairs = zip(evidence.best[unasked].tolist(), evidence.embedding[unasked].tolist(), strict=True)
            gate = max([gate, *(fusion.upper(s, e) + _ROOM for s, e in pairs)])
        fusion = dataclasses.replace(fusion, phoneme_gate=round(gate, 4))
        return dataclasses.replace(self, card=dataclasses.replace(self.card, fusion=fusion))


@dataclass(frozen=True)
class StandIn:
    """A first stage of the same settings that was trained without some of the background on which the other was."""

    path: Path
    unheard: frozenset[tuple[Path, tuple[float, float] | None]]
    """Recordings or parts of them that it was not trained on."""

    @classmethod
    def of(cls, path: Path, clips: Iterable[Clip]) -> "StandIn":
        """The model file of a training with these clips."""
        held_out = [clip for clip in clips if clip.kind is Kind.BACKGROUND and clip.split is Split.VALIDATION]
        return cls(path, frozenset((clip.path, clip.part) for clip in held_out))

    def may_judge(self, clip: Clip) -> bool:
        """Whether it was not trained on a clip."""
        return clip.kind is Kind.BACKGROUND and (clip.path, clip.part) in self.unheard
