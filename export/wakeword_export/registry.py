"""The registry of exporters: the built-in ones, one line each, and others from installed packages.

A package adds one with an entry point of the group ``wakeword.exporters`` that has the exporter's name and refers to its
``Exporter`` record::

    [project.entry-points."wakeword.exporters"]
    myengine = "my_package.files:EXPORTER"
"""

from wakeword_export.exporter import Exporter
from wakeword_export.head import openwakeword
from wakeword_export.micro.device_files import HACS_EXPORTER, MICRO_EXPORTER
from wakeword_tools.registered import registered

ENTRY_POINTS = "wakeword.exporters"
"""Group of the entry points through which other packages add exporters."""

EXPORTERS = (openwakeword.EXPORTER, MICRO_EXPORTER, HACS_EXPORTER)


def exporter_named(name: str) -> Exporter:
    """The exporter of that name; a built-in one takes precedence over one of another package.

    Raises ``ConfigError`` if there is none, or if its package cannot be used.
    """
    return registered(name, EXPORTERS, ENTRY_POINTS, "an engine to export to among")
