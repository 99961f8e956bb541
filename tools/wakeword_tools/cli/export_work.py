"""The work of ``wakeword export``: a model, and recordings if there are some, to a folder."""

from wakeword.base.files import new_folder
from wakeword.base.text import printable
from wakeword.cli.console import note
from wakeword.model.installed import model_file
from wakeword.model.model import load_model, read_model_bytes
from wakeword_tools.cli.export_command import ExportOptions
from wakeword_tools.cli.measure_options import require
from wakeword_tools.export.exporter import ExportOrder, run_folder
from wakeword_tools.export.registry import exporter_named
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.selection import select


def run_export(options: ExportOptions) -> None:
    """Write the folder and print what was promised.

    Raises ``ConfigError`` for an engine that is not known and for a folder that exists, ``ModelError`` for a model that
    cannot be exported, and ``AudioFileError``, ``DataError`` and ``CalibrationError`` for recordings of no use.
    """
    exporter = exporter_named(options.to)
    require(*exporter.packages)
    model = load_model(options.model)
    exporter.check(model)
    places = {Kind.POSITIVE: options.positives or (), Kind.BACKGROUND: options.background or ()}
    with new_folder(options.folder) as folder:
        recordings = select(places, model.card.phrase, report=note)
        data, run = read_model_bytes(model_file(options.model)), run_folder(options.work, model.card.phrase)
        order = ExportOrder(model, data, recordings, options.fa_per_hour, note, run)
        lines = exporter.write(order, folder)
        names = ", ".join(sorted(path.name for path in folder.iterdir()))
    for line in lines:
        print(printable(line))
    note(f"{options.folder}: {names}")
