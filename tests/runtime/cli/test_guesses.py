"""Natural first guesses: understood, or answered in one line with what to type, which the command line can read."""

import inspect
import shlex
import shutil
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from random import Random
from typing import Any

import pytest

from wakeword.cli.app import COMMANDS, Command
from wakeword.cli.guesses import ACTIONS, COMMANDS_MEANT, EXAMPLES, OPTIONS_MEANT, WHOLE_OPTIONS
from wakeword.model.installed import HOME_VARIABLE

GUESSES = {
    # A word where a file or an option is expected, and the reverse.
    "scan alexa talk.wav": "scan --keyword alexa talk.wav",
    "scan talk.wav alexa computer": "scan talk.wav --keyword alexa --keyword computer",
    "scan alexa": "scan --keyword alexa talk.wav",
    "scan zorvella talk.wav": "scan --keyword zorvella talk.wav",
    "scan zorvella.onnx talk.wav": "scan --model zorvella.onnx talk.wav",
    "listen computer": "listen --keyword computer",
    "listen --keyword alexa computer": "listen --keyword alexa --keyword computer",
    "listen talk.wav": "listen --input talk.wav",
    "listen zorvella.onnx": "listen --model zorvella.onnx",
    "listen hey zorvella": 'listen --keyword "hey zorvella"',
    "bench alexa": "bench --keyword alexa",
    "serve alexa computer": "serve --keyword alexa --keyword computer",
    "doctor talk.wav": "doctor --input talk.wav",
    "evaluate alexa takes": "evaluate --keyword alexa --positives takes",
    "info --keyword alexa": "info alexa",
    "compare --old alexa --new computer --positives takes": "compare alexa computer --positives takes",
    "check hey zorvella": 'check "hey zorvella"',
    "synth hey zorvella --out clips": 'synth "hey zorvella" --out clips',
    "train hey zorvella": 'train "hey zorvella"',
    "train zorvella takes": 'train "zorvella" --positives takes',
    "train alexa,computer": "train alexa --also computer",
    # Other names.
    "listen --word alexa": "listen --keyword alexa",
    "listen --keywords=alexa": "listen --keyword alexa",
    "listen -k alexa": "listen --keyword alexa",
    "listen --mic 1": "listen --device 1",
    "listen --file talk.wav": "listen --input talk.wav",
    "scan --output x.csv talk.wav": "scan --out x.csv talk.wav",
    "scan --json talk.wav": "scan --format json talk.wav",
    "scan --recursive takes": "scan takes",
    "serve --port 10400": "serve --uri tcp://127.0.0.1:10400",
    "serve --host 0.0.0.0 --port=99": "serve --uri tcp://0.0.0.0:99",
    "models alexa": "info alexa",
    "models zorvella.onnx": "models install zorvella.onnx",
    "models install alexa": "listen --keyword alexa",
    "voices kokoro": "voices install kokoro",
    "lisen --keyword alexa": "listen --keyword alexa",
    "install kokoro": "voices install kokoro",
    "uninstall alexa": "models remove alexa",
    "alexa": "listen --keyword alexa",
    "talk.wav": "scan talk.wav",
    "--keyword alexa": "listen --keyword alexa",
    "version": "--version",
    "help": "--help",
    "help scan": "scan --help",
    # Numbers.
    "calibrate --model zorvella --positives takes --fpr 3": "calibrate --model zorvella --positives takes --fpr 0.03",
    "evaluate --keyword alexa --positives takes --fpr=3%": "evaluate --keyword alexa --positives takes --fpr=0.03",
    "evaluate --keyword alexa --positives takes --fpr 0.5%": "evaluate --keyword alexa --positives takes --fpr 0.005",
    "listen --threshold 0,5": "listen --threshold 0.5",
    "listen --min-gap 2s": "listen --min-gap 2",
    # What a command needs, and several mistakes in one line.
    "record zorvella": "record zorvella --out takes",
    "record hey zorvella -n 20": 'record "hey zorvella" --count 20 --out takes',
    "listen alexa -t 50% --mic 1": "listen --keyword alexa --threshold 0.5 --device 1",
}


