"""What the wheels hold: a computer that only listens gets nothing that measuring or training alone needs."""

import re
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from support import ROOT
from support.separate_process import SeparateProcess
from support.source import INSTALLED, PACKAGES, below, modules

from wakeword.base.plugins import extra_of
from wakeword.base.version import __version__
from wakeword.cli.app import COMMANDS

FOLDERS = {package: PACKAGES[package].parent for package in INSTALLED}
"""Package -> the folder with its ``pyproject.toml``."""
SETTINGS = {
    package: tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    for package, folder in FOLDERS.items()
}
EXTRAS = SETTINGS["wakeword"]["project"]["optional-dependencies"]
BACKGROUND, EAR, TONGUES = ROOT / "background", ROOT / "ear", ROOT / "tongues"
OF_A_RECOGNISER = ("phonemes.onnx", "confusions.json", "text-alone.json")
OF_LANGUAGES = (*OF_A_RECOGNISER, "foreign.pack", "quick.onnx")
MAX_BYTES = 18.7e6
"""Of the files of the runtime's wheel; with all that it needs 199 MB are installed, and 200 are the limit."""


def wheel_of(package: str) -> dict[str, Any]:
    found: dict[str, Any] = SETTINGS[package]["tool"]["hatch"]["build"]["targets"]["wheel"]
    return found


