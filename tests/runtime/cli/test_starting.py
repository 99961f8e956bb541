"""The first milliseconds and the surroundings of a command: signals while it starts, closed streams, readers that leave."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from wakeword.cli import exit_at_signals

POINTS = ["wakeword.cli.app", "typer", "numpy", "onnxruntime", "soundfile", "wakeword.cli.scan"]
"""Modules at whose import a signal comes, in the order in which a scan imports them, more or less."""

SIGNALLED = """if True:
    import signal, sys
    point, number = sys.argv[1], int(sys.argv[2])

    class Signalled:
        def find_spec(self, name, path=None, target=None):
            if name == point:
                signal.raise_signal(number)

    sys.meta_path.insert(0, Signalled())
    from wakeword.cli import main
    sys.argv = ["wakeword", *sys.argv[3:]]
    main()
"""


@pytest.mark.parametrize(("number", "status"), [(2, 130), (15, 143)])
@pytest.mark.parametrize("point", POINTS)
def test_a_signal_during_an_import_ends_the_command_at_once(
    models: Path, recordings: Path, point: str, number: int, status: int
) -> None:
    arguments = [point, str(number), "scan", recordings / "first.wav", "--model", models / "low.onnx"]
    done = subprocess.run([sys.executable, "-c", SIGNALLED, *arguments], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "")


def test_nothing_that_takes_time_is_imported_before_signals_are_seen_to() -> None:
    code = "import sys, wakeword.cli; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(done.stdout.split())
    assert "wakeword" in loaded
    assert not loaded & {"typer", "rich", "numpy", "onnxruntime", "soundfile", "soxr", "typing", "inspect"}


def test_an_ignored_signal_stays_ignored() -> None:
    import signal

    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    other = signal.getsignal(signal.SIGTERM)
    try:
        exit_at_signals()
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) != other
    finally:
        signal.signal(signal.SIGINT, previous)
        signal.signal(signal.SIGTERM, other)


def shell(script: str, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    """A command in a shell script, which has it as ``"$@"``."""
    command = ["bash", "-c", script, "bash", sys.executable, "-m", "wakeword", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="closes streams in a shell")


@needs_bash
@pytest.mark.parametrize("command", ["scan {wav}", "listen --input {wav}"])
@pytest.mark.parametrize("closed", ["2>&-", "<&-", "2>&- <&-"])
def test_a_closed_stream_changes_nothing_on_the_others(
    models: Path, recordings: Path, command: str, closed: str
) -> None:
    arguments = [part.format(wav=recordings / "first.wav") for part in command.split()]
    done = shell(f'exec "$@" {closed}', *arguments, "--model", models / "low.onnx")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 2)
    assert "Traceback" not in done.stderr


@needs_bash
def test_without_stderr_an_error_is_not_printed_elsewhere(models: Path, recordings: Path, tmp_path: Path) -> None:
    done = shell('exec "$@" 2>&-', "scan", "missing.wav", "--model", models / "low.onnx")
    assert (done.returncode, done.stdout) == (1, "")
    out = tmp_path / "found.txt"
    assert (
        shell('exec "$@" 2>&- >&- <&-', "scan", recordings, "--model", models / "low.onnx", "--out", out).returncode
        == 0
    )
    assert len(out.read_text().splitlines()) == 3


@needs_bash
def test_input_from_a_closed_stdin_is_an_error_not_an_empty_recording(models: Path) -> None:
    done = shell('exec "$@" <&-', "listen", "--input", "-", "--model", models / "low.onnx")
    assert done.returncode == 1
    assert done.stderr.startswith("wakeword: expected raw PCM on standard input")


@needs_bash
@pytest.mark.parametrize(
    "command", [["scan", "{wav}", "--threshold", "0.3"], ["info", "{low}"], ["--version"], ["models"]]
)
def test_a_reader_that_leaves_is_no_failure(models: Path, recordings: Path, command: list[str]) -> None:
    arguments = [part.format(wav=recordings / "first.wav", low=models / "low.onnx") for part in command]
    options = ["--model", models / "low.onnx"] if "{wav}" in command else []
    # The reader leaves before the first line is written.
    done = shell(
        'set -o pipefail; "$@" | exec sh -c "exec <&-; sleep 0.1"; exit ${PIPESTATUS[0]}', *arguments, *options
    )
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    assert "wakeword: " not in done.stderr
    assert done.returncode == 0


@pytest.mark.skipif(os.name != "posix", reason="redirects a file descriptor")
def test_decoders_do_not_write_to_the_terminal(models: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.mp3"
    soundfile.write(path, 0.3 * np.random.default_rng(0).standard_normal(32_000), 16_000)
    data = bytearray(path.read_bytes())
    for place in range(len(data) // 2, len(data) // 2 + 200):
        data[place] ^= 255
    path.write_bytes(data)
    bare = f"import soundfile; soundfile.read({str(path)!r})"
    assert subprocess.run([sys.executable, "-c", bare], capture_output=True, timeout=60).stderr != b""
    command = [sys.executable, "-m", "wakeword", "scan", path, "--model", models / "low.onnx"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    # Only lines of its own: an error, perhaps, and the summary.
    assert all(line.startswith(("wakeword: ", "1 recording", "0 recording")) for line in done.stderr.splitlines())
