"""Every setting of a training run, from defaults, a TOML file and the command line."""

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, get_origin, get_type_hints

from wakeword.base.errors import ConfigError, naming, raising
from wakeword.format.card import DEFAULT_HOP, MAX_WINDOW
from wakeword.format.card_checks import require_entries, require_name
from wakeword_tools.engines.languages import ENGLISH, language_named
from wakeword_train.data.augment import AugmentationConfig
from wakeword_train.data.mining import MiningConfig
from wakeword_train.data.weights import MixConfig
from wakeword_train.fields import MANY, Averaging, Count, CountOrZero, LearningRate, WeightDecay, Within, check_fields
from wakeword_train.methods.losses import AdversaryConfig
from wakeword_train.methods.registry import DEFAULT_METHOD, method_named
from wakeword_train.model.network import Pooling
from wakeword_train.second_stage_config import SecondStageConfig
from wakeword_train.synthesis_config import StudentConfig, SynthesisConfig


@dataclass(frozen=True)
class NetworkConfig:
    """The network's shape."""

    hidden_size: Count = 96
    pooling: Pooling = "attention"
    window: Annotated[int, Within(DEFAULT_HOP, MAX_WINDOW)] = 96
    """Frames of one window, 100 a second."""
    stack: Annotated[int, Within(1, DEFAULT_HOP)] = 8
    """Frames that the LSTM takes as one step. The recurrent work, most of the cost, is divided by this number. 8 frames
    are one hop, the most that the default hop allows."""
    stem: CountOrZero = 80
    """Width of a rectified layer that reads each step before the LSTM; 0 for none. It costs next to nothing, because
    overlapping windows share it, and lets the LSTM take long steps."""
    dropout: Annotated[float, Within(0.0, 0.99)] = 0.1

    def __post_init__(self) -> None:
        check_fields(self)
        if self.window % self.stack or DEFAULT_HOP % self.stack:
            raise ConfigError(
                f"expected a stack that divides the window ({self.window} frames) and the hop ({DEFAULT_HOP}), "
                f"got {self.stack}"
            )


@dataclass(frozen=True)
class ScheduleConfig:
    """How long and how fast to train."""

    warmup_epochs: int = 10
    """Epochs of plain cross-entropy before the adversary starts."""
    epochs: Count = 20
    """All epochs, the warm-up included."""
    steps_per_epoch: Count = 50
    batch_size: Annotated[int, Within(8, MANY)] = 192
    reuse: Count = 4
    """Batches in which a window is used on average, each time with another microphone, another vocal tract and other
    masks. Its place, speed, room and noise, which take several times longer than a training step, are then kept; 1 draws
    new ones for every batch."""
    learning_rate: LearningRate = 2e-3
    weight_decay: WeightDecay = 1e-4
    patience: Count = 20
    """Epochs after ``choose_after`` without a better validation score before training stops."""
    choose_after: Annotated[float, Within(0.0, 0.999)] = 0.7
    """Share of all epochs after which the best is chosen by validation. Earlier the learning rate is high and the weights
    still move far: if validation clips are mostly synthetic, an early epoch that scores well on them is worse on people."""
    averaging: Averaging = 0.99
    """Decay per step of the running average of the weights that is validated and exported; 0 turns it off."""

    def __post_init__(self) -> None:
        check_fields(self, warmup_epochs=(0, self.epochs))


