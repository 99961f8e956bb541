"""``wakeword listen`` running in a separate process, with audio from the test or a microphone."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from support.builders import bursts
from support.virtual_microphone import VirtualMicrophone

WORD = np.round(bursts(2.5, {1: "low"}) * 32_767).astype("<i2").tobytes()
"""The word "low" and enough audio after it for its detection."""

START = "from wakeword.cli import main; main()"


@contextmanager
def live(models: Path, *options: str | Path, before: str = "") -> Iterator["subprocess.Popen[bytes]"]:
    """A process that listens to its stdin, once it has started. ``before`` is Python code that it runs first."""
    command = [sys.executable, "-c", f"{before}\n{START}", "listen", "--model", models / "low.onnx", "--input", "-"]
    with _begun([*command, *options], b"listening for 'low'", stdin=subprocess.PIPE) as process:
        yield process


@contextmanager
def listening(microphone: VirtualMicrophone, *options: str | Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that listens to a microphone, once that is open."""
    command = [sys.executable, "-m", "wakeword", "listen", "--json", *options]
    with _begun(command, b"listening for '", env=microphone.environment) as process:
        yield process


@contextmanager
def _begun(command: Sequence[str | Path], line: bytes, **settings: Any) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that has written ``line``, and at most warnings before it."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **settings) as process:
        try:
            assert process.stderr is not None
            while not (written := process.stderr.readline()).startswith(line):
                assert written.startswith(b"warning: "), written
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


def ended(process: "subprocess.Popen[bytes]", number: int | None = None) -> tuple[int, float, str]:
    """Send a signal, if one is given; return the exit status, the seconds until the end, and stderr."""
    assert process.stderr is not None
    started = time.monotonic()
    if number is not None:
        process.send_signal(number)
    status = process.wait(timeout=20)
    return status, time.monotonic() - started, process.stderr.read().decode()


def wait_for(condition: Callable[[], object], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"did not happen within {seconds} s"
        time.sleep(0.02)