def files_of_the_wheel(package: str) -> Iterator[Path]:
    for name in (*wheel_of(package)["packages"], *wheel_of(package)["force-include"]):
        place = FOLDERS[package] / name
        yield from (path for path in (place, *place.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)


def installed_by(*needs: str) -> set[str]:
    """The packages of this repository that pip installs for these requirements of ``wakeword``."""
    found, waiting = set(), list(needs)
    while waiting:
        name, extras = re.fullmatch(r"([a-z-]+)(?:\[([a-z,]+)\])?.*", waiting.pop()).groups()  # type: ignore[union-attr]
        package = name.replace("-", "_")
        if package not in FOLDERS:
            continue
        found.add(package)
        project = SETTINGS[package]["project"]
        waiting += [] if package == "wakeword" else project["dependencies"]
        waiting += [
            one for extra in (extras or "").split(",") if extra for one in project["optional-dependencies"][extra]
        ]
    return found


def test_the_base_wheel_is_small() -> None:
    found = list(files_of_the_wheel("wakeword"))
    assert any(path.suffix == ".onnx" for path in found)
    assert not [path for path in found if path.suffix == ".pack"]
    assert sum(path.stat().st_size for path in found) < MAX_BYTES


def test_each_file_of_the_assets_is_in_the_wheel_of_the_package_that_reads_it() -> None:
    """At the place in which ``assets_folder`` looks; with each comes what says where it is from."""
    origin = ROOT / "assets" / "LICENSES.md"
    held: list[Path] = []
    for package in INSTALLED:
        own = {path for path in files_of_the_wheel(package) if origin.parent in path.resolve().parents}
        assert not own or origin in {path.resolve() for path in own}
        held += [path.resolve() for path in own if path.name != origin.name]
        for name, place in wheel_of(package)["force-include"].items():
            if "assets" in Path(name).parts:
                assert place == f"{package}/{name.removeprefix('../')}"
    assert sorted(held) == sorted(path for path in origin.parent.rglob("*") if path.is_file() and path != origin)


@pytest.mark.parametrize("package", INSTALLED)
def test_a_wheel_holds_one_package_and_has_the_version_of_all(package: str) -> None:
    own = SETTINGS[package]
    (held,) = wheel_of(package)["packages"]
    assert own["project"]["name"] == package.replace("_", "-")
    assert FOLDERS[package] / held == PACKAGES[package]
    assert "version" in own["project"]["dynamic"]
    place = FOLDERS[package] / own["tool"]["hatch"]["version"]["path"]
    assert place.resolve() == ROOT / "wakeword" / "base" / "version.py"
    assert __version__ in place.read_text(encoding="utf-8")


@pytest.mark.parametrize("package", INSTALLED)
def test_a_package_needs_those_below_it(package: str) -> None:
    """The first needs none of the others without an extra, and .ci/supply finds each that is to have its version."""
    needs = SETTINGS[package]["project"]["dependencies"]
    # Training calls what an export has for it, and so is there where that is imported.
    wanted = below(package) - ({"wakeword_train"} if package == "wakeword_export" else set())
    assert installed_by(*needs) == wanted
    found = {"wakeword", "wakeword-tools", "wakeword-tools[all]"}
    assert not below(package) or {one for one in needs if one.startswith("wakeword")} & found


@pytest.mark.parametrize("name", COMMANDS)
def test_the_extra_of_a_command_installs_its_package(name: str) -> None:
    package = COMMANDS[name].place.split(".")[0]
    extra = extra_of(package)
    assert package in {"wakeword"} | installed_by(*(EXTRAS[extra] if extra else ()))
    assert bool(extra) == (package != "wakeword")


def test_what_an_extra_installs_of_the_checkout_lies_where_it_says() -> None:
    """From the folder of the checkout, which a wheel for an index does not name."""
    places = {folder: package.replace("_", "-") for package, folder in FOLDERS.items() if folder != ROOT}
    places |= {BACKGROUND: "wakeword-background", EAR: "wakeword-ear", TONGUES: "wakeword-languages"}
    named = [one for needs in EXTRAS.values() for one in needs if "@" in one]
    for one in named:
        project, folder = re.fullmatch(r"([a-z-]+)(?:\[[a-z]+\])? @ \{root:uri\}/([a-z]+)", one).groups()  # type: ignore[union-attr]
        assert places[ROOT / folder] == project
    assert {one.split("/")[-1] for one in EXTRAS["train"]} == {"train", "tools", "export", "background", "ear"}
    assert {one.split("/")[-1] for one in named} == {folder.name for folder in places}
    assert {folder.name for folder in places} <= set(
        SETTINGS["wakeword"]["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    )


@pytest.mark.parametrize(
    ("folder", "others"),
    [(BACKGROUND, ()), (EAR, OF_A_RECOGNISER), (TONGUES, OF_LANGUAGES)],
    ids=["background", "ear", "languages"],
)
def test_a_package_of_data_holds_what_training_reads(folder: Path, others: Sequence[str]) -> None:
    """Training asks for those that English words need, and not for the one of other languages."""
    own = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    asked = f"{own['project']['name']}>={own['project']['version'].rpartition('.')[0]}"
    assert (asked in SETTINGS["wakeword_train"]["project"]["dependencies"]) is (folder is not TONGUES)
    (package,) = own["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    held = {path.name for path in (folder / package).iterdir()}
    assert held >= {"__init__.py", "starter.pack", "noise.pack", *others}
    assert (held >= {"starter-micro.pack", "others-micro.pack"}) is (folder is BACKGROUND)


def alone(program: str) -> "subprocess.CompletedProcess[str]":
    """Runs Python as if the wheel of the runtime alone were installed."""
    return SeparateProcess(*(name for name in PACKAGES if name != "wakeword")).run(program)


def test_every_module_of_the_runtime_is_imported_without_the_other_packages() -> None:
    names = [module.name for module in modules("wakeword") if module.name != "wakeword.__main__"]
    done = alone(f"from importlib import import_module\nfor name in {names}: import_module(name)")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("--help", "train"),
        ("listen --help", "--keyword"),
        ("info marvin", "marvin"),
        ("scan --keyword marvin {root}/assets/audio/marvin-f4.flac", "marvin"),
        ("scan --help", "--format"),
        ("models", "marvin"),
        ("doctor --help", "--seconds"),
        ("record --help", "--out"),
        ("review --help", "--play"),
        ("web --help", "--port"),
    ],
)
def test_the_runtime_alone_runs_what_a_listener_needs(line: str, expected: str) -> None:
    arguments = ["wakeword", *line.format(root=ROOT).split()]
    done = alone(f"from wakeword.cli import main\nsys.argv = {arguments}\nmain()")
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout
