"""``drocc-rand``: DROCC without ascent, so with random points of the shell in place of adversaries."""

import dataclasses

from wakeword_train.methods.losses import Loss
from wakeword_train.methods.registry import LossSettings, method_named

_DROCC = method_named("drocc")


def _loss(settings: LossSettings) -> Loss:
    return _DROCC.loss(dataclasses.replace(settings, adversary=dataclasses.replace(settings.adversary, steps=0)))


DROCC_RAND = dataclasses.replace(_DROCC, name="drocc-rand", loss=_loss)
