"""The attacks run on a checkout, tell what survives from what does not, and make a page of both."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support import ROOT

from wakeword import DataError
from wakeword_tools.soak.attacks import probes, run
from wakeword_tools.soak.attacks.prepare import prepare
from wakeword_tools.soak.attacks.run import TITLES, attack, write_page


def test_a_class_of_attacks_is_tried_on_a_checkout() -> None:
    lines: list[str] = []
    found = attack(ROOT, sys.executable, ["card_flips"], report=lines.append)
    assert found["card_flips"]["tried"] == found["card_flips"]["survived"] == 150
    assert "150 of 150" in lines[0]


def test_every_class_has_a_title_and_no_other() -> None:
    assert set(TITLES) == set(probes.CLASSES)


def test_the_files_are_the_same_for_the_same_checkout(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        prepare(ROOT / "assets", tmp_path / name)
    one, two = (
        {
            path.relative_to(tmp_path / name): path.read_bytes()
            for path in (tmp_path / name).rglob("*")
            if path.is_file()
        }
        for name in ("one", "two")
    )
    # Containers of Ogg and CAF have serial numbers and dates.
    differ = [path for path in one if one[path] != two[path] and path.parts[0] != "audio"]
    assert len(one) == len(two) > 60
    assert differ == []


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="checkout"):
        attack(tmp_path, sys.executable, ["flips"], report=print)


def test_a_class_that_gives_nothing_is_no_success() -> None:
    with pytest.raises(DataError, match="expected results"):
        attack(ROOT, "/bin/false", ["flips"], report=print)


@pytest.mark.parametrize(
    ("error", "survives"), [(ValueError("raw"), False), (DataError("two\nlines"), False), (DataError("typed"), True)]
)
def test_a_call_survives_with_a_typed_error_of_one_line(error: Exception, survives: bool) -> None:
    def call() -> None:
        raise error

    assert probes.called("it", call)[1] is survives


def test_the_page_has_a_row_for_each_class_and_says_what_is_left(tmp_path: Path) -> None:
    def side(survived: int, failures: list[list[str]]) -> dict[str, Any]:
        counts = {name: {"tried": 2, "survived": 2, "failures": []} for name in TITLES}
        return {"commit": "abc", "classes": {**counts, "api": {"tried": 2, "survived": survived, "failures": failures}}}

    before = side(0, [["push", "TypeError"], ["<b>run", "|"]])
    page = tmp_path / "attacks.md"
    write_page(page, {"before": before, "after": side(1, [["<b>run", "|"]]), "python": "3", "system": "linux"})
    text = page.read_text()
    assert f"| {TITLES['api']} | 2 | 0 of 2 | 1 |" in text
    assert sum(line.startswith("| ") for line in text.splitlines()) == len(TITLES) + 2
    assert "<b>" not in text
    assert json.loads(page.with_suffix(".json").read_text())["before"] == before


def test_attacks_without_an_end_are_a_typed_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_SECONDS", 1)
    sleeper = tmp_path / "python"
    sleeper.write_text("#!/bin/sh\nexec sleep 60\n")
    sleeper.chmod(0o755)
    with pytest.raises(DataError, match="to end within 1 s"):
        attack(ROOT, str(sleeper), ["flips"], report=print)


def test_the_commit_is_unknown_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run.commit_of(ROOT) == "unknown"
