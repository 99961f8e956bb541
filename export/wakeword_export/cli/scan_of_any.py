"""``wakeword scan`` with models of this project, or with files of other engines."""

import typer

from wakeword.base.errors import ConfigError
from wakeword.cli.option_class import command
from wakeword.cli.scan import ScanOptions, own_models, scan_recordings


@command
def scan_of_any(options: ScanOptions) -> None:
    """Find the wake words in recordings.

    --model also takes files of other engines, which their own packages run: pip install '.[peers]'.
    Folders are searched for audio files to any depth; recordings of phones (m4a, aac, mp4, webm, 3gp) need PyAV:
    pip install '.[phones]'. Every recording is a separate stream; times are seconds of the
    recording. A recording or folder that cannot be read, or not completely, is reported, the others are scanned, and the
    exit status is then 1.
    """
    given = options.models.files
    if not given:
        scan_recordings(options, *own_models(options))
        return
    # Only now, as what it imports takes time.
    from wakeword_export.cli.foreign_scan import ForeignScan
    from wakeword_tools.measure.subject import read_foreign

    foreign = [one for path in given if (one := read_foreign(path)) is not None]
    if not foreign:
        scan_recordings(options, *own_models(options))
    elif len(foreign) < len([*options.models.names, *given]):
        raise ConfigError("expected models of this project alone or files of other engines alone, got both; scan twice")
    else:
        points = options.points
        if not points.verify or points.voice or points.only:
            raise typer.BadParameter("for other engines leave out --no-verify, --voice and --only")
        scan_recordings(options, ForeignScan(foreign, threshold=points.threshold, point=points.point), [])
