"""Settings of the second stage's training."""

from dataclasses import dataclass

from wakeword.base.errors import ConfigError
from wakeword_train.methods.registry import method_named


@dataclass(frozen=True)
class SecondStageConfig:
    """How the second stage of a model is trained. The first stage's settings give its augmentation and adversary.

    36 % of a head's batch are positive, and 25 % of a first stage's: a ``mu`` per batch weighs more by that ratio.
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
        if not 0 <= self.warmup_epochs <= self.epochs:
            raise ConfigError(f"expected 0 <= warmup_epochs <= epochs of the second stage, got {self}")
        counts = (self.units, self.epochs, self.steps_per_epoch, self.mined, self.looks, self.span)
        if min(counts) < 1 or self.batch_size < 16 or self.mining_rounds < 0 or self.folds < 2:
            raise ConfigError(
                "expected units, epochs, steps, mined, looks and span of at least 1, a batch of 16, mining_rounds of 0 and "
                f"2 folds or more, got {self}"
            )
        if not 0 <= self.dropout < 1 or not 0 <= self.embedding_noise <= 10:
            raise ConfigError(
                "expected a dropout of 0 to below 1 and embedding_noise of 0 to 10 of the second stage, got "
                f"{self.dropout:g} and {self.embedding_noise:g}"
            )
        if self.learning_rate <= 0 or not 0 < self.least_candidates <= self.most_candidates:
            raise ConfigError(
                f"expected learning_rate > 0 and 0 < least_candidates <= most_candidates of the second stage, got {self}"
            )
