"""Attack: the command line, with values of every option that are out of range, of another type, or odd paths.

The commands and their options are taken from the command line itself, so that new ones are attacked too.
"""

import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from random import Random
from typing import Any, NoReturn, get_args, get_type_hints

import numpy as np
import soundfile
import typer
from typer.main import get_command

from fuzz.cases.laws import MAX_CHARACTERS, BrokenLawError, Case
from fuzz.cases.mutation import damaged, flipped
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.cli import main
from wakeword.cli.app import COMMANDS, app
from wakeword.model.installed import HOME_VARIABLE, assets_folder, shipped_models

SHARES = {
    "listen": 6, "scan": 6, "info": 3, "evaluate": 3, "calibrate": 3, "models": 1, "devices": 1, "doctor": 1, "record": 1,
    "synth": 1, "train": 1,
}  # fmt: skip
"""How often each command is called; one that is missing here once."""
_LEFT_OUT = {"--help", "-h"}
# fmt: off
_NUMBERS = (
    "0", "1", "2", "-1", "0.5", "0.03", "1.5", "-0.0", "nan", "inf", "-inf", "1e9", "-1e9", "1e308",
    "1e-320", "1e999", "99999999999999999999",
    "1000000000", "2147483648", "16000", "48000", "0x10", "1_000", "１２", "1,5", "1e", "", " ",
)
_TEXTS = (
    "marvin", "alexa", "nobody", "", " ", "a\nb", "\x1b[31mred", "\x9b31m", "é\u2028x", "\udcff",
    "x" * 5_000, "--", "-", "*", "%s", "{0}", "$(true)",
    "fpr=0.03", "fpr=2", "cpu", "cuda", "json", "csv", "text", "espeak",
    "drocc-lf", "=1+1", "../..", "true", "false {text}",
)
# fmt: on
_SECONDS, _SECONDS_TO_END = 8.0, 120.0
_MAX_OUTPUT = 3_000_000


def prepare() -> Case:
    """Cases: the exit status of the command, or ``interrupted`` for one that was at work and ended at Ctrl-C."""
    # What is installed or removed is in the folder of the attack, not in the user's.
    os.environ[HOME_VARIABLE] = "home"
    group: Any = get_command(app)
    context = typer.Context(group)
    commands = {}
    for name in group.list_commands(context):
        _, command, _ = group.resolve_command(context, [name])
        hints = get_type_hints(COMMANDS[name].load())
        commands[name] = [
            _Option.of(one, hints.get(one.name, str)) for one in command.params if not set(one.opts) & _LEFT_OUT
        ]
    weighted = [name for name in commands for _ in range(SHARES.get(name, 1))]

    def case(random: Random, folder: Path) -> str:
        files = _files(folder, random)
        name = random.choice(weighted)
        arguments = [name, *_arguments(name, commands[name], files, random)]
        text = "\0".join(arguments).encode("utf-8", "surrogateescape")
        (folder / "arguments.txt").write_bytes(text)
        return _run([os.fsdecode(os.fsencode(one)) for one in arguments if "\0" not in one], folder, random)

    return case


@dataclass(frozen=True)
class _Option:
    """An option or argument of a command."""

    flags: tuple[str, ...]
    """Its names; none for an argument."""
    takes_value: bool
    types: frozenset[type]
    """The types of its value."""

    @classmethod
    def of(cls, parameter: Any, hint: Any) -> "_Option":
        is_argument = parameter.param_type_name == "argument"
        flags = () if is_argument else (*parameter.opts, *parameter.secondary_opts)
        return cls(flags, not getattr(parameter, "is_flag", False), frozenset(_types(hint)))


def _types(hint: Any) -> Iterator[type]:
    """The types in a type hint such as ``list[Path] | None``."""
    if isinstance(hint, type) and not get_args(hint):
        yield hint
    for one in get_args(hint):
        yield from _types(one)


def _arguments(name: str, options: Sequence[_Option], files: Sequence[str], random: Random) -> list[str]:
    """Random values of some options. Input is always given: a microphone would be one from outside."""
    found: list[str] = []
    for one in options:
        if not one.flags:
            found += [_value(files, random) for _ in range(random.choice((0, 1, 1, 1, 2)))]
        elif random.random() < max(0.12, 1.5 / len(options)):
            found.append(random.choice(one.flags))
            if one.takes_value:
                found.append(_of_type(one.types, files, random))
    if name == "listen" and "--input" not in found:
        found += ["--input", random.choice(("-", *files))]
    return found


def _of_type(types: frozenset[type], files: Sequence[str], random: Random) -> str:
    """A value that suits the option in most cases: beyond a wrong one nothing is reached."""
    if random.random() < 0.15:
        return _value(files, random)
    if types & {int, float}:
        return random.choice(_NUMBERS)
    if Path in types:
        return random.choice(files)
    for one in types:
        if issubclass(one, Enum):
            return random.choice([str(member.value) for member in one])
    return random.choice(_TEXTS)


