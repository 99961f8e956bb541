"""The registry of wake-word engines: this project's, and others from installed packages.

A package adds one with an entry point of the group ``wakeword.contenders`` that has the engine's name and refers to its
``Contender`` record; ``wakeword-export`` adds microWakeWord and openWakeWord so::

    [project.entry-points."wakeword.contenders"]
    myengine = "my_package.listening:ENGINE"
"""

from collections.abc import Iterator

from wakeword.base.errors import ConfigError
from wakeword.base.plugins import plugin_names
from wakeword_tools.contenders.contender import Contender
from wakeword_tools.contenders.own_engine import OURS
from wakeword_tools.registered import registered

ENTRY_POINTS = "wakeword.contenders"
"""Group of the entry points through which packages add engines."""


def contenders() -> Iterator[Contender]:
    """All engines: this project's, then those of packages, each loaded when it is due.

    Raises as ``contender_named`` does, after all others, so that a broken package takes none of them away.
    """
    yield OURS
    failures = []
    for name in plugin_names(ENTRY_POINTS):
        if name != OURS.name:
            try:
                yield contender_named(name)
            except ConfigError as error:
                failures.append(error)
    if failures:
        raise failures[0]


def contender_named(name: str) -> Contender:
    """The engine of that name; this project's own takes precedence over one of another package.

    Raises ``ConfigError`` if there is none, or if its package cannot be used.
    """
    return registered(name, [OURS], ENTRY_POINTS, "NAME:FILE (pip install '.[peers]' adds engines) with a name among")
