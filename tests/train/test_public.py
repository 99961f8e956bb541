"""The public names of the package, imported on first use, and the command's options, which do not need torch."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import wakeword_train
from wakeword.cli.app import app
from wakeword_train.methods.registry import METHODS

STUB = Path(wakeword_train.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
# As if only the runtime were installed: importing these fails.
WITHOUT_TRAINING = """
import importlib.util, sys
find = importlib.util.find_spec
absent = ("torch", "torchaudio", "onnx", "scipy", "librosa", "matplotlib")
importlib.util.find_spec = lambda name, *rest: None if name in absent else find(name, *rest)
sys.modules.update(dict.fromkeys(absent))
import typer
from wakeword.base.errors import WakewordError
from wakeword.cli.app import COMMANDS
try:
    typer.run(COMMANDS["train"].load())
except WakewordError as error:
    sys.exit(str(error))
"""


def test_every_public_name_exists_and_is_sorted() -> None:
    assert len(set(wakeword_train.__all__)) == len(wakeword_train.__all__)
    assert all(hasattr(wakeword_train, name) for name in wakeword_train.__all__)
    assert set(wakeword_train.__all__) <= set(dir(wakeword_train))
    with pytest.raises(AttributeError, match="attribute absent"):
        _ = wakeword_train.absent


def test_type_checkers_see_the_same_names_from_the_same_places() -> None:
    seen = {
        alias.name: node.module
        for node in ast.walk(ast.parse(STUB))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(seen) == sorted(wakeword_train.__all__)
    for name, module in seen.items():
        place = importlib.import_module(f"wakeword_train.{module}")
        assert getattr(wakeword_train, name) is getattr(place, name), name


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (["--help"], 0, "--near-negatives"),
        (["marvin"], 1, "packages are missing: torch, torchaudio, onnx, scipy; install torch first"),
    ],
)
def test_the_options_need_no_training_packages(arguments: list[str], status: int, expected: str) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_TRAINING, *arguments], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    assert expected in done.stdout + done.stderr


def test_the_help_names_every_method() -> None:
    text = CliRunner().invoke(app, ["train", "--help"], env={"COLUMNS": "200"}).output
    assert all(name in text for name in METHODS)
