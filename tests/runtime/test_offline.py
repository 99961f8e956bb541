"""Nothing is sent anywhere, and nothing is left in the user's home."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from wakeword.model.installed import assets_folder

DETECT = f"""
from wakeword import Detector, FileSource
found = list(Detector("marvin").run(FileSource({str(assets_folder() / "audio" / "marvin-f4.flac")!r})))
assert found
"""


def run(code: str, home: Path, **environment: str) -> str:
    """What a program prints that runs with an empty home."""
    kept = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    places = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "XDG_DATA_HOME": str(home / "data")}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=kept | places | environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_detection_leaves_nothing_in_the_home(tmp_path: Path) -> None:
    """The usage data of ONNX Runtime would wait there to be sent."""
    run(DETECT, tmp_path)
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize(
    "module", ["wakeword", "wakeword.model.model", "wakeword.verify.phoneme_verifier", "wakeword.cli"]
)
def test_usage_data_are_turned_off_whatever_is_imported_first(module: str, tmp_path: Path) -> None:
    code = f"import os, {module}; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    assert run(code, tmp_path).strip() == "1"
    assert run(code, tmp_path, ORT_DISABLE_TELEMETRY="0").strip() == "0"
