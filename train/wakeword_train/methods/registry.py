"""The training methods by name: one record each, with all that the rest of the package needs to know about it."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from wakeword.base.errors import ConfigError
from wakeword_tools.registered import registered
from wakeword_train.methods.losses import AdversaryConfig, DroccLoss, Loss, cross_entropy, one_class_cross_entropy

ENTRY_POINTS = "wakeword.methods"
"""Group of entry points for the methods of installed packages: a name and its ``Method``."""

DEFAULT_METHOD = "bce"


@dataclass(frozen=True)
class LossSettings:
    """What a method's loss is made from; each method uses what it needs."""

    adversary: AdversaryConfig = field(default_factory=AdversaryConfig)
    own: Any = None
    """The method's own settings, of the class ``Method.settings``."""


@dataclass(frozen=True)
class Method:
    """A training method."""

    name: str
    loss: Callable[[LossSettings], Loss]
    """Makes the loss, anew for each epoch."""
    warmup: Loss | None = cross_entropy
    """What trains the network in the warm-up's epochs; ``None`` for the method's own loss."""
    one_class: bool = False
    """Whether the method never uses a negative."""
    settings: type[Any] | None = None
    """A frozen dataclass of its own settings, which checks itself; in a configuration the table of the method's name."""
    head: Callable[[Any, int], nn.Module] | None = None
    """Makes its own head from its settings and the number of features: ``(batch, features) -> (batch, 1)``, with a method
    ``graph`` for the export (``network.MethodHead``). ``None``: a linear one."""
    pretrain: Callable[..., float] | None = None
    """Replaces the warm-up epochs, if given: a network, and batches of inputs ``(batch, ...)`` and labels ``(batch,)`` of
    these epochs -> the last batch's error. It also takes ``learning_rate`` by name, which has a default."""

    def check_warmup(self, epochs: int) -> None:
        """Raise ``ConfigError`` if this number of warm-up epochs is too small for the method."""
        if self.pretrain is not None and epochs == 0:
            raise ConfigError(
                f"expected warmup_epochs >= 1 for {self.name}, which pre-trains its encoder in them, got 0"
            )

    def own_settings(self, given: object) -> Any:
        """What ``given`` holds, or the defaults for ``None``. ``ConfigError`` for settings of another method."""
        if given is None:
            return None if self.settings is None else self.settings()
        if self.settings is None or not isinstance(given, self.settings):
            raise ConfigError(f"expected settings of method {self.name}, got {given!r}")
        return given

    def head_maker(self, own: object) -> Callable[[int], nn.Module] | None:
        """Number of features -> its head, with its own settings or ``None`` for their defaults; ``None``: a linear one."""
        return None if self.head is None else functools.partial(self.head, self.own_settings(own))


METHODS = (
    Method("drocc-lf", lambda settings: DroccLoss(settings.adversary, "learned")),
    Method("drocc-oe", lambda settings: DroccLoss(settings.adversary, "euclidean")),
    Method(DEFAULT_METHOD, lambda settings: cross_entropy, warmup=None),
    Method(
        "drocc",
        lambda settings: DroccLoss(settings.adversary, "euclidean", one_class=True),
        warmup=one_class_cross_entropy,
        one_class=True,
    ),
)
"""The methods that come with the package."""


def method_named(name: str) -> Method:
    """The method of that name: one of ``METHODS``, or of those that installed packages offer.

    Raises ``ConfigError`` for an unknown name and for an entry point that does not give a method of its name.
    """
    return registered(name, METHODS, ENTRY_POINTS, "method")
