"""The registry of exporters: those built in, one line each, and those of other packages.

A package adds one with an entry point of the group ``wakeword.exporters`` that has the exporter's name and refers to its
``Exporter`` record::

    [project.entry-points."wakeword.exporters"]
    myengine = "my_package.files:EXPORTER"
"""

from importlib.metadata import entry_points

from wakeword.base.errors import ConfigError
from wakeword_tools.export import openwakeword
from wakeword_tools.export.exporter import Exporter

ENTRY_POINTS = "wakeword.exporters"
"""Group of the entry points through which other packages add exporters."""

EXPORTERS = (openwakeword.EXPORTER,)


def exporter_named(name: str) -> Exporter:
    """The exporter of that name; a built-in one takes precedence over one of another package.

    Raises ``ConfigError`` if there is none, or if its package cannot be used.
    """
    for exporter in EXPORTERS:
        if exporter.name == name:
            return exporter
    offered = entry_points(group=ENTRY_POINTS)
    if name not in offered.names:
        known = dict.fromkeys([*(exporter.name for exporter in EXPORTERS), *sorted(offered.names)])
        raise ConfigError(f"expected an engine to export to among {', '.join(known)}, got {name!r}")
    point = offered[name]
    try:
        found = point.load()
    except Exception as error:  # any error that importing another package can raise
        raise ConfigError(f"the exporter {name!r} of {point.value} could not be loaded: {error!r}") from error
    if not isinstance(found, Exporter) or found.name != name:
        raise ConfigError(f"expected an Exporter named {name!r} at {point.value}, found {found!r:.200}")
    return found
