"""How work is cut: batches of about a minute of audio, and the longest recordings first."""

import os
from collections.abc import Iterable, Sequence

from wakeword.batch.jobs.work import Batch, ItemT

BATCH_SECONDS = 60.0
"""Half a second of work: far above what a batch costs to send, far below what others would wait for it at the end."""
LONG_SECONDS = 600.0
"""Batches from here on come first, the longest of all at the very beginning, so that none is left over at the end."""
SECONDS_FOR_A_PROCESS = 300.0
"""A process takes about a second to start, in which it could have done with two minutes of audio."""


def cores() -> int:
    """The cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def default_jobs(seconds: float) -> int:
    """As many processes as there are cores, but none with less than five minutes of audio to do."""
    return max(1, min(cores(), int(seconds // SECONDS_FOR_A_PROCESS)))


def batches_of(items: Iterable[tuple[int, ItemT]], *, workers: int) -> Sequence[Batch[ItemT]]:
    """Numbered items in batches: of neighbours, of a minute each, a longer item alone."""
    found: list[list[tuple[int, ItemT]]] = []
    lengths: list[float] = []
    for number, item in items:
        if not found or lengths[-1] + item.seconds > BATCH_SECONDS:
            found.append([])
            lengths.append(0.0)
        found[-1].append((number, item))
        lengths[-1] += item.seconds
    if workers == 1:
        return found
    # Stable: short batches stay in order, so that their rows need not wait for one another.
    order = sorted(range(len(found)), key=lambda index: -lengths[index] if lengths[index] >= LONG_SECONDS else 0.0)
    return [found[index] for index in order]
