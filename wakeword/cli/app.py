"""The application: the table of commands, and the handling of errors: one line on stderr and an exit status."""

import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from io import TextIOWrapper
from typing import Annotated, Any, Final, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from wakeword.base.errors import WakewordError
from wakeword.base.plugins import load_part
from wakeword.base.version import __version__
from wakeword.cli.console import complain, give_up, reader_may_leave, without_native_messages
from wakeword.cli.example_lines import EXAMPLES
from wakeword.cli.interrupts import ending_at_signals
from wakeword.cli.option_class import command_of


class Command(NamedTuple):
    """Where a command is, and its description in the list of commands."""

    place: str
    """``module:function``, or ``module:Options`` of a command with its ``work`` elsewhere."""
    help: str = ""
    """The first line of the docstring there."""
    work: str = ""
    """``module:function`` that takes the options and is imported when the command runs, as help must not wait for it."""

    def load(self) -> Callable[..., Any]:
        """Import its module, only now: listening must not wait for training's. ``ConfigError`` if it is not installed."""
        loaded = load_part(self.place)
        found: Callable[..., Any] = command_of(loaded, self.work) if self.work else loaded
        return found


CROSS_PACKAGE = {
    "model_of_text": Command("wakeword_train.from_text:typed_model"),
    "microwakeword": Command("wakeword_export.student.teaching:student_teacher"),
    "openwakeword": Command("wakeword_export.student.head_teaching:head_teacher"),
    "training_of_text": Command("wakeword_train.cli:train_text"),
    "playback_source": Command("wakeword_echo.playback_source:open_playback"),
    "voice_network": Command("wakeword_train.voice_network:make_voice_network"),
    "text_promise": Command("wakeword_train.from_text:text_model_promise"),
}
"""What commands call in other packages, by what it gives."""
COMMANDS = {
    "listen": Command(
        "wakeword.cli.listen.listen_command:listen", "Report the wake words as they are spoken, until Ctrl-C."
    ),
    "scan": Command("wakeword.cli.scan:scan", "Find the wake words in recordings."),
    "models": Command(
        "wakeword.cli.models:models", "List the models that are known by name, install one, or remove one."
    ),
    "info": Command("wakeword.cli.info:info", "Show what a model listens for, and how often it is right and wrong."),
    "check": Command(
        "wakeword_tools.cli.measure_options:CheckOptions",
        "Say how good a wake word a text would make, before anything is trained.",
        work="wakeword_tools.cli.check_work:print_check",
    ),
    "train": Command(
        "wakeword_train.train_options:TrainOptions",
        "Train a model for a keyword, calibrate it, and write it to one file.",
        work="wakeword_train.cli:train",
    ),
    "record": Command(
        "wakeword.cli.record:record", "Record a wake word several times, with a countdown and a check of each take."
    ),
    "voice": Command(
        "wakeword.cli.voice_command:voice",
        "List the voices that are known, enrol one from takes of the word, or delete one.",
    ),
    "review": Command(
        "wakeword.cli.review:review",
        "Go through saved detections and near misses, and sort them into the folders yes and no.",
    ),
    "voices": Command(
        "wakeword_tools.cli.voices:voices",
        "List the voices that `wakeword train` can use, or install voices that sound human.",
    ),
    "synth": Command(
        "wakeword_tools.cli.synth_options:SynthOptions",
        "Synthesise a keyword, or texts that sound like it, in many voices.",
        work="wakeword_tools.cli.synth_work:synthesise_set",
    ),
    "calibrate": Command(
        "wakeword_tools.cli.measure_options:CalibrateOptions",
        "Choose thresholds on recordings, and write them into the model as operating points.",
        work="wakeword_tools.cli.calibrate_work:calibrate_model",
    ),
    "evaluate": Command(
        "wakeword_tools.cli.measure_options:EvaluateOptions",
        "Measure recall, false positives, false accepts an hour and delay of a model on recordings.",
        work="wakeword_tools.cli.evaluate_work:evaluate",
    ),
    "compare": Command(
        "wakeword_tools.cli.measure_options:CompareOptions",
        "Say which of several models, or of engines, finds more on the same recordings.",
        work="wakeword_tools.cli.compare_work:compare",
    ),
    "serve": Command(
        "wakeword_serve.cli:serve", "Serve wake words to Home Assistant and other clients of the Wyoming protocol."
    ),
    "web": Command("wakeword.cli.web:web", "Serve the page that listens in a browser of this machine."),
    "export": Command("wakeword_export.cli.export_command:export", "Write a model as files that another engine runs."),
    "devices": Command("wakeword.cli.devices:devices", "List the input devices; the default one is marked."),
    "doctor": Command("wakeword.cli.doctor:doctor", "Check the microphone and this machine, and say what to change."),
}
"""All commands, in the order in which they are listed."""
_GROUPS: Final = {
    "Listen": ("listen", "scan", "models", "info"),
    "Your own word": ("check", "train", "record", "voice", "review", "voices", "synth"),
    "Measure": ("calibrate", "evaluate", "compare"),
    "Home, browser, other engines": ("serve", "web", "export"),
    "This machine": ("devices", "doctor"),
}
"""The headings under which they are listed."""

