"""Training of wake-word models. The only part of the project that imports torch."""

from wakeword_tools.kinds import Kind, Split
from wakeword_train.config import TrainConfig, read_config
from wakeword_train.data.clips import Clip
from wakeword_train.fitting import FitConfig, fit_tensors
from wakeword_train.methods.deepsad import DeepSadConfig, DistanceNetwork
from wakeword_train.methods.drocc import find_adversaries, sensitivity
from wakeword_train.methods.losses import AdversaryConfig, DroccLoss, Loss
from wakeword_train.methods.projection import project_to_shell
from wakeword_train.methods.registry import METHODS, LossSettings, Method, make_loss, method_named
from wakeword_train.training import DataFolders, TrainingResult, train

__all__ = [
    "METHODS",
    "AdversaryConfig",
    "Clip",
    "DataFolders",
    "DeepSadConfig",
    "DistanceNetwork",
    "DroccLoss",
    "FitConfig",
    "Kind",
    "Loss",
    "LossSettings",
    "Method",
    "Split",
    "TrainConfig",
    "TrainingResult",
    "find_adversaries",
    "fit_tensors",
    "make_loss",
    "method_named",
    "project_to_shell",
    "read_config",
    "sensitivity",
    "train",
]
