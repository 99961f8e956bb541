"""Recordings of the keyword that say little of it: silent, too quiet, or clipped."""

from collections.abc import Iterable

from wakeword.base.events import Events
from wakeword.base.text import counted
from wakeword.takes.take import Fault, examine, is_clipped
from wakeword_tools.kinds import Kind
from wakeword_train.data.store import ClipStore

_NAMED = 3
"""Recordings that are named; of more the number is told."""
_FAULTS = {
    Fault.SILENT: ("digital silence", "was the microphone muted?"),
    Fault.QUIET: ("all but silent", "come closer to the microphone, or turn it up"),
    Fault.CLIPPED: ("clipped", "step back from the microphone, or turn it down"),
}
"""The faults of a whole recording, which training can do nothing about."""


def note_faults(stores: Iterable[ClipStore], events: Events) -> None:
    """Name the recordings of the keyword in these stores that are silent, too quiet or clipped, a line for each fault."""
    found: dict[Fault, list[str]] = {}
    for store in stores:
        for row, clip in enumerate(store.clips):
            if clip.kind is Kind.POSITIVE and not clip.synthetic:
                samples = store.recorded(row)
                fault = examine(samples, clipped=is_clipped(samples)).fault
                if fault in _FAULTS:
                    found.setdefault(fault, []).append(clip.path.name)
    for fault, names in found.items():
        what, remedy = _FAULTS[fault]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        recordings = counted(len(names), "recording")
        events.note(f"warning: {what}: {recordings} of the word ({', '.join(names[:_NAMED])}{more}); {remedy}")
