"""The phases of a training run, as a display names them."""

from collections.abc import Callable
from enum import StrEnum

from wakeword.batch.jobs.work import Report
from wakeword_train.config import TrainConfig


class Phase(StrEnum):
    """What a run does, in this order; a run may lack some."""

    SPEECH = "making speech"
    NATURAL = "making natural speech"
    READING = "reading recordings"
    FIRST = "training the first stage"
    LISTENING = "listening to the clips"
    SECOND = "training the second stage"
    MEASURING = "measuring"


Watch = Callable[[Phase, float], None]
"""Called with the phase and the share of it that is done, 0..1."""


def times_first_stage(config: TrainConfig) -> int:
    """How often a run trains the first stage."""
    return 1 + config.background_folds * config.second_stage.enabled


def nobody(phase: Phase, done: float) -> None:
    """Watches nothing."""


def counted(watch: Watch, phase: Phase, total: float) -> Report:
    """Tells ``watch`` of a phase as work of the size ``total`` goes on."""
    done = 0.0

    def report(size: float, seconds: float) -> None:
        nonlocal done
        done += size
        watch(phase, done / total)

    return report