@dataclass(frozen=True)
class TrainConfig:
    """One training run."""

    keyword: str = ""
    language: str = ENGLISH
    """Language that the keyword, its close words and the other words are read in: any of espeak-ng, as ``de`` or ``zh``."""
    method: str = DEFAULT_METHOD
    seed: int = 0
    licence: str = "unknown"
    split: Literal["published", "dealt"] = "published"
    """``published``: the lists or the hash rule of Speech Commands. ``dealt``: its speakers dealt out again,
    for an excerpt that holds only one of the published splits."""
    validation_share: float = 0.15
    """Share of the speakers of ``dealt`` data and of plain folders who go to the validation split."""
    test_share: float = 0.15
    """As ``validation_share``, for the test split."""
    background_evidence: Annotated[float, Within(1e-6, 1 - 1e-6)] = 0.5
    """Share of the background's speakers that the first stage is not trained on, so that their speech can show how often
    the model fires; the head of a second stage learns from all of them. Without a second stage ``validation_share`` and
    ``test_share`` count."""
    background_folds: int = 0
    """Parts of the speakers of the background that the first stage is trained on: it is trained once more without each,
    to judge that part, if there is a second stage. So all background is evidence, however small ``background_evidence``,
    but for people who also say words. 0: once is enough."""
    encoder: str = ""
    """Encoder to begin with: the name of one in ``assets/encoders``, or a file (.npz); an untrained one if empty."""
    starter_pack: str = ""
    """Background that needs no recordings: ``starter`` for the features of speech that the extra ``train`` installs, or a
    file that ``python -m scripts.make_pack`` wrote; none if empty. A student for microWakeWord's engines hears the first,
    whatever this is. ``background_evidence`` is also the share of its
    speakers that the first stage is not trained on."""
    hold_out_recorded: bool = False
    """Keep every recorded positive, and all other clips of its speakers, for the test."""
    network: NetworkConfig = field(default_factory=NetworkConfig)
    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    mix: MixConfig = field(default_factory=MixConfig)
    mining: MiningConfig = field(default_factory=MiningConfig)
    augmentation: AugmentationConfig = field(default_factory=AugmentationConfig)
    adversary: AdversaryConfig = field(default_factory=AdversaryConfig)
    own: object = None
    """The method's own settings, of the class ``Method.settings``; ``None`` for their defaults or where it has none.
    In TOML it is the table of the method's name."""
    synthesis: SynthesisConfig = field(default_factory=SynthesisConfig)
    second_stage: SecondStageConfig = field(default_factory=SecondStageConfig)
    student: StudentConfig = field(default_factory=StudentConfig)

    def __post_init__(self) -> None:
        # What the card will hold, before hours of training and not after them.
        require_name("a keyword", self.keyword)
        require_name("a licence", self.licence)
        if language_named(self.language) != self.language:
            raise ConfigError(f"expected the language as {language_named(self.language)!r}, got {self.language!r}")
        require_entries("the configuration", dataclasses.asdict(self))
        method = method_named(self.method)
        method.check_warmup(self.schedule.warmup_epochs)
        method.own_settings(self.own)
        check_fields(self)
        if self.background_folds < 0 or self.background_folds == 1:
            raise ConfigError(f"expected background_folds of 2 or more, or 0, got {self.background_folds}")
        if min(self.validation_share, self.test_share) <= 0 or self.validation_share + self.test_share >= 1:
            raise ConfigError(
                "expected validation_share and test_share above 0 with a sum below 1, "
                f"got {self.validation_share} and {self.test_share}"
            )

    @property
    def first_stages(self) -> int:
        """How often a run trains the first stage: once, and once more without each of ``background_folds``."""
        return 1 + self.background_folds * self.second_stage.enabled


def read_config(path: Path | str) -> TrainConfig:
    """Read a TOML file; settings it does not name keep their defaults. ``ConfigError`` for unknown or wrong settings.

    ``base`` names another file, relative to this one: this one then changes the settings in it.
    """
    raw = read_tables(Path(path))
    with naming(path, ConfigError):
        return build_config(raw)


def read_tables(path: Path) -> dict[str, Any]:
    """The tables of a TOML file over the tables of its ``base``. ``ConfigError`` for a file that cannot be read."""
    raw = _toml(path)
    if "base" not in raw:
        return raw
    base = raw.pop("base")
    under = _toml(path.parent / base) if isinstance(base, str) else {"base": base}
    if "base" in under:
        raise ConfigError(f"{path}: expected base to be the name of a file that has none itself, got {base!r}")
    return merged(under, raw)


def _toml(path: Path) -> dict[str, Any]:
    # ValueError: neither TOML, nor UTF-8, nor the name of any file.
    with raising(ConfigError, f"{path}: expected a training configuration in TOML, got", OSError, ValueError):
        return tomllib.loads(path.read_text(encoding="utf-8"))


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """``base`` with ``changes``, table by table."""
    result = dict(base)
    for name, value in changes.items():
        under = result.get(name)
        result[name] = merged(under, value) if isinstance(value, dict) and isinstance(under, dict) else value
    return result


def build_config(raw: dict[str, Any]) -> TrainConfig:
    """A configuration from the tables of TOML. ``ConfigError`` for unknown or wrong settings."""
    name = raw.get("method", DEFAULT_METHOD)
    settings = None
    own = method_named(name).settings if isinstance(name, str) and name in raw else None
    if own is not None:
        if not isinstance(raw[name], dict):
            raise ConfigError(f"expected {name} to be a table, got {raw[name]!r}")
        settings = _build(own, raw[name], f"{name}.")
        raw = {key: value for key, value in raw.items() if key != name}
    config: TrainConfig = _build(TrainConfig, raw, "")
    return config if settings is None else dataclasses.replace(config, own=settings)


def _build(cls: type[Any], raw: dict[str, Any], place: str) -> Any:
    """A dataclass from a TOML table, with its types checked."""
    fields = {name: kind for name, kind in get_type_hints(cls).items() if kind is not object}
    values: dict[str, Any] = {}
    for key, value in raw.items():
        name = f"{place}{key}"
        if key not in fields:
            raise ConfigError(f"unknown setting {name!r}; known are: {', '.join(fields)}")
        wanted = fields[key]
        if isinstance(wanted, type) and dataclasses.is_dataclass(wanted):
            if not isinstance(value, dict):
                raise ConfigError(f"expected {name} to be a table, got {value!r}")
            values[key] = _build(wanted, value, f"{name}.")
        elif wanted is float and isinstance(value, int) and not isinstance(value, bool):
            values[key] = float(value)
        elif wanted == tuple[str, ...] and isinstance(value, list) and all(isinstance(v, str) for v in value):
            values[key] = tuple(value)
        elif type(value) is wanted or get_origin(wanted) is Literal:  # which its class checks
            values[key] = value
        else:
            raise ConfigError(f"expected {name} to be of type {getattr(wanted, '__name__', wanted)}, got {value!r}")
    return cls(**values)
