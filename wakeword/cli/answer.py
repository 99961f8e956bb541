"""The answer to a line that is no command: what is wrong, and in the same line what to type.

Nothing here is run: a line is only offered, and only if the command line can read it.
"""

import re
import shlex
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from wakeword.audio.audio_folders import AUDIO_SUFFIXES
from wakeword.base.text import is_printable
from wakeword.cli.guesses import ACTIONS, COMMANDS_MEANT, EXAMPLES, OPTIONS_MEANT, WHOLE_OPTIONS
from wakeword.model.installed import assets_folder, names_model

_UNIT: Final = re.compile(r"(-?\d+(?:[.,]\d+)?)\s*(%|s|sec|seconds?|[mM][bB]|d[bB]|[hH]z)?")
_TYPERS_OWN: Final = re.compile(r"^Invalid value(?: for '[^-][^']*')?: ")
_HINT: Final = "; try: "
"""Between what is wrong and what to type, also in the messages of commands."""
_MOST: Final = 300
"""Characters of a line that is offered."""
_ADDRESS: Final = {"--host": "127.0.0.1", "--port": "10400"}
_STEPS: Final = 6
"""Mistakes that are mended in one line."""

CommandLine = list[str]
"""A command line without ``wakeword``."""


def answer(error: Any, line: Sequence[str], problem: Callable[[CommandLine], Any]) -> str:
    """What to tell the user about a line that could not be read, in one line: what is wrong, and what to type.

    ``error`` is typer's. ``problem`` gives the error of another line without running it, ``None`` if there is none.
    """
    meant, left = _mended_line(error, list(line), problem)
    if _HINT in str(left):
        error = left  # it says itself what to type
    message = _TYPERS_OWN.sub("", str(error.format_message())).rstrip(".")
    message = f"{message[:1].lower()}{message[1:]}".partition(" (Possible option")[0]
    if _HINT in message or (meant is None and message.startswith("give ")):
        return message
    if meant is not None:
        return f"{message}{_HINT}{meant}"
    more = f"for instance: {EXAMPLES[line[0]]}" if line[0] in EXAMPLES else "wakeword --help lists the commands"
    return f"{message}; {more}"


def _mended_line(error: Any, line: CommandLine, problem: Callable[[CommandLine], Any]) -> tuple[str | None, Any]:
    """The line as it was probably meant, ``None`` if that is not known, and the error that is left then."""
    if line[0] not in EXAMPLES:
        line = _with_command(line)
        error = problem(line) if _is_readable(line) else None
    for _ in range(_STEPS):
        mended = line if error is None else _mended(error, line)
        if error is None or not mended:
            break
        line = mended
        error = problem(line) if _is_readable(line) else None
    if error is None and line[:1] == ["record"]:  # what it needs depends on --ambient, which only running it tells
        line = _completed(None, line) or line
    shown = " ".join(["wakeword", *map(_quoted, line)])
    can_be_shown = bool(line) and len(shown) <= _MOST and is_printable(shown)
    return shown if error is None and can_be_shown else None, error


def _is_readable(line: CommandLine) -> bool:
    """Whether it can be read without showing a help."""
    return bool(line) and line[0] in EXAMPLES and not {"-h", "--help"} & set(line)


def _quoted(word: str) -> str:
    """For a shell; with double quotes where they do, which Windows knows too."""
    return f'"{word}"' if re.fullmatch(r"[\w.,:/' -]*[ '][\w.,:/' -]*", word) else shlex.quote(word)


def _with_command(line: CommandLine) -> CommandLine:
    """The line with the command that it lacks, or another one; empty if it is not known."""
    first, rest = line[0], line[1:]
    if first == "help":
        return [*rest[:1], "--help"]
    if first == "demo":
        return ["scan", str(assets_folder() / "audio" / "demo.flac")]
    if first in ("install", "add", "download") and rest[:1] in (["kokoro"], ["piper"]):
        return ["voices", "install", *rest]
    if not first.strip("-"):
        return []
    if first in COMMANDS_MEANT:
        return [*COMMANDS_MEANT[first].split(), *rest]
    if first.startswith("-") or names_model(first):
        return ["listen", *line]
    if Path(first).suffix.lower() in AUDIO_SUFFIXES or Path(first).exists():
        return ["scan", *line]
    nearest = get_close_matches(first, EXAMPLES, n=1)
    return [*nearest, *rest] if nearest else []


def _mended(error: Any, line: CommandLine) -> CommandLine:
    """The line with one mistake less; empty if it is not known how."""
    unknown = getattr(error, "option_name", None)
    if unknown is not None and hasattr(error, "possibilities"):
        return _other_option(error, line, unknown)
    param = getattr(error, "param", None)
    if getattr(param, "name", None) == "action":
        return _other_action(line)
    if param is not None and getattr(param.type, "min", None) is not None:
        return _other_number(param, line)
    if error.ctx is None or unknown is not None:
        return []
    return _words_placed(error.ctx, line) or ([] if _is_argument(param) else _completed(error.ctx.command, line))


def _is_argument(param: Any) -> bool:
    return getattr(param, "param_type_name", None) == "argument"