def _value(files: Sequence[str], random: Random) -> str:
    return random.choice(random.choice((_NUMBERS, _TEXTS, files, files)))


def _files(folder: Path, random: Random) -> list[str]:
    """Recordings, models and odd files in the working folder of the command; their names, and some of no file."""
    model = random.choice(list(shipped_models().values())).read_bytes()
    word = (assets_folder() / "audio" / "marvin-m2.flac").read_bytes()
    (folder / "clips").mkdir()
    for path, data in {
        "word.flac": word,
        "broken.flac": damaged(word, random),
        "clips/a.flac": word,
        "clips/b\x1b[2J.flac": word,
        "model.onnx": model,
        "flip.onnx": flipped(model, random),
        "empty": b"",
        "empty.wav": b"",
        "rubbish.json": random.randbytes(200),
        "words.txt": b"marvin\nmartin\n\xff\n",
    }.items():
        (folder / path).write_bytes(data)
    soundfile.write(folder / "quiet.wav", np.zeros(SAMPLE_RATE, np.int16), SAMPLE_RATE)
    (folder / "loop.wav").symlink_to("loop.wav")
    (folder / "none.onnx").symlink_to("nothing")
    names = sorted(path.name for path in folder.iterdir())
    return [
        *names,
        "clips/a.flac",
        ".",
        "nothing",
        "nothing/deep/x.csv",
        "/dev/null",
        "/dev/full",
        "/proc/nowhere/x",
        "out.csv",
        "out",
    ]


def _run(arguments: list[str], folder: Path, random: Random) -> str:
    """Run a command in a process of its own, in the folder; check what it says and how it ends."""
    (folder / "stdin").write_bytes(random.randbytes(random.choice((0, 1, 31_999, 64_000))))
    child = os.fork()
    if child == 0:
        _become_command(arguments, folder)
    status = _waited(child, _SECONDS)
    interrupted = status is None
    if interrupted:
        os.kill(child, signal.SIGINT)
        status = _waited(child, _SECONDS_TO_END)
        if status is None:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise BrokenLawError(f"{arguments} did not end within {_SECONDS_TO_END:.0f} s of Ctrl-C")
    out, err = ((folder / name).read_text(encoding="utf-8", errors="surrogateescape") for name in ("stdout", "stderr"))
    check_output(arguments, status, out, err)
    return "interrupted" if interrupted else f"status {status}"


def check_output(arguments: Sequence[str], status: int | None, out: str, err: str) -> None:
    """Raise ``BrokenLawError`` unless a command ended as commands may: no traceback, no crash, errors in short lines."""
    if "Traceback (most recent call last)" in out + err or "Exception ignored" in err:
        raise BrokenLawError(f"{arguments}: a traceback: {err.strip().splitlines()[-1:]}")
    if status not in (0, 1, 2, 130, 143):
        raise BrokenLawError(f"{arguments}: exit status {status}: {err[-300:]!r}")
    if status == 1 and not (err + out).strip():
        raise BrokenLawError(f"{arguments}: exit status 1 without a word")
    if len(out) + len(err) > _MAX_OUTPUT:
        raise BrokenLawError(f"{arguments}: {len(out) + len(err)} characters of output")
    for line in err.split("\n"):
        if len(line) > MAX_CHARACTERS:
            raise BrokenLawError(f"{arguments}: a line of {len(line)} characters on stderr: {line[:100]!r}...")
        # Lines of usage quote the user's own words, and are not ours.
        if status != 2 and line and not line.isprintable():
            raise BrokenLawError(f"{arguments}: control characters on stderr: {line[:300]!r}")
    for line in out.split("\n"):
        if line and not line.replace("\t", "").replace("\r", "").isprintable():
            raise BrokenLawError(f"{arguments}: control characters on stdout: {line[:300]!r}")


def _waited(child: int, seconds: float) -> int | None:
    """The exit status, negative for a signal; ``None`` if it still runs after so long."""
    ending, pause = time.monotonic() + seconds, 0.001
    while time.monotonic() < ending:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        pause = min(0.05, 2 * pause)
    return None


def _become_command(arguments: list[str], folder: Path) -> NoReturn:
    """In the forked process: the command, as the installed program runs it."""
    status = 70
    try:
        os.chdir(folder)
        # No sound server: what a microphone hears is no input that a seed repeats.
        os.environ |= {"PULSE_SERVER": "unix:/proc/nowhere", "PIPEWIRE_RUNTIME_DIR": "/proc/nowhere", "COLUMNS": "200"}
        os.dup2(os.open("stdin", os.O_RDONLY), 0)
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
        # As at the start of a program: those of this process may be a test's.
        sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
        sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", closefd=False)  # type: ignore[misc]  # noqa: SIM115
        sys.stderr = sys.__stderr__ = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # type: ignore[misc]  # noqa: SIM115
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.argv = ["wakeword", *arguments]
        try:
            main()
            status = 0
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
        except BaseException:
            traceback.print_exc()
            status = 1
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)
