"""The verifiers of installed packages."""

import math

from wakeword.base.errors import ModelError
from wakeword.base.plugins import load_plugin, plugin_names
from wakeword.base.text import shortened
from wakeword.format.verifier_card import AddedVerifier
from wakeword.verify.verifier import LOOK_SAMPLES, Verifier

ENTRY_POINTS = "wakeword.verifiers"
"""Group of entry points: the kind of a verifier, and the function that makes it from the settings on a card."""


def make_verifier(card: AddedVerifier) -> Verifier:
    """The verifier that a card lists. ``ModelError`` if no installed package has its kind or can make it."""
    make = load_plugin(ENTRY_POINTS, card.kind, ModelError)
    if make is None:
        raise ModelError(
            f"expected the package of the verifier {shortened(repr(card.kind))}, installed are: "
            f"{', '.join(plugin_names(ENTRY_POINTS)) or 'none'}; install it, or run the model without its second stage"
        )
    try:
        verifier: Verifier = make(dict(card.settings))
        usable = 0 < verifier.samples <= LOOK_SAMPLES and not math.isnan(verifier.bound + verifier.cost)
    except Exception as error:  # a package can raise any exception
        raise ModelError(f"verifier {card.kind}: could not make it: {error}") from error
    if not usable:
        raise ModelError(
            f"verifier {card.kind}: expected 1 to {LOOK_SAMPLES} samples, and a bound and a cost that are numbers, got "
            f"{verifier.samples}, {verifier.bound} and {verifier.cost}"
        )
    return verifier
