"""Training of wake-word models. The only part of the project that imports torch.

The public names are imported when they are first used: ``wakeword_train.cli`` is a module of this package, and
``wakeword train --help`` must work, and quickly, where torch is not installed.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # For type checkers and editors; at run time ``_HOMES`` is used.
    from wakeword_tools.kinds import Kind, Split
    from wakeword_train.config import TrainConfig, read_config
    from wakeword_train.data.clips import Clip
    from wakeword_train.enrol import Enrolment
    from wakeword_train.enrolment import enrol_model
    from wakeword_train.fitting import FitConfig, fit_tensors
    from wakeword_train.methods.deepsad import DeepSadConfig, DistanceNetwork
    from wakeword_train.methods.drocc import AdversaryHealth, find_adversaries, sensitivity
    from wakeword_train.methods.losses import AdversaryConfig, DroccLoss, Loss
    from wakeword_train.methods.projection import project_to_shell
    from wakeword_train.methods.registry import METHODS, LossSettings, Method, make_loss, method_named
    from wakeword_train.model.two_stage import export_two_stage, shipped_digests, with_verifier
    from wakeword_train.phases import Phase
    from wakeword_train.pipeline import train_model
    from wakeword_train.recipe import default_recipe
    from wakeword_train.report.verdict import Verdict, verdict
    from wakeword_train.training import TrainingResult, train
    from wakeword_train.training_run import DataFolders, EpochReport, TrainingEvents, TrainingLines, TrainingRun

__all__ = [
    "METHODS",
    "AdversaryConfig",
    "AdversaryHealth",
    "Clip",
    "DataFolders",
    "DeepSadConfig",
    "DistanceNetwork",
    "DroccLoss",
    "Enrolment",
    "EpochReport",
    "FitConfig",
    "Kind",
    "Loss",
    "LossSettings",
    "Method",
    "Phase",
    "Split",
    "TrainConfig",
    "TrainingEvents",
    "TrainingLines",
    "TrainingResult",
    "TrainingRun",
    "Verdict",
    "default_recipe",
    "enrol_model",
    "export_two_stage",
    "find_adversaries",
    "fit_tensors",
    "make_loss",
    "method_named",
    "project_to_shell",
    "read_config",
    "sensitivity",
    "shipped_digests",
    "train",
    "train_model",
    "verdict",
    "with_verifier",
]

_HOMES = {
    "wakeword_tools.kinds": ("Kind", "Split"),
    "wakeword_train.config": ("TrainConfig", "read_config"),
    "wakeword_train.data.clips": ("Clip",),
    "wakeword_train.enrol": ("Enrolment",),
    "wakeword_train.enrolment": ("enrol_model",),
    "wakeword_train.fitting": ("FitConfig", "fit_tensors"),
    "wakeword_train.methods.deepsad": ("DeepSadConfig", "DistanceNetwork"),
    "wakeword_train.methods.drocc": ("AdversaryHealth", "find_adversaries", "sensitivity"),
    "wakeword_train.methods.losses": ("AdversaryConfig", "DroccLoss", "Loss"),
    "wakeword_train.methods.projection": ("project_to_shell",),
    "wakeword_train.methods.registry": ("METHODS", "LossSettings", "Method", "make_loss", "method_named"),
    "wakeword_train.model.two_stage": ("export_two_stage", "shipped_digests", "with_verifier"),
    "wakeword_train.phases": ("Phase",),
    "wakeword_train.pipeline": ("train_model",),
    "wakeword_train.recipe": ("default_recipe",),
    "wakeword_train.report.verdict": ("Verdict", "verdict"),
    "wakeword_train.training": ("TrainingResult", "train"),
    "wakeword_train.training_run": ("DataFolders", "EpochReport", "TrainingEvents", "TrainingLines", "TrainingRun"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, *globals()]
