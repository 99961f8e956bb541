"""What the packages hold: a computer that only listens gets nothing that training alone needs."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

from support import ROOT

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
BACKGROUND = ROOT / "background"
MOST_BYTES = 19.5e6
"""Of the files of the wheel; with all that it needs 199 MB are installed, and 200 are the limit."""


def files_of_the_wheel() -> Iterator[Path]:
    wheel = SETTINGS["tool"]["hatch"]["build"]["targets"]["wheel"]
    for name in (*wheel["packages"], *wheel["force-include"]):
        place = ROOT / name
        yield from (path for path in (place, *place.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)


def test_the_base_wheel_is_small() -> None:
    found = list(files_of_the_wheel())
    assert any(path.suffix == ".onnx" for path in found)
    assert not [path for path in found if path.suffix == ".pack"]
    assert sum(path.stat().st_size for path in found) < MOST_BYTES


def test_the_package_of_the_background_is_what_training_installs() -> None:
    """From the folder of the checkout, which a wheel for an index does not name."""
    own = tomllib.loads((BACKGROUND / "pyproject.toml").read_text(encoding="utf-8"))
    folder = f" @ {{root:uri}}/{BACKGROUND.name}"
    assert own["project"]["name"] + folder in SETTINGS["project"]["optional-dependencies"]["train"]
    assert folder in (ROOT / ".ci" / "supply").read_text(encoding="utf-8")
    (package,) = own["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert {path.name for path in (BACKGROUND / package).iterdir()} >= {"__init__.py", "starter.pack"}
    assert BACKGROUND.name in SETTINGS["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
