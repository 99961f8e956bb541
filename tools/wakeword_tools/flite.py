"""flite, a small engine with voices of humans, where the system has it."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from wakeword.audio import read_audio
from wakeword.errors import SynthesisError
from wakeword.features import Array
from wakeword_tools.tts import Prosody
from wakeword_tools.voices import FLITE, Voice, flite_voices


class FliteSynthesizer:
    """The ``flite`` program of the system, if it is there. Takes no phonemes."""

    engine = FLITE

    def __init__(self) -> None:
        program = shutil.which("flite")
        if program is None:
            raise SynthesisError("expected the program flite, found none; on Debian or Ubuntu: apt install flite")
        self._program = program

    def voices(self) -> list[Voice]:
        """The 16 kHz voices that this flite lists."""
        listed = self._run("-lv").partition(":")[2].split()
        return [voice for voice in flite_voices() if voice.variant in listed]

    def speak(self, text: str, voice: Voice, prosody: Prosody | None = None) -> Array:
        """See ``Synthesizer.speak``. ``pitch`` shifts by that factor; ``pitch_range`` has no effect."""
        prosody = prosody or Prosody()
        if not any(character.isalnum() for character in text) or "[[" in text:
            raise SynthesisError(f"expected a text in plain words to speak with flite, got {text!r}")
        if voice not in flite_voices():
            raise SynthesisError(f"expected a voice of {self.engine}, got {voice.name!r}")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "speech.wav"
            self._run(
                *("-voice", voice.variant, "--setf", f"duration_stretch={1 / prosody.rate:.4f}"),
                *("--setf", f"f0_shift={max(0.5, prosody.pitch):.4f}", "-t", text, "-o", str(path)),
            )
            return read_audio(path)

    def _run(self, *arguments: str) -> str:
        try:
            done = subprocess.run([self._program, *arguments], capture_output=True, text=True, timeout=30, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            raise SynthesisError(f"flite failed ({error}); try it by hand: {self._program} -lv") from error
        return done.stdout
