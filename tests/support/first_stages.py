"""The training of a first stage alone, from folders to its file."""

from pathlib import Path

from wakeword_train.config import TrainConfig
from wakeword_train.training import TrainingResult, train_first_stage
from wakeword_train.training_run import DataFolders, TrainingEvents, TrainingRun


def train(
    config: TrainConfig,
    data: DataFolders,
    out: Path,
    *,
    events: TrainingEvents | None = None,
) -> TrainingResult:
    """``train_first_stage`` of a run of these settings, in the folder of ``out``."""
    run = TrainingRun(config, data, out.parent, out.parent, events=events or TrainingEvents())
    return train_first_stage(run, out)
