"""The public names, each with its module: type checkers read this file, and so does lazy_loader at run time."""

from .config import TrainConfig as TrainConfig
from .config import read_config as read_config
from .enrolment import enrol_model as enrol_model
from .from_text import model_from_text as model_from_text
from .methods.losses import AdversaryConfig as AdversaryConfig
from .methods.losses import DroccLoss as DroccLoss
from .methods.registry import LossSettings as LossSettings
from .methods.registry import Method as Method
from .model.two_stage import shipped_digests as shipped_digests
from .model.two_stage import with_verifier as with_verifier
from .pipeline import train_model as train_model
from .recipe import default_recipe as default_recipe
from .report.verdict import Verdict as Verdict
from .report.verdict import verdict as verdict
from .training import TrainingResult as TrainingResult
from .training_run import DataFolders as DataFolders
from .training_run import EpochReport as EpochReport
from .training_run import Phase as Phase
from .training_run import TrainingEvents as TrainingEvents
