"""``wakeword scan``: finds the wake words in recordings."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wakeword.base.errors import AudioError, ConfigError, LeftOutError
from wakeword.base.text import counted
from wakeword.batch.inputs import expanded, find_recordings
from wakeword.batch.jobs.job_run import Run, executor_for
from wakeword.batch.jobs.journal import Journal
from wakeword.batch.scanning import Scanned, ScanWork
from wakeword.cli.console import complain, note
from wakeword.cli.formats import FormatName, writing
from wakeword.cli.job_options import JobOptions, ResumeOption, audio_progress, open_results
from wakeword.cli.option_class import command
from wakeword.cli.options import ModelOptions, VoicePointOptions, open_detector
from wakeword.cli.ranges import option
from wakeword.model.installed import names_model


def _recordings(places: list[str]) -> list[str]:
    """The value of ``FILE...``. Raises ``typer.BadParameter`` for a model in place of a recording."""
    for place in places:
        if names_model(place):
            raise typer.BadParameter(f"expected recordings, got the model {place!r}")
    return places


@dataclass(frozen=True, kw_only=True)
class ScanOptions:
    """The options of the command."""

    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            callback=_recordings,
            help="Recordings, folders, patterns such as 'a/**/*.wav', or lists (@list.txt, @- for stdin).",
        ),
    ]
    models: ModelOptions
    points: VoicePointOptions
    form: Annotated[
        FormatName | None,
        option("--format", "How to write detections; json: an object a line. Default: as --out ends, or text."),
    ] = None
    out: Annotated[Path | None, option("--out", "Write to this file.", "FILE")] = None
    jobs: JobOptions
    resume: ResumeOption = False

    def __post_init__(self) -> None:
        if self.resume and self.out is None:
            raise typer.BadParameter("--resume needs --out, beside which the results of a run are kept until it ends")
        if self.out is not None and self.out.is_dir():
            raise typer.BadParameter(f"--out {self.out}: expected a file, got a folder; name a file in it")


@command
def scan(options: ScanOptions) -> None:
    """Find the wake words in recordings.

    Folders are searched for audio files to any depth; recordings of phones (m4a, aac, mp4, webm, 3gp) need PyAV:
    pip install "wakeword[phones]". Every recording is a separate stream; times are seconds of the recording. A recording
    or folder that cannot be read, or not completely, is reported, the others are scanned, and the exit status is then 1.
    """
    points = options.points
    detector, warnings = open_detector(options.models, points)
    work = ScanWork(
        options.models.contents(),
        threshold=points.threshold,
        point=points.point,
        verify=points.verify,
        voices=points.voices,
        detector=detector,
    )
    _scan_recordings(options, work, warnings)


def _scan_recordings(options: ScanOptions, work: ScanWork, warnings: Sequence[str]) -> None:
    """Write the detections in the recordings to ``--out`` or stdout; the warnings are said first.

    Raises ``ConfigError`` if that would overwrite a recording, ``typer.BadParameter`` if no format has the name of
    ``--out``, and at the end ``typer.Exit`` if a recording could not be read.
    """
    out = options.out
    tally = _Tally()
    recordings = find_recordings(list(expanded(options.files)), failed=tally.fail)
    if (
        out is not None
        and out.is_file()
        and any(Path(one.name).exists() and out.samefile(one.name) for one in recordings)
    ):
        raise ConfigError(f"{out}: expected another file for the results, got one of the recordings to scan")
    form = options.form or FormatName.of(out)
    if form is None:
        raise typer.BadParameter(
            f"--out {out}: expected a name that ends in .txt, .json, .jsonl or .csv; with another one give --format"
        )
    for line in warnings if recordings else ():
        note(line)
    with _journal(out, work, resume=options.resume) as journal:
        run = Run(work, recordings, journal)
        executor = executor_for(run.seconds, jobs=options.jobs.jobs, ray=options.jobs.ray)
        with (
            audio_progress("scanning", run.size) as report,
            writing(out, form) as write,
            closing(run.rows(executor, report)) as rows,
        ):
            for _, scanned in rows:
                tally.add(scanned)
                for detection in scanned.detections:
                    write(scanned.name, detection)
        if journal is not None and not tally.failed:
            journal.finish()
    note(tally.summary(kept=len(recordings) - len(run.missing)))
    if tally.failed:
        raise typer.Exit(1)


@dataclass
class _Tally:
    files: int = 0
    failed: int = 0
    detections: int = 0
    seconds: float = 0.0
    cpu: float = 0.0

    def add(self, scanned: Scanned) -> None:
        """Count a recording, and report it if it could not be read."""
        if scanned.error is not None:
            self.fail(scanned.error)
        else:
            self.files += 1
        self.detections += len(scanned.detections)
        self.seconds += scanned.seconds
        self.cpu += scanned.cpu

    def fail(self, error: AudioError | str) -> None:
        """Report a recording, or a folder of them, that cannot be read."""
        complain(error)
        self.failed += error.count if isinstance(error, LeftOutError) else 1

    def summary(self, *, kept: int) -> str:
        """In one line; ``kept``: recordings with results from a run before."""
        length = f"{self.seconds / 3600:.2f} h" if self.seconds >= 360 else f"{self.seconds:.1f} s"
        cost = 1000 * self.cpu / self.seconds if self.seconds else 0
        failed = f", {self.failed} unreadable" if self.failed else ""
        before = f", {kept} of them done before" if kept else ""
        return (
            f"{counted(self.files, 'recording')}{failed}{before}, {length} of audio, "
            f"{counted(self.detections, 'detection')}, {cost:.2f} ms of CPU per second of audio"
        )


@contextmanager
def _journal(out: Path | None, work: ScanWork, *, resume: bool) -> Iterator[Journal | None]:
    """The journal next to ``out``, if that is a place for one: not next to a device such as ``/dev/null``."""
    if out is None or (out.exists() and not out.is_file()):
        yield None
    else:
        with open_results(out.parent / f"{out.name}.journal", work.digest, resume=resume) as journal:
            yield journal
