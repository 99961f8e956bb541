"""Laws of the registry of exporters: each is found by its name, also one of another package, and errors name the cause."""

from pathlib import Path

import pytest

from wakeword.base.errors import ConfigError
from wakeword_export.registry import EXPORTERS, exporter_named


def package(folder: Path, name: str, code: str) -> str:
    """An installed package with an exporter, in a folder for the import path."""
    described = folder / f"{name}_files-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-files\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(f"[wakeword.exporters]\n{name} = {name}_files:EXPORTER\n")
    (folder / f"{name}_files.py").write_text(code)
    return str(folder)


def test_every_built_in_exporter_is_found_by_its_name() -> None:
    assert [exporter_named(one.name) for one in EXPORTERS] == list(EXPORTERS)


def test_a_package_does_not_replace_a_built_in_exporter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(package(tmp_path, "openwakeword", "EXPORTER = None"))
    assert exporter_named("openwakeword") in EXPORTERS


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import nothing_of_this_name", r"mine: could not load mine_files:EXPORTER: .*nothing_of_this_name"),
        ("EXPORTER = 1", "expected the Exporter of that name, 'mine', at mine_files:EXPORTER, got 1"),
    ],
)
def test_an_unusable_package_is_named(code: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(package(tmp_path, "mine", code))
    monkeypatch.delitem(__import__("sys").modules, "mine_files", raising=False)
    with pytest.raises(ConfigError, match=reason):
        exporter_named("mine")
    with pytest.raises(ConfigError, match="to export to among openwakeword, microwakeword, hacs, mine, got 'theirs'"):
        exporter_named("theirs")
