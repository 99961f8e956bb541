"""A line that cannot be read is answered in one line; what the examples and lists of keywords promise is understood."""

import inspect
import shlex
import shutil
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from support.each_command import each_command, needs_command

from wakeword.cli.app import COMMANDS, Command
from wakeword.cli.example_lines import EXAMPLES
from wakeword.model.installed import HOME_VARIABLE


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
        if self.work:
            module = SimpleNamespace(**{self.work.partition(":")[2]: lambda options: None})
            monkeypatch.setattr("wakeword.cli.option_class.import_module", lambda place: module)
            return command
        work: Any = inspect.unwrap(command)
        if work is command:
            return wraps(command)(lambda **values: None)
        monkeypatch.setattr(work, "__code__", (lambda options: None).__code__)
        return command

    monkeypatch.setattr(Command, "load", loaded)


@pytest.mark.parametrize("name", each_command())
def test_the_help_of_a_command_ends_with_an_example_that_can_be_read(cli, here: Path, idle: None, name: str) -> None:
    program, *arguments = shlex.split(EXAMPLES[name])
    assert (program, arguments[0]) == ("wakeword", name)
    assert cli(*arguments) == (0, "", "")
    shown = " ".join(cli(name, "--help").out.replace("\\\n", " ").split())
    assert shown.endswith(f"Example: {EXAMPLES[name]}")


def test_there_is_an_example_of_each_command_and_the_help_of_all_ends_with_the_first(cli) -> None:
    assert set(EXAMPLES) == set(COMMANDS)
    assert cli("--help").out.rstrip().endswith(f"Example: {EXAMPLES['listen']}")


@pytest.mark.parametrize(
    "line",
    [
        *("record", "info alexa computer", "web alexa"),
        pytest.param("compare alexa", marks=needs_command("compare")),
    ],
)
def test_the_answer_to_a_line_that_cannot_be_read_has_the_example(cli, here: Path, line: str) -> None:
    name = line.split()[0]
    status, _, err = cli(*line.split())
    assert status == 2
    assert err.endswith(f"; for instance: {EXAMPLES[name]}\n")


def test_any_line_is_answered_in_one_line(cli, here: Path, idle: None) -> None:
    names = [*COMMANDS, "help", "demo", "nonesuch", "-v", "a\nb", "\x1b[31m", "\udcff"]
    words = ["--keyword", "--keywrd", "--model", "--out", "-k", "--seconds", "--fpr", "--min-gap", "install", "add"]
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
        assert "\x1b" not in err, line


@pytest.mark.parametrize("keywords", ["low,high", "low, high", " low ,high,"])
def test_keywords_may_be_a_list(cli, shipped: Path, recordings: Path, keywords: str) -> None:
    one_by_one = cli("scan", recordings, "--keyword", "low", "--keyword", "high")
    assert one_by_one.status == 0
    assert cli("scan", recordings, "--keyword", keywords).out == one_by_one.out != ""


@pytest.mark.parametrize("name", each_command("listen", "scan", "review", "evaluate", "serve"))
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


@needs_command("calibrate")
def test_a_model_to_calibrate_is_a_file_of_the_user(cli, here: Path) -> None:
    refused = cli("calibrate", "--model", "alexa", "--positives", here / "takes")
    assert refused.status == 2
    assert "/alexa.onnx alexa.onnx, and --model alexa.onnx" in refused.err


@pytest.mark.parametrize(("line", "nearest"), [("lisen", "listen"), ("info --jsn alexa", "--json")])
def test_a_misspelt_command_or_option_is_answered_with_the_nearest_one(cli, line: str, nearest: str) -> None:
    status, _, err = cli(*line.split())
    assert (status, err.count("\n")) == (2, 1)
    assert nearest in err


def test_a_sensitivity_is_not_taken_for_a_threshold(cli) -> None:
    """They run in opposite directions."""
    for line in (("listen", "--sensitivity", "0.8"), ("scan", "--sensitivity=3")):
        status, _, err = cli(*line)
        assert (status, err.count("\n")) == (2, 1)
        assert "no such option" in err
        assert "--sensitivity" in err
        assert "threshold" not in err


@pytest.mark.parametrize(
    ("value", "answer"), [("2", "2.0 is not within 0 to 1"), ("x", "'x' is not such a number"), ("nan", "number")]
)
def test_a_value_that_cannot_be_is_answered_without_an_example(cli, value: str, answer: str) -> None:
    status, _, err = cli("scan", "--threshold", value, "talk.wav")
    assert status == 2
    assert answer in err
    assert "for instance" not in err


@pytest.mark.parametrize("name", each_command())
def test_help_fits_on_a_narrow_screen_and_its_example_can_be_copied(
    cli, here: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    shown = cli(name, "--help").out
    assert max(map(len, shown.splitlines())) <= 60
    assert shlex.split(shown.partition("Example: ")[2].replace("\\\n", " ")) == shlex.split(EXAMPLES[name])