def _other_option(error: Any, line: CommandLine, unknown: str) -> CommandLine:
    at = next((index for index, word in enumerate(line) if word.split("=")[0] == unknown), None)
    if at is None:
        return []
    if line[0] == "serve" and unknown in _ADDRESS:
        return _with_address(line)
    before, (_, equals, value), after = line[:at], line[at].partition("="), line[at + 1 :]
    after = [value, *after] if equals else after
    if (line[0], unknown) in WHOLE_OPTIONS:
        return [*before, *WHOLE_OPTIONS[line[0], unknown].split(), *after]
    params = error.ctx.command.params
    known = {name for param in params for name in param.opts}
    groups = [group.split() for group in OPTIONS_MEANT if unknown in group.split()]
    possible = list(error.possibilities or ())
    # Click's own limit, 0.6, takes --seconds for --json.
    similar = [one for one in possible if one.startswith(unknown)] or get_close_matches(unknown, possible, cutoff=0.75)
    meant = [option for group in groups for option in group if option in known] + similar
    if meant:
        return [*before, meant[0], *after]
    # Where the command takes it without an option.
    arguments = [f"--{param.name}" for param in params if _is_argument(param)]
    return [*before, *after] if unknown in arguments or (groups and arguments) else []


def _with_address(line: CommandLine) -> CommandLine:
    """``--host`` and ``--port`` as one address."""
    parts, rest = dict(_ADDRESS), iter(line)
    others = []
    for word in rest:
        option, equals, value = word.partition("=")
        if option in parts:
            parts[option] = value if equals else next(rest, parts[option])
        else:
            others.append(word)
    return [*others, "--uri", f"tcp://{parts['--host']}:{parts['--port']}"]


def _other_action(line: CommandLine) -> CommandLine:
    at = next((index for index, word in enumerate(line[1:], 1) if not word.startswith("-")), 1)
    word = line[at]
    if word in ACTIONS:
        return [*line[:at], ACTIONS[word], *line[at + 1 :]]
    if line[0] == "models" and names_model(word) and not word.endswith(".onnx"):
        return ["info", word]
    is_place = Path(word).exists() or "://" in word or word.endswith(".onnx")
    return [*line[:at], "install", *line[at:]] if is_place or word in ("kokoro", "piper") else []


def _other_number(param: Any, line: CommandLine) -> CommandLine:
    """With a percentage as a share, without a unit, and with a point in place of a comma."""
    for index, word in enumerate(line):
        option, equals, value = word.partition("=")
        if option not in param.opts:
            continue
        at = index if equals else index + 1
        found = _UNIT.fullmatch(value if equals else "".join(line[at : at + 1]))
        if found is None:
            continue
        number = float(found[1].replace(",", "."))
        if found[2] == "%" or (param.type.max == 1 and 1 < number <= 100):
            number /= 100
        mended = f"{option}={number:g}" if equals else f"{number:g}"
        if mended != line[at]:
            return [*line[:at], mended, *line[at + 1 :]]
    return []


def _words_placed(context: Any, line: CommandLine) -> CommandLine:
    """With the option of each word that the command does not take as it stands, or with quotes around several words."""
    command = context.command
    values, extra, _ = command.make_parser(context).parse_args(args=line[1:])
    first = next(filter(_is_argument, command.params), None)
    spoken = values.get(first.name) if first is not None else None
    if first is not None and first.nargs == -1:
        # Without any, some releases of click have a mark of their own.
        spoken = spoken if isinstance(spoken, list | tuple) else ()
        extra = [word for word in spoken if names_model(word)]
    elif first is not None and isinstance(spoken, str) and extra:
        joined = " ".join([spoken, *extra])
        return (
            _replaced(line, [spoken, *extra], [joined])
            if first.name in ("keyword", "word") or names_model(joined)
            else []
        )
    if not extra:
        return []
    options = {name for param in command.params for name in param.opts}
    words = [word.strip(",") for word in extra if _kind(word)[0] == "--keyword"]
    if len(words) > 1 and not all(map(names_model, words)):
        words = [" ".join(words)]
    placed: CommandLine = []
    for word in [*words, *(word for word in extra if _kind(word)[0] != "--keyword")]:
        option = next((one for one in _kind(word) if one in options), None)
        if option is None:
            return []
        placed += [option, word]
    line = _replaced(line, extra, placed)
    # A scan of no file at all.
    return [*line, "talk.wav"] if spoken and set(spoken) == set(extra) else line


def _kind(word: str) -> tuple[str, ...]:
    """The options for a word, the best one first."""
    if word.endswith(".onnx"):
        return ("--model",)
    if Path(word).suffix.lower() in AUDIO_SUFFIXES or Path(word).exists():
        return "--input", "--recording", "--positives"
    return "--keyword", "--model"


def _replaced(line: CommandLine, words: Sequence[str], others: CommandLine) -> CommandLine:
    """The line with ``others`` in place of the first of the words, and without the rest of them."""
    rest = list(line)
    at = 0
    for word in reversed(words):
        at = len(rest) - 1 - rest[::-1].index(word)
        del rest[at]
    return [*rest[:at], *others, *rest[at:]]


def _completed(command: Any, line: CommandLine) -> CommandLine:
    """With the options that the command needs, as they are in its example."""
    example = shlex.split(EXAMPLES[line[0]])
    given = {word.split("=")[0] for word in line}
    params = [] if command is None else command.params
    needed = [one.opts[0] for one in params if one.required and one.opts[0] in example]
    if line[0] == "record" and len(line) > 1 and "--ambient" not in line:
        needed.append("--out")
    lacking = [[option, example[example.index(option) + 1]] for option in needed if option not in given]
    return [*line, *(word for pair in lacking for word in pair)] if lacking else []
