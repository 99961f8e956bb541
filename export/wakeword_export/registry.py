"""The registry of exporters: the built-in ones, one line each, and others from installed packages.

A package adds one with an entry point of the group ``wakeword.exporters`` that has the exporter's name and refers to its
``Exporter`` record::

    [project.entry-points."wakeword.exporters"]
    myengine = "my_package.files:EXPORTER"
"""

from wakeword.base.errors import ConfigError
from wakeword.base.plugins import load_plugin, plugin_names
from wakeword_export.exporter import Exporter
from wakeword_export.head import openwakeword
from wakeword_export.micro import micro_files

ENTRY_POINTS = "wakeword.exporters"
"""Group of the entry points through which other packages add exporters."""

EXPORTERS = (openwakeword.EXPORTER, micro_files.MICRO_EXPORTER, micro_files.HACS_EXPORTER)


def exporter_named(name: str) -> Exporter:
    """The exporter of that name; a built-in one takes precedence over one of another package.

    Raises ``ConfigError`` if there is none, or if its package cannot be used.
    """
    for exporter in EXPORTERS:
        if exporter.name == name:
            return exporter
    found: Exporter | None = load_plugin(ENTRY_POINTS, name, ConfigError, kind=Exporter)
    if found is None:
        known = dict.fromkeys([*(exporter.name for exporter in EXPORTERS), *plugin_names(ENTRY_POINTS)])
        raise ConfigError(f"expected an engine to export to among {', '.join(known)}, got {name!r}")
    return found
