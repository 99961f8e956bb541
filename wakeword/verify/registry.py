"""The verifiers that installed packages add to second stages, by entry points."""

import math

from wakeword.base.errors import ModelError
from wakeword.base.text import shortened
from wakeword.format.verifier_card import AddedVerifier
from wakeword.verify.verifier import LOOK_SAMPLES, Verifier

ENTRY_POINTS = "wakeword.verifiers"
"""Group of entry points: the kind of a verifier, and the function that makes it from the settings on a card."""


def make_verifier(card: AddedVerifier) -> Verifier:
    """The verifier that a card lists. ``ModelError`` if no installed package has its kind or can make it."""
    # Imported here: it takes 15 ms, and most models have no such verifier.
    from importlib.metadata import entry_points

    offered = entry_points(group=ENTRY_POINTS)
    if card.kind not in offered.names:
        raise ModelError(
            f"expected the package of the verifier {shortened(repr(card.kind))}, installed are: "
            f"{', '.join(sorted(offered.names)) or 'none'}; install it, or run the model without its second stage"
        )
    try:
        verifier: Verifier = offered[card.kind].load()(dict(card.settings))
        usable = 0 < verifier.samples <= LOOK_SAMPLES and not math.isnan(verifier.bound + verifier.cost)
    except Exception as error:  # a package can raise any exception
        raise ModelError(f"verifier {card.kind}: could not make it: {error}") from error
    if not usable:
        raise ModelError(
            f"verifier {card.kind}: expected 1 to {LOOK_SAMPLES} samples, and a bound and a cost that are numbers, got "
            f"{verifier.samples}, {verifier.bound} and {verifier.cost}"
        )
    return verifier
