"""What the packages import, and where they find their files."""

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import wakeword
from wakeword.model import assets_folder

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "wakeword": ROOT / "wakeword",
    "wakeword_train": ROOT / "train" / "wakeword_train",
    "wakeword_tools": ROOT / "tools" / "wakeword_tools",
}


def imports(path: Path, *, top_level: bool) -> Iterator[str]:
    """First names of what a file imports: when it is imported itself, or at any time."""
    tree = ast.parse(path.read_text())
    for node in tree.body if top_level else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").split(".")[0]


def assert_never_imports(package: str, forbidden: set[str], *, top_level: bool, but: str = "nothing") -> None:
    for path in PACKAGES[package].rglob("*.py"):
        found = forbidden & set(imports(path, top_level=top_level))
        assert not found or path.parent.name == but, f"{path.relative_to(ROOT)} imports {found}"


@pytest.mark.parametrize("module", ["wakeword", "wakeword.cli"])
def test_the_runtime_loads_nothing_that_only_training_needs(module: str) -> None:
    heavy = "torch torchaudio librosa onnx scipy matplotlib numba sklearn sounddevice wakeword_train wakeword_tools"
    code = f"import sys, {module}; print(*(set('{heavy}'.split()) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_layers() -> None:
    training = {"torch", "torchaudio", "librosa", "scipy", "matplotlib", "onnx"}
    # The command line joins the layers; it imports the upper ones when a command needs them.
    upper = {"torch", "torchaudio", "wakeword_train", "wakeword_tools"}
    assert_never_imports("wakeword", upper, top_level=False, but="cli")
    assert_never_imports("wakeword", training, top_level=True)
    assert_never_imports("wakeword_tools", {"torch", "torchaudio", "wakeword_train"}, top_level=False)
    assert_never_imports("wakeword_train", {"wakeword_tools"}, top_level=False)


def test_imports_inside_the_runtime_form_no_circle() -> None:
    edges = {
        path.stem: {
            node.module.split(".")[1]
            for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("wakeword.")
        }
        for path in PACKAGES["wakeword"].glob("*.py")
        if path.stem not in ("__init__", "__main__")
    }
    while edges:
        leaves = {name for name, needs in edges.items() if not needs & set(edges)}
        assert leaves, f"these import each other in a circle: {sorted(edges)}"
        edges = {name: needs for name, needs in edges.items() if name not in leaves}


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_are_typed(package: str) -> None:
    assert (PACKAGES[package] / "py.typed").exists()
    assert importlib.import_module(package).__doc__


def test_every_public_name_exists() -> None:
    assert sorted(wakeword.__all__) == wakeword.__all__
    assert all(hasattr(wakeword, name) for name in wakeword.__all__)


def test_assets_are_found_in_a_checkout() -> None:
    assert assets_folder() == ROOT / "assets"
    assert (assets_folder() / "audio" / "demo.flac").is_file()
