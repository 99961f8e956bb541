"""flite, a small engine with voices of humans, if it is installed on the system."""

import shutil

from wakeword.base.errors import SynthesisError
from wakeword.base.types import Array
from wakeword_tools.engines.programs import run_program, spoken_to_file
from wakeword_tools.engines.synthesizer import Engine, Prosody, require_plain_words
from wakeword_tools.engines.voice import Voice, split_of_source

FLITE = "flite"

# Speaker -> accent. Of flite's other voices, kal has 8 kHz and awb_time speaks only the time.
_ACCENTS = {"awb": "en-GB-scotland", "rms": "en-US", "kal16": "en-US", "slt": "en-US"}


def flite_voices() -> list[Voice]:
    """The 16 kHz voices that come with flite, each a human speaker recorded by Carnegie Mellon University."""
    return [_voice(speaker, accent, f"{FLITE}:{speaker}") for speaker, accent in _ACCENTS.items()]


def _voice(speaker: str, accent: str, name: str) -> Voice:
    return Voice(name, FLITE, accent, speaker, name, split_of_source(name), "MIT-Festival")


class FliteSynthesizer:
    """The ``flite`` program, if it is installed. Takes no phonemes."""

    engine = FLITE

    def __init__(self) -> None:
        program = shutil.which("flite")
        if program is None:
            raise SynthesisError("expected the program flite, found none; on Debian or Ubuntu: apt install flite")
        self._program = program

    def voices(self) -> list[Voice]:
        """The 16 kHz voices that this flite lists."""
        listed = run_program([self._program, "-lv"]).partition(":")[2].split()
        return [voice for voice in flite_voices() if voice.variant in listed]

    def speak(self, text: str, voice: Voice, prosody: Prosody | None = None) -> Array:
        """``(samples,)``: see ``Synthesizer.speak``. ``pitch`` shifts by that factor; ``pitch_range`` has no effect."""
        prosody = prosody or Prosody()
        require_plain_words(text, self.engine)
        if voice not in flite_voices():
            raise SynthesisError(f"expected a voice of {self.engine}, got {voice.name!r}")
        settings = {"duration_stretch": 1 / prosody.rate, "f0_shift": max(0.5, prosody.pitch)}
        options = [word for name, value in settings.items() for word in ("--setf", f"{name}={value:.4f}")]
        return spoken_to_file(
            lambda path: run_program([self._program, "-voice", voice.variant, *options, "-t", text, "-o", str(path)])
        )


ENGINE = Engine(
    name=FLITE,
    voices=lambda place, split: flite_voices(),
    synthesizer=FliteSynthesizer,
    kind="fast",
    available=lambda: FLITE if shutil.which(FLITE) else None,
    named_voices=flite_voices,
)
