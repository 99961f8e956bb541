"""What the adversary's health says: in the line of an epoch, and as advice after a training."""

from collections.abc import Sequence
from statistics import median

from wakeword_train.methods.drocc import AdversaryHealth

CHECKED_ROWS = 16
"""Positives of each epoch on which the adversary is searched again with finer steps: about 2 % of an epoch's work."""
_SEEN_LOSS = 0.1
"""Loss below which the adversary makes little difference to training."""
_MUCH_MORE = 2.0
"""Factor from which on a finer search finds much more than the training's."""


def describe_health(health: AdversaryHealth | None) -> str:
    """The end of the line of an epoch; empty without an adversary."""
    if health is None:
        return ""
    finer = (
        ""
        if health.checked is None or health.finer is None
        else f" (checked {health.checked:.3f}, finer {health.finer:.3f})"
    )
    return (
        f"; adversary {health.inside:.0%} pushed out, {health.outside:.0%} pulled in, "
        f"loss {health.loss_before:.3f} -> {health.loss_after:.3f}{finer}"
    )


def adversary_advice(epochs: Sequence[AdversaryHealth | None], *, of: str = "") -> str | None:
    """Advice where an ascent did not raise the loss, or where shorter steps find much worse points.

    ``epochs``: the health of each, ``None`` without an adversary; ``of``: what was trained, such as " of the head".
    """
    seen = [health for health in epochs if health is not None]
    easier = sum(one.loss_after < one.loss_before for one in seen)
    if easier:
        return (
            f"in {easier} of {len(seen)} epochs{of} the adversary ended on easier points than it began with: "
            "see its method"
        )
    ratios = [
        one.finer / max(one.checked, 1e-9)
        for one in seen
        if one.checked is not None and one.finer is not None and one.finer > _SEEN_LOSS
    ]
    masked = [ratio for ratio in ratios if ratio > _MUCH_MORE]
    if 2 * len(masked) <= len(seen):
        return None
    return (
        f"in {len(masked)} of {len(seen)} epochs{of} a finer search found {median(masked):.1f} times the adversary's loss: "
        "raise steps or lower step_size ([adversary]), and compare the recall: a stronger adversary can cost some"
    )