_MARKUP: Final = "markdown"
_WIDE: Final = 120
"""Columns from which on the help of a command has boxes."""
_SHORT: Final = 46
"""Columns of an example on a narrow screen."""
_LINE: Final = "wakeword.line"
_TYPERS_OWN: Final = re.compile(r"^Invalid value(?: for '[^-][^']*')?: ")
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""The class of the click in or under typer, which is not the same in all of its releases."""


class _Plain:
    """A command with a help that shows flags as flags: newer releases of typer write ``<bool>`` next to them."""

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # the class it is mixed with has it
        for one in params:
            if getattr(one, "is_flag", False) and one.metavar is None:
                one.metavar = ""
        return params


class _Command(_Plain, TyperCommand):
    pass


class _Commands(_Plain, TyperGroup):
    """The commands of the table. Only the command that is called is imported."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # Enough to list them, and to suggest one of them for a misspelt name.
        self.commands = {
            name: TyperCommand(name, help=COMMANDS[name].help, rich_help_panel=heading)
            for heading, names in _GROUPS.items()
            for name in names
        }

    def list_commands(self, ctx: Any) -> list[str]:
        # In the order of the table; some releases of typer sort the commands.
        return list(self.commands)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        line = list(args)
        with _answering(line):
            context = super().make_context(info_name, args, parent, **extra)
        context.meta[_LINE] = line
        return context

    def invoke(self, ctx: Any) -> Any:
        with _answering(ctx.meta[_LINE]):
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, listed, rest = super().resolve_command(ctx, args)
        return name, listed if name is None else _command(name), rest


@contextmanager
def _answering(line: list[str]) -> Iterator[None]:
    """Report what is wrong with a line in one line: exit status 2."""
    try:
        yield
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            raise  # the help is shown
        complain(_answer(error, line[0]))
        raise typer.Exit(2) from error


def _answer(error: Any, name: str) -> str:
    """What is wrong with the line of a command, in one line, and an example where the line lacks a part."""
    message = _TYPERS_OWN.sub("", str(error.format_message())).rstrip(".")
    message = f"{message[:1].lower()}{message[1:]}"
    message = re.sub(r"is not a valid (?:float|int|integer)(?: range)?", "is not such a number", message)
    message = re.sub(r"is not in the range (\S+?)<=x<=(\S+)", r"is not within \1 to \2", message)
    lacks = message.startswith(("missing ", "no such command", "got unexpected", "expected "))
    if not lacks or message.endswith("?") or "; try: " in message:
        return message
    more = f"for instance: {EXAMPLES[name]}" if name in EXAMPLES else "wakeword --help lists the commands"
    return f"{message}; {more}"


def _command(name: str) -> TyperCommand:
    """The command itself, with its options."""
    # On a narrow screen the columns of a box cut the names of options and break ranges.
    is_wide = shutil.get_terminal_size().columns >= _WIDE
    # Cut as a shell takes it, so that it can be copied.
    short = " \\\n    ".join(textwrap.wrap(EXAMPLES[name], _SHORT, break_on_hyphens=False))
    example = f"Example: `{EXAMPLES[name]}`" if is_wide else f"\b\nExample: {short}"
    alone = typer.Typer(add_completion=False, rich_markup_mode=_MARKUP if is_wide else None)
    alone.command(name, cls=_Command, epilog=example)(_in_order(COMMANDS[name].load()))
    made = get_command(alone)
    assert isinstance(made, TyperCommand)
    return made


def _in_order(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with a clean end at signals and at the end of stdout's reader, and without what libraries print."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        with ending_at_signals(), without_native_messages(), reader_may_leave():
            command(*arguments, **options)

    return run


app = typer.Typer(
    cls=_Commands,
    name="wakeword",
    epilog=f"Example: `{EXAMPLES['listen']}`",
    no_args_is_help=True,
    rich_markup_mode=_MARKUP,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


def run() -> None:
    """Run the command line: ``wakeword.cli.main``, which sees to the signals and streams first."""
    # Printing a file name that is not valid Unicode must not fail.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        except SystemExit:
            # What is still unwritten would fail at the end of the interpreter, with a status and a message of its own.
            with reader_may_leave():
                pass
            raise
    except (WakewordError, OSError) as error:
        complain(error)
        give_up(sys.stdout)
        sys.exit(1)
