"""The training methods by name: one record each, with all that the rest of the package needs to know about it."""

import dataclasses
import importlib.metadata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from torch import Tensor, nn

from wakeword.base.errors import ConfigError
from wakeword_train.methods.deepsad import DeepSadConfig, DeepSadLoss, pretrain
from wakeword_train.methods.losses import AdversaryConfig, BinaryCrossEntropy, DroccLoss, Loss, OneClassCrossEntropy

ENTRY_POINTS = "wakeword.methods"
"""Group of entry points for the methods of installed packages: a name and its ``Method``."""

DEFAULT_METHOD = "bce"


@dataclass(frozen=True)
class LossSettings:
    """What a method's loss is made from; each method uses what it needs."""

    adversary: AdversaryConfig = field(default_factory=AdversaryConfig)
    deepsad: DeepSadConfig = field(default_factory=DeepSadConfig)
    metric: Tensor | None = None
    """A metric that all rows share, of the shape of one row; see ``Method.shares_metric``."""
    checked_rows: int = 0
    """Positives of an epoch's first batch on which the adversary is compared with a finer search, for its health."""


class Pretraining(Protocol):
    """Prepares a network before the first epoch; see ``deepsad.pretrain``."""

    def __call__(
        self, network: nn.Module, batches: Iterable[tuple[Tensor, Tensor]], *, learning_rate: float = ...
    ) -> float:
        """Inputs ``(batch, ...)`` and labels ``(batch,)`` of the warm-up's epochs -> the last batch's error."""
        ...


@dataclass(frozen=True)
class Method:
    """A training method."""

    name: str
    loss: Callable[[LossSettings], Loss]
    """Makes the loss; called once for each epoch if ``shares_metric``."""
    warmup: Loss | None = field(default_factory=BinaryCrossEntropy)
    """What trains the network in the warm-up's epochs; ``None`` for the method's own loss."""
    one_class: bool = False
    """Whether the method never uses a negative."""
    shares_metric: bool = False
    """Whether its loss takes ``LossSettings.metric``, with ``AdversaryConfig.sigma_refresh = "epoch"``."""
    distance_head: bool = False
    """Whether it needs a network whose logit is minus a squared distance (``deepsad.DistanceHead``)."""
    pretrain: Pretraining | None = None
    """Replaces the warm-up epochs, if given."""

    def check_warmup(self, epochs: int) -> None:
        """Raise ``ConfigError`` if this number of warm-up epochs is too small for the method."""
        if self.pretrain is not None and epochs == 0:
            raise ConfigError(
                f"expected warmup_epochs >= 1 for {self.name}, which pre-trains its encoder in them, got 0"
            )

    def takes_metric(self, adversary: AdversaryConfig) -> bool:
        """Whether these settings ask for one metric for all rows of an epoch."""
        return self.shares_metric and adversary.sigma_refresh == "epoch"


def _drocc_lf(settings: LossSettings) -> Loss:
    return DroccLoss(
        settings.adversary,
        metric="learned" if settings.metric is None else settings.metric,
        checked_rows=settings.checked_rows,
    )


def _drocc_oe(settings: LossSettings) -> Loss:
    return DroccLoss(settings.adversary, metric="euclidean", checked_rows=settings.checked_rows)


def _bce(settings: LossSettings) -> Loss:
    return BinaryCrossEntropy()


def _deepsad(settings: LossSettings) -> Loss:
    return DeepSadLoss(settings.deepsad)


def _drocc(settings: LossSettings) -> Loss:
    return DroccLoss(settings.adversary, metric="euclidean", one_class=True, checked_rows=settings.checked_rows)


def _drocc_rand(settings: LossSettings) -> Loss:
    """``drocc`` without ascent: random points of the shell."""
    return _drocc(dataclasses.replace(settings, adversary=dataclasses.replace(settings.adversary, steps=0)))


_BUILT_IN = (
    Method("drocc-lf", _drocc_lf, shares_metric=True),
    Method("drocc-oe", _drocc_oe),
    Method(DEFAULT_METHOD, _bce, warmup=None),
    Method("deepsad", _deepsad, warmup=None, distance_head=True, pretrain=pretrain),
    Method("drocc", _drocc, warmup=OneClassCrossEntropy(), one_class=True),
    Method("drocc-rand", _drocc_rand, warmup=OneClassCrossEntropy(), one_class=True),
)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _BUILT_IN})
"""The methods that come with the package, by name."""


def method_named(name: str) -> Method:
    """The method of that name: one of ``METHODS``, or of those that installed packages offer.

    Raises ``ConfigError`` for an unknown name and for an entry point that does not give a method of its name.
    """
    if name in METHODS:
        return METHODS[name]
    offered = importlib.metadata.entry_points(group=ENTRY_POINTS)
    if name not in offered.names:
        known = [*METHODS, *sorted(offered.names - METHODS.keys())]
        raise ConfigError(f"expected method {', '.join(known)}, got {name!r}")
    entry = offered[name]
    try:
        method = entry.load()
    except Exception as error:  # importing a package can raise any exception
        raise ConfigError(f"method {name}: could not load {entry.value}: {error}") from error
    if not isinstance(method, Method) or method.name != name:
        raise ConfigError(f"method {name}: expected {entry.value} to be the Method of that name, got {method!r}")
    return method


def make_loss(
    method: str,
    adversary: AdversaryConfig,
    *,
    deepsad: DeepSadConfig | None = None,
    shared_metric: Tensor | None = None,
) -> Loss:
    """The loss of the method of that name. Raises ``ConfigError`` as ``method_named`` does.

    ``shared_metric``, of the shape of one row, replaces each row's own if the method can share one.
    """
    return method_named(method).loss(LossSettings(adversary, deepsad or DeepSadConfig(), shared_metric))
