"""Laws of commands that other packages offer: they run as ours do, take no name of ours, and break nothing."""

import importlib.metadata
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from wakeword.cli.app import COMMANDS

CODE = '''
from wakeword import WakewordError


def greet(name: str, loudly: bool = False) -> None:
    """Greet someone.

    At once.
    """
    print(name.upper() if loudly else name)


def refuse() -> None:
    raise WakewordError("not today")


def of_a_strange_type(value: object) -> None:
    """Take what no line can give."""


VALUE = 1
'''
BROKEN = {
    "gone": ("greeting_broken:f", "nothing_of_this_name"),
    "leaving": ("greeting_leaves:f", "no reason"),
    "lacking": ("greeting:absent", "absent"),
    "number": ("greeting:VALUE", "expected a function, got 1"),
    "strange": ("greeting:of_a_strange_type", "object"),
}
"""The place of each command that cannot be loaded, and what the reason says."""


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package that offers two commands, one of the name of ours, and those that are broken."""
    described = tmp_path / "hello_kit-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: hello-kit\nVersion: 1.0\n")
    places = {"greet": "greeting:greet", "refuse": "greeting:refuse", "info": "greeting:greet"}
    places |= {name: place for name, (place, _) in BROKEN.items()}
    lines = [f"{name} = {place}" for name, place in places.items()]
    (described / "entry_points.txt").write_text("\n".join(["[wakeword.commands]", *lines]))
    (tmp_path / "greeting.py").write_text(CODE)
    (tmp_path / "greeting_broken.py").write_text("import nothing_of_this_name")
    (tmp_path / "greeting_leaves.py").write_text("raise SystemExit('no reason')")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("greeting", None)


def test_a_command_of_another_package_runs_with_its_options(cli) -> None:
    assert cli("greet", "ann", "--loudly") == (0, "ANN\n", "")
    assert cli("greet", "--help").out.count("At once.") == 1


def test_its_errors_are_one_line_and_a_status_as_ours_are(cli) -> None:
    assert cli("refuse") == (1, "", "wakeword: not today\n")
    ended = cli("greet")
    assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1)


def test_help_lists_it_after_ours_with_the_first_line_of_its_docstring(cli) -> None:
    shown = cli("--help")
    assert shown.status == 0
    assert " ".join(shown.out.split()).count("greet Greet someone. │") == 1
    assert max(shown.out.index(f"│ {name} ") for name in COMMANDS) < shown.out.index("│ greet ")


def test_a_name_of_ours_cannot_be_taken(cli) -> None:
    assert "listens for" in cli("info", "marvin").out
    assert cli("--help").out.count("│ info ") == 1


@pytest.mark.parametrize("options", [[], ["--help"], ["there", "--option"]])
@pytest.mark.parametrize("name", BROKEN)
def test_one_that_cannot_be_loaded_is_one_line_with_package_and_reason(cli, name: str, options: list[str]) -> None:
    place, reason = BROKEN[name]
    ended = cli(name, *options)
    assert (ended.status, ended.out, ended.err.count("\n")) == (1, "", 1)
    assert ended.err.startswith(f"wakeword: {name}: could not load {place} of hello-kit: ")
    assert reason in ended.err


def test_help_says_of_each_why_it_cannot_be_loaded(cli) -> None:
    shown = cli("--help")
    assert (shown.status, shown.err) == (0, "")
    assert all(f"│ {name} " in shown.out for name in BROKEN)
    assert shown.out.count("could not load ") == len(BROKEN)


def test_no_package_is_asked_for_a_command_of_ours(cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(**chosen: str) -> NoReturn:
        raise AssertionError(chosen)

    monkeypatch.setattr(importlib.metadata, "entry_points", never)
    assert cli("info", "marvin", "--json").status == 0
    assert cli("info", "--help").status == 0
