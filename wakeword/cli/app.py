"""The application: which commands there are, and how errors become one line and an exit status."""

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from wakeword.cli.console import complain
from wakeword.cli.devices import devices
from wakeword.cli.doctor import doctor
from wakeword.cli.interrupts import ending_at_signals
from wakeword.cli.listen.command import listen
from wakeword.cli.models import info, models
from wakeword.cli.record import record
from wakeword.cli.scan import scan
from wakeword.errors import WakewordError
from wakeword.version import __version__
from wakeword_tools.cli.bench import bench
from wakeword_tools.cli.calibrate import calibrate
from wakeword_tools.cli.evaluate import evaluate
from wakeword_tools.cli.synth import synth
from wakeword_train.cli import train

app = typer.Typer(
    name="wakeword",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for command in (listen, scan, devices, doctor, models, info, record, train, synth, calibrate, evaluate, bench):
    app.command()(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"wakeword {__version__}")
        raise typer.Exit


@app.callback()
def _wakeword(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Finds wake words in live audio and in recordings."""


def main() -> None:
    """Run the command line.

    Exit status 0, 1 for an error (told in one line on stderr), 2 for wrong usage, 130 and 143 at Ctrl-C and SIGTERM.
    """
    # A file name need not be valid Unicode; printing it must not fail.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with ending_at_signals():
            app()
    except (WakewordError, OSError) as error:
        complain(error)
        sys.exit(1)
