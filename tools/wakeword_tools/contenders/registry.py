"""The registry of wake-word engines: the built-in ones, one line each, and others from installed packages.

A package adds one with an entry point of the group ``wakeword.contenders`` that has the engine's name and refers to its
``Contender`` record::

    [project.entry-points."wakeword.contenders"]
    myengine = "my_package.listening:ENGINE"
"""

from collections.abc import Iterator

from wakeword.base.errors import ConfigError
from wakeword.base.plugins import load_plugin, plugin_names
from wakeword_tools.contenders import microwakeword, porcupine, pyopenwakeword
from wakeword_tools.contenders.contender import Contender
from wakeword_tools.contenders.own_engine import OURS

ENTRY_POINTS = "wakeword.contenders"
"""Group of the entry points through which other packages add engines."""

PEERS = (
    microwakeword.ENGINE,
    pyopenwakeword.ENGINE,
    porcupine.ENGINE,
)


def contenders() -> Iterator[Contender]:
    """All engines: this project's, the other built-in ones, and last those of packages, each loaded when it is due.

    Raises as ``contender_named`` does.
    """
    yield from (built_in := (OURS, *PEERS))
    names = {one.name for one in built_in}
    yield from (contender_named(name) for name in plugin_names(ENTRY_POINTS) if name not in names)


def contender_named(name: str) -> Contender:
    """The engine of that name; a built-in one takes precedence over one of another package.

    Raises ``ConfigError`` if there is none, or if its package cannot be used.
    """
    for one in (OURS, *PEERS):
        if one.name == name:
            return one
    found: Contender | None = load_plugin(ENTRY_POINTS, name, ConfigError, kind=Contender)
    if found is None:
        known = [f"{one.name}:{one.takes}" for one in (OURS, *PEERS)]
        raise ConfigError(f"expected an engine among {', '.join([*known, *plugin_names(ENTRY_POINTS)])}, got {name!r}")
    return found
