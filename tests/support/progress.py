"""What a test hears of long work."""

from wakeword_train.training_run import Phase, TrainingEvents


class Shares(TrainingEvents):
    """How much of a phase was done each time that it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.done = list[float]()

    def phase(self, phase: Phase, done: float) -> None:
        """See ``TrainingEvents``."""
        self.done.append(done)
