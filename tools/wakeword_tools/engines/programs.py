"""Engines that are programs: run one without a shell and with a time limit."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE

from wakeword.audio.pcm import read_audio
from wakeword.base.errors import AudioError, SynthesisError
from wakeword.base.types import Array

SECONDS_TO_SPEAK = 30.0


def run_program(arguments: Sequence[str], *, text: str = "", timeout: float = SECONDS_TO_SPEAK) -> str:
    """Run a program with ``text`` on standard input, and return what it prints.

    Raises ``SynthesisError`` if it cannot be started, fails, crashes or takes longer than ``timeout`` seconds. If it is
    stopped, for that reason or because this process is interrupted, the programs that it started are stopped too.
    """
    name = Path(arguments[0]).name
    try:
        process = subprocess.Popen(arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True)
    except (OSError, ValueError) as error:
        raise SynthesisError(f"{name} could not be started: {error}") from error
    with process:
        try:
            printed, errors = process.communicate(text.encode(), timeout)
        except BaseException as error:
            _kill_with_children(process)
            if isinstance(error, subprocess.TimeoutExpired):
                raise SynthesisError(f"{name} took longer than {timeout:g} s and was stopped") from error
            raise
    if code := process.returncode:
        lines = errors.decode(errors="replace").strip().splitlines()
        how = f"was killed by signal {-code}" if code < 0 else f"ended with {code}"
        raise SynthesisError(f"{name} {how}: {lines[-1][:200] if lines else 'it printed no error'}")
    return printed.decode(errors="replace")


def _kill_with_children(process: subprocess.Popen[bytes]) -> None:
    """Kill a program that leads its own session, and all processes in that session."""
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError, PermissionError):  # it ended meanwhile
        os.killpg(process.pid, signal.SIGKILL)


def spoken_to_file(speak: Callable[[Path], object]) -> Array:
    """``(samples,)`` at 16 kHz of the WAV file that ``speak`` writes to the given path."""
    with tempfile.TemporaryDirectory(prefix="wakeword-speech-") as folder:
        path = Path(folder) / "speech.wav"
        speak(path)
        try:
            samples = read_audio(path)
        except AudioError as error:
            raise SynthesisError(f"expected the program to write speech, could not read it: {error}") from error
    if not len(samples):
        raise SynthesisError("expected the program to write speech, got an empty file")
    return samples
