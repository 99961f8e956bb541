"""Settings of the second stage's training."""

from dataclasses import dataclass
from typing import Annotated

from wakeword_train.fields import ABOVE_ZERO, MANY, Count, CountOrZero, LearningRate, Positive, Within, check_fields
from wakeword_train.methods.registry import method_named


@dataclass(frozen=True)
class SecondStageConfig:
    """How the second stage of a model is trained. The first stage's settings give its augmentation and adversary.

    36 % of a head's batch are positive, and 25 % of a first stage's: ``mu`` weighs more by that ratio.
    """

    enabled: bool = True
    """Train a second stage at all."""
    method: str = "bce"
    """As ``TrainConfig.method``, for the head."""
    units: Count = 64
    """Width of the head's projection and of its recurrent layer."""
    dropout: Annotated[float, Within(0.0, 0.99)] = 0.2
    """Share of the head's units that a step of training leaves out, after the projection and before the last layer."""
    embedding_noise: Annotated[float, Within(0.0, 10.0)] = 0.0
    """Noise on the embeddings of a look in training: its deviation is drawn between 0 and this number of theirs."""
    epochs: Count = 24
    """Epochs of training the head, spread evenly over the rounds of mining."""
    warmup_epochs: int = 16
    """Those before the method's own loss."""
    steps_per_epoch: Count = 40
    batch_size: Annotated[int, Within(16, MANY)] = 256
    learning_rate: LearningRate = 2e-3
    mining_rounds: CountOrZero = 2
    """Rounds of searching the looks of the background that both stages like best."""
    mined: Count = 4_000
    """Looks kept from each round."""
    looks: Count = 1_500
    """Augmented looks at recorded positives, at least; a recording gives at most 40."""
    folds: Annotated[int, Within(2, MANY)] = 3
    """Heads that are trained without a part of the speakers each, to score these."""
    span: Count = 64
    """Frames for which windows are looked at after one that reached the gate."""
    least_candidates: float = 100.0
    most_candidates: Positive = 200.0
    """Range of the candidates per hour of background within which the gate is chosen."""
    phonemes: bool = True
    """Use the phoneme recogniser."""

    def __post_init__(self) -> None:
        method_named(self.method).check_warmup(self.warmup_epochs)
        below = (ABOVE_ZERO, self.most_candidates)
        check_fields(self, " of the second stage", warmup_epochs=(0, self.epochs), least_candidates=below)
