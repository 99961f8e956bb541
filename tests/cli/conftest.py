"""The command line, run in this process, and recordings whose detections are known."""

import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import soundfile
from builders import band_model_bytes, bursts

from wakeword.cli import main


class Result(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str


Cli = Callable[..., Result]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Cli]:
    """Runs ``wakeword`` with the given arguments."""

    def run(*arguments: str | Path) -> Result:
        monkeypatch.setattr(sys, "argv", ["wakeword", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        status = ended.value.code
        return Result(status if isinstance(status, int) else 0, *capsys.readouterr())

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``low.onnx`` and ``high.onnx``; the keyword of the latter has two words."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "low.onnx").write_bytes(band_model_bytes("low", 1))
    (folder / "high.onnx").write_bytes(band_model_bytes("hey high", -1))
    return folder


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    """A folder of recordings in which low and high bursts lie, at several rates and in several formats."""
    folder = tmp_path / "recordings"
    (folder / "deeper").mkdir(parents=True)
    soundfile.write(folder / "first.wav", bursts(8, {2: "low", 4: "high", 6: "low"}), 16_000)
    soundfile.write(folder / "deeper" / "second.flac", np.repeat(bursts(5, {1: "low", 3: "high"}), 3), 48_000)
    soundfile.write(folder / "deeper" / "third.ogg", bursts(4, {2: "high"}), 16_000)
    (folder / "notes.txt").write_text("no audio")
    return folder


@pytest.fixture
def shipped(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of shipped models, which are ``models`` for this test."""
    folder = tmp_path / "assets" / "models"
    shutil.copytree(models, folder)
    monkeypatch.setattr("wakeword.model.assets_folder", lambda: folder.parent)
    return folder
