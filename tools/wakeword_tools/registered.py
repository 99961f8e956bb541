"""What is known by a name: what comes with a package, and what other packages add by entry points."""

from collections.abc import Sequence

from wakeword.base.errors import ConfigError, WakewordError
from wakeword.base.plugins import RecordT, load_plugin, plugin_names


def registered(
    name: str, built_in: Sequence[RecordT], group: str, expected: str, error: type[WakewordError] = ConfigError
) -> RecordT:
    """The record of that name: one of ``built_in``, or the one that a package offers in the group of entry points.

    Raises ``error`` if there is none, with what was ``expected``, or if its package cannot be used.
    """
    own = {record.name: record for record in built_in}
    found = own.get(name) or load_plugin(group, name, error, kind=type(built_in[0]))
    if found is None:
        known = dict.fromkeys([*own, *plugin_names(group)])
        raise error(f"expected {expected} {', '.join(known)}, got {name!r}")
    return found
