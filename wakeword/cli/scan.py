"""``wakeword scan``: find the wake words in recordings."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from wakeword.cli.console import complain, note, progress
from wakeword.cli.formats import FORMATS, Format, FormatName, Write
from wakeword.cli.listen.playing import Watched, naming
from wakeword.cli.options import (
    DetectorSettings,
    KeywordOption,
    ModelOption,
    PointOption,
    ThresholdOption,
    VerifyOption,
    open_detector,
)
from wakeword.engine import Detector
from wakeword.errors import AudioError, AudioFileError, ConfigError
from wakeword.escaping import printable
from wakeword.files import remove_abandoned, replacing
from wakeword.sources import FileSource, list_audio, unsearched_folder


class _Recording(NamedTuple):
    path: Path
    inside: Path
    """Its path inside the given folder, or its name if the file itself was given."""
    size: int
    """Bytes."""


def scan(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Recordings, or folders of them.")],
    keyword: KeywordOption = None,
    model: ModelOption = None,
    threshold: ThresholdOption = None,
    point: PointOption = None,
    verify: VerifyOption = True,
    form: Annotated[FormatName, typer.Option("--format", help="How to write the detections.")] = FormatName.TEXT,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write to this file. With srt or audacity and several recordings: a folder for one file each.",
        ),
    ] = None,
) -> None:
    """Find the wake words in recordings.

    Folders are searched for audio files to any depth. Every recording is a separate stream; times are seconds of the
    recording. A recording or folder that cannot be read, or not completely, is reported, the others are scanned, and the
    exit status is then 1.
    """
    detector, warnings = open_detector(DetectorSettings(keyword, model, threshold, point, verify=verify))
    scan_recordings(detector, files, form, out, warnings=warnings)


def scan_recordings(
    detector: Detector, paths: list[Path], form: FormatName, out: Path | None, *, warnings: Sequence[str] = ()
) -> None:
    """Write the detections in these recordings, and in those of these folders, to ``out`` or stdout.

    ``warnings`` go to stderr once nothing stands in the way of the work.

    Raises ``ConfigError`` if that would overwrite a recording, ``typer.BadParameter`` if ``out`` cannot hold the results,
    and at the end ``typer.Exit`` if a recording could not be read.
    """
    tally = _Tally()
    recordings = _find(paths, tally)
    if out is not None and out.is_file() and any(out.samefile(recording.path) for recording in recordings):
        raise ConfigError(f"{out}: expected another file for the results, got one of the recordings to scan")
    targets = _targets(recordings, form, out)
    rules = FORMATS[form]
    for line in warnings if recordings else ():
        note(line)
    remove_abandoned(targets.values() if targets is not None else [] if out is None else [out])
    with progress("scanning", sum(recording.size for recording in recordings)) as update:
        if targets is None:
            with _writing(out, rules) as write:
                for recording in recordings:
                    with tally.failures():
                        _scan_one(detector, recording, write, tally, update)
        else:
            for recording, target in targets.items():
                with tally.failures(), _writing(target, rules) as write:
                    _scan_one(detector, recording, write, tally, update)
    note(tally.summary())
    if tally.failed:
        raise typer.Exit(1)


class _Tally:
    """Counts for the summary."""

    def __init__(self) -> None:
        self.files = 0
        self.failed = 0
        self.detections = 0
        self.size = 0
        self.seconds = 0.0
        self.cpu_at_start = time.process_time()

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Report a recording that cannot be read, and continue."""
        try:
            yield
        except AudioError as error:
            self.fail(error)

    def fail(self, error: AudioError) -> None:
        """Report a recording, or a folder of them, that cannot be read."""
        complain(error)
        self.failed += 1

    def summary(self) -> str:
        length = f"{self.seconds / 3600:.2f} h" if self.seconds >= 360 else f"{self.seconds:.1f} s"
        cost = 1000 * (time.process_time() - self.cpu_at_start) / self.seconds if self.seconds else 0
        failed = f", {self.failed} unreadable" if self.failed else ""
        return (
            f"{self.files} recording(s){failed}, {length} of audio, {self.detections} detection(s), "
            f"{cost:.2f} ms of CPU per second of audio"
        )


def _find(paths: list[Path], tally: _Tally) -> list[_Recording]:
    found: dict[Path, _Recording] = {}
    for path in paths:
        with tally.failures():
            listing = list_audio(path)
            for folder, reason in listing.unsearched.items():
                tally.fail(unsearched_folder(folder, reason))
            if not listing.files and not listing.unsearched:
                raise AudioFileError(f"{path}: expected audio files in this folder, found none")
            for file in listing.files:
                inside = Path(file.name) if file == path else file.relative_to(path)
                found.setdefault(file, _Recording(file, inside, file.stat().st_size))
    return list(found.values())


def _targets(recordings: list[_Recording], form: FormatName, out: Path | None) -> dict[_Recording, Path] | None:
    """The file for each recording's detections, or ``None`` if all detections go to one place."""
    suffix = FORMATS[form].suffix
    if suffix is None or (len(recordings) <= 1 and (out is None or not out.is_dir())):
        return None
    if out is None:
        raise typer.BadParameter(f"--format {form.value} writes one file per recording; give a folder with --out")
    targets = {recording: out / recording.inside.with_suffix(suffix) for recording in recordings}
    owners: dict[Path, Path] = {}
    for recording, target in targets.items():
        other = owners.setdefault(target, recording.path)
        if other != recording.path:
            raise typer.BadParameter(
                f"{printable(other)} and {printable(recording.path)} would both be written to {printable(target)}"
            )
    return targets


@contextmanager
def _writing(target: Path | None, rules: Format) -> Iterator[Write]:
    """A function that writes a detection to ``target`` or stdout; ``target`` appears when it is complete."""
    if target is not None:
        with replacing(target) as temporary, temporary.open("w", encoding="utf-8", errors="backslashreplace") as stream:
            yield rules.writer(stream)
    else:
        yield rules.writer(sys.stdout)


def _scan_one(
    detector: Detector, recording: _Recording, write: Write, tally: _Tally, update: Callable[[float], None]
) -> None:
    source = FileSource(recording.path)
    length = max(source.seconds, 1e-3)

    def watch(seconds: float) -> None:
        update(tally.size + recording.size * min(1.0, seconds / length))

    watched = Watched(source, lambda block: watch(watched.seconds))
    try:
        with naming(recording.path):
            for detection in detector.run(watched):
                write(str(recording.path), detection)
                tally.detections += 1
        tally.files += 1
    finally:
        tally.size += recording.size
        tally.seconds += watched.seconds
        update(tally.size)
