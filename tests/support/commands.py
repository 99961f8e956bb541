"""The command line, run in this process or in a separate one, and recordings with known detections."""

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import soundfile

from support.builders import band_model_bytes, bursts
from wakeword.cli import main


class Result(NamedTuple):
    """Exit status and output of a command."""

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
    """A folder of recordings with low and high bursts, at several rates and in several formats."""
    folder = tmp_path / "recordings"
    (folder / "deeper").mkdir(parents=True)
    soundfile.write(folder / "first.wav", bursts(8, {2: "low", 4: "high", 6: "low"}), 16_000)
    soundfile.write(folder / "deeper" / "second.flac", np.repeat(bursts(5, {1: "low", 3: "high"}), 3), 48_000)
    # Vorbis keeps the low part of its hiss: amplified, that sounds low twice.
    soundfile.write(folder / "deeper" / "third.ogg", bursts(4, {2: "high"}), 16_000)
    (folder / "notes.txt").write_text("no audio")
    return folder


@pytest.fixture
def shipped(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of shipped models, which are ``models`` for this test."""
    folder = tmp_path / "assets" / "models"
    shutil.copytree(models, folder)
    monkeypatch.setattr("wakeword.model.installed.assets_folder", lambda *_: folder.parent)
    return folder


@pytest.fixture
def play(cli: Cli, models: Path, recordings: Path) -> Cli:
    """Listens for "low" in the first recording, which contains it twice."""
    return lambda *arguments: cli(
        "listen", "--model", models / "low.onnx", "--input", recordings / "first.wav", *arguments
    )


@pytest.fixture
def play_separately(models: Path, recordings: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The same in a separate process, as programs need a real stderr; the variable ``REPORTS`` names a folder for them.

    No file that the process writes can exceed ``limit`` bytes, as on a full disk.
    """
    command = [sys.executable, "-m", "wakeword", "listen", "--model", models / "low.onnx"]

    def run(*arguments: str | Path, limit: int = resource.RLIM_INFINITY) -> subprocess.CompletedProcess[str]:
        with (tmp_path / "stderr").open("w+") as stderr:
            # A file, not a pipe: a program that still runs would keep a pipe open.
            done = subprocess.run(
                [*command, "--input", recordings / "first.wav", *arguments],
                env={**os.environ, "REPORTS": str(tmp_path)},
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                timeout=60,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
            )
            stderr.seek(0)
            done.stderr = stderr.read()
        return done

    return run
