"""``wakeword listen`` running in a separate process, with audio from the test."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from support.builders import bursts

WORD = np.round(bursts(2.5, {1: "low"}) * 32_767).astype("<i2").tobytes()
"""The word "low" and enough audio after it for its detection."""

START = "from wakeword.cli import main; main()"


@contextmanager
def live(models: Path, *options: str | Path, before: str = "") -> Iterator["subprocess.Popen[bytes]"]:
    """A process that listens to its stdin, once it has started. ``before`` is Python code that it runs first."""
    command = [sys.executable, "-c", f"{before}\n{START}", "listen", "--model", models / "low.onnx", "--input", "-"]
    with subprocess.Popen(
        [*command, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            assert process.stderr is not None
            assert process.stderr.readline().startswith(b"listening for 'low'")
            yield process
        finally:
            process.kill()


def feed(process: "subprocess.Popen[bytes]", pcm: bytes) -> None:
    """Write audio to its stdin, unless it has ended."""
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.write(pcm)
        process.stdin.flush()


def speak(process: "subprocess.Popen[bytes]") -> bytes:
    """Say the word; return the line that reports it."""
    assert process.stdout is not None
    feed(process, WORD)
    return process.stdout.readline()


def ended(process: "subprocess.Popen[bytes]", number: int) -> tuple[int, float, str]:
    """Send a signal; return the exit status, the seconds until the end, and stderr."""
    assert process.stderr is not None
    started = time.monotonic()
    process.send_signal(number)
    status = process.wait(timeout=20)
    return status, time.monotonic() - started, process.stderr.read().decode()


def wait_for(condition: Callable[[], object], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"did not happen within {seconds} s"
        time.sleep(0.02)
