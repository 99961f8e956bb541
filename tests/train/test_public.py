"""The options of the command need no torch."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from wakeword.cli.app import app
from wakeword_train.methods.registry import METHODS

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
    assert all(method.name in text for method in METHODS)
