"""Settings of the second stage's training."""

from dataclasses import dataclass

from wakeword_train.fields import ABOVE_ZERO, MANY, RATES, check_fields
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
    units: int = 64
    """Width of the head's projection and of its recurrent layer."""
    dropout: float = 0.2
    """Share of the head's units that a step of training leaves out, after the projection and before the last layer."""
    embedding_noise: float = 0.0
    """Noise on the embeddings of a look in training: its deviation is drawn between 0 and this number of theirs."""
    epochs: int = 24
    """Epochs of training the head, spread evenly over the rounds of mining."""
    warmup_epochs: int = 16
    """Those before the method's own loss."""
    steps_per_epoch: int = 40
    batch_size: int = 256
    learning_rate: float = 2e-3
    mining_rounds: int = 2
    """Rounds of searching the looks of the background that both stages like best."""
    mined: int = 4_000
    """Looks kept from each round."""
    looks: int = 1_500
    """Augmented looks at recorded positives, at least; a recording gives at most 40."""
    folds: int = 3
    """Heads that are trained without a part of the speakers each, to score these."""
    span: int = 64
    """Frames for which windows are looked at after one that reached the gate."""
    least_candidates: float = 100.0
    most_candidates: float = 200.0
    """Range of the candidates per hour of background within which the gate is chosen."""
    phonemes: bool = True
    """Use the phoneme recogniser."""

    def __post_init__(self) -> None:
        method_named(self.method).check_warmup(self.warmup_epochs)
        check_fields(
            self,
            " of the second stage",
            units=(1, MANY),
            dropout=(0.0, 0.99),
            embedding_noise=(0.0, 10.0),
            epochs=(1, MANY),
            warmup_epochs=(0, self.epochs),
            steps_per_epoch=(1, MANY),
            batch_size=(16, MANY),
            learning_rate=RATES["learning_rate"],
            mining_rounds=(0, MANY),
            mined=(1, MANY),
            looks=(1, MANY),
            folds=(2, MANY),
            span=(1, MANY),
            most_candidates=(ABOVE_ZERO, 1e9),
            least_candidates=(ABOVE_ZERO, self.most_candidates),
        )