@pytest.fixture
def here(models: Path, shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the files of the examples; "alexa" and "computer" are included, nothing is installed."""
    folder = tmp_path / "here"
    for name in ("takes", "no", "saved", "clips"):
        (folder / name).mkdir(parents=True)
    for file in (shipped / "alexa.onnx", shipped / "computer.onnx", folder / "zorvella.onnx", folder / "better.onnx"):
        shutil.copy(models / "low.onnx", file)
    (folder / "talk.wav").touch()
    monkeypatch.chdir(folder)
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    return folder


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands read and check their options, and do no work."""
    load = Command.load

    def loaded(self: Command) -> Callable[..., None]:
        command = load(self)
        work: Any = inspect.unwrap(command)
        if work is command:
            return wraps(command)(lambda **values: None)
        monkeypatch.setattr(work, "__code__", (lambda options: None).__code__)
        return command

    monkeypatch.setattr(Command, "load", loaded)


@pytest.mark.parametrize("line", GUESSES)
def test_a_guess_is_answered_with_the_line_that_does_it(cli, here: Path, line: str) -> None:
    status, out, err = cli(*shlex.split(line))
    assert (status, out) == (2, "")
    assert err.endswith(f"; try: wakeword {GUESSES[line]}\n")
    assert err.count("\n") == 1


@pytest.mark.parametrize("line", sorted(set(GUESSES.values()) - {"models remove alexa"}))
def test_what_is_offered_can_be_read(cli, here: Path, idle: None, line: str) -> None:
    assert cli(*shlex.split(line))[0::2] == (0, "")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_ends_with_an_example_that_can_be_read(cli, here: Path, idle: None, name: str) -> None:
    program, *arguments = shlex.split(EXAMPLES[name])
    assert (program, arguments[0]) == ("wakeword", name)
    assert cli(*arguments) == (0, "", "")
    shown = cli(name, "--help").out
    assert shown.rstrip().splitlines()[-1].strip() == f"Example: {EXAMPLES[name]}"


def test_there_is_an_example_of_each_command_and_each_guess_is_one() -> None:
    assert set(EXAMPLES) == set(COMMANDS)
    assert not {*COMMANDS_MEANT} & {*COMMANDS}
    assert {line.split()[0] for line in COMMANDS_MEANT.values()} <= {*COMMANDS, "--version"}


@pytest.mark.parametrize("line", ["record", "compare alexa", "listen --bogus", "info alexa computer", "web alexa"])
def test_without_a_guess_the_answer_has_the_example(cli, here: Path, line: str) -> None:
    name = line.split()[0]
    status, _, err = cli(*line.split())
    assert status == 2
    assert err.endswith(f"; for instance: {EXAMPLES[name]}\n")


def test_any_line_is_answered_in_one_line(cli, here: Path, idle: None) -> None:
    options = [option for group in OPTIONS_MEANT for option in group.split()]
    names = [*COMMANDS, *COMMANDS_MEANT, "help", "demo", "nonesuch"]
    words = [*options, *ACTIONS, *(option for _, option in WHOLE_OPTIONS), "--host", "--port", "--fpr", "--min-gap"]
    words += [
        "alexa",
        "zorvella",
        "talk.wav",
        "takes",
        "50%",
        "2s",
        "0,5",
        "-1",
        "",
        " ",
        "--",
        "-",
        "=",
        "--x=",
        "a,b",
    ]
    words += ["a\nb", "\x1b[31m", "x" * 500, "'", "{0}", "\udcff"]
    random = Random(0)
    for _ in range(300):
        line = [random.choice(names), *random.choices(words, k=random.randrange(5))]
        status, _, err = cli(*line)
        assert status in (0, 1, 2), line
        assert status != 2 or err.count("\n") == 1, (line, err)
        offered = err.rstrip("\n").partition("; try: ")[2]
        assert "\x1b" not in offered, line


# --- what is understood


@pytest.mark.parametrize("keywords", ["low,high", "low, high", " low ,high,"])
def test_keywords_may_be_a_list(cli, shipped: Path, recordings: Path, keywords: str) -> None:
    one_by_one = cli("scan", recordings, "--keyword", "low", "--keyword", "high")
    assert one_by_one.status == 0
    assert cli("scan", recordings, "--keyword", keywords).out == one_by_one.out != ""


@pytest.mark.parametrize("name", ["listen", "scan", "review", "evaluate", "serve", "bench"])
def test_every_command_with_keywords_understands_a_list(
    cli, here: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    command = COMMANDS[name].load()
    taken: list[Any] = []
    monkeypatch.setattr(Command, "load", lambda self: wraps(command)(lambda **values: taken.append(values["keyword"])))
    needed = shlex.split(EXAMPLES[name])[2:]
    assert cli(name, *needed, "--keyword", "alexa,computer").status == 0
    assert list(taken[0])[-2:] == ["alexa", "computer"]


def test_a_name_with_a_comma_is_one_model(cli, shipped: Path, recordings: Path) -> None:
    (shipped / "high.onnx").rename(shipped / "low,high.onnx")
    assert "hey high" in cli("scan", recordings, "--keyword", "low,high").out


def test_a_name_is_understood_as_a_file_in_the_current_folder(cli, here: Path, models: Path) -> None:
    shutil.copy(models / "high.onnx", here / "Hey-High.onnx")
    (here / "hey high").mkdir()  # of recordings
    whole = cli("info", "Hey-High.onnx")
    assert whole.status == 0
    for name in ("Hey-High", "hey high", f"{here}/hey-high"):
        assert cli("info", name) == whole
    for option in ("--keyword", "--model"):
        assert cli("scan", here / "no", option, "hey high").err.startswith(f"wakeword: {here}/no")
    assert "did you mean Hey-High?" in cli("info", "hey-hihg").err


def test_an_included_word_comes_before_a_file(cli, here: Path, models: Path) -> None:
    shutil.copy(models / "high.onnx", here / "alexa.onnx")
    assert "hey high" not in cli("info", "alexa").out
    assert "hey high" in cli("info", "alexa.onnx").out


def test_a_model_to_calibrate_is_a_file_of_the_user(cli, here: Path) -> None:
    refused = cli("calibrate", "--model", "alexa", "--positives", here / "takes")
    assert refused.status == 2
    assert "/alexa.onnx alexa.onnx, and --model alexa.onnx" in refused.err
