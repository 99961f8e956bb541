"""The registry of wake-word engines of others, from installed packages.

A package adds one with an entry point of the group ``wakeword.contenders`` that has the engine's name and refers to its
``Contender`` record; ``wakeword-export`` adds microWakeWord and openWakeWord so::

    [project.entry-points."wakeword.contenders"]
    myengine = "my_package.listening:ENGINE"
"""

from collections.abc import Iterator

from wakeword.base.errors import ConfigError
from wakeword.base.plugins import load_plugin, plugin_names
from wakeword_tools.contenders.contender import Contender

ENTRY_POINTS = "wakeword.contenders"
"""Group of the entry points through which packages add engines."""


OURS = "ours"
"""In place of an engine: this project's models."""


def contenders() -> Iterator[Contender]:
    """All engines, each loaded when it is due.

    Raises as ``contender_named`` does, after all others, so that a broken package takes none of them away.
    """
    failures = []
    for name in plugin_names(ENTRY_POINTS):
        try:
            yield contender_named(name)
        except ConfigError as error:
            failures.append(error)
    if failures:
        raise failures[0]


def contender_named(name: str) -> Contender:
    """The engine of that name. Raises ``ConfigError`` if there is none, or if its package cannot be used."""
    found: Contender | None = load_plugin(ENTRY_POINTS, name, ConfigError, kind=Contender)
    if found is None:
        known = ", ".join([OURS, *plugin_names(ENTRY_POINTS)])
        raise ConfigError(
            f"expected NAME:FILE (pip install '.[peers]' adds engines) with a name among {known}, got {name!r}"
        )
    return found
