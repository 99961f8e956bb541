"""Engines that are programs: run one without a shell, and never wait for it for ever."""

import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from wakeword.audio import read_audio
from wakeword.errors import AudioError, SynthesisError
from wakeword.features import Array

SECONDS_TO_SPEAK = 30.0


def run_program(arguments: Sequence[str], *, text: str = "", timeout: float = SECONDS_TO_SPEAK) -> str:
    """What a program prints when it is given ``text`` on standard input.

    Raises ``SynthesisError`` if it cannot be started, fails, crashes or takes longer than ``timeout`` seconds.
    """
    name = Path(arguments[0]).name
    try:
        done = subprocess.run(
            arguments, input=text.encode(), capture_output=True, timeout=timeout, check=False, start_new_session=True
        )
    except subprocess.TimeoutExpired as error:
        raise SynthesisError(f"{name} took longer than {timeout:g} s and was stopped") from error
    except (OSError, ValueError) as error:
        raise SynthesisError(f"{name} could not be started: {error}") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        how = f"was killed by signal {-done.returncode}" if done.returncode < 0 else f"ended with {done.returncode}"
        raise SynthesisError(f"{name} {how}: {said[-1][:200] if said else 'it said nothing'}")
    return done.stdout.decode(errors="replace")


def spoken_to_file(speak: Callable[[Path], object]) -> Array:
    """``(samples,)`` at 16 kHz of the WAV file that ``speak`` writes to the path it is given."""
    with tempfile.TemporaryDirectory(prefix="wakeword-speech-") as folder:
        path = Path(folder) / "speech.wav"
        speak(path)
        try:
            samples = read_audio(path)
        except AudioError as error:
            raise SynthesisError(f"expected the program to write speech, it wrote none: {error}") from error
    if not len(samples):
        raise SynthesisError("expected the program to write speech, it wrote an empty file")
    return samples
