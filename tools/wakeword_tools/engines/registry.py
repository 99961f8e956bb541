"""The engine that each voice needs, made once for a process."""

from collections.abc import Callable
from functools import cache

from wakeword_tools.engines.command import CommandSynthesizer
from wakeword_tools.engines.espeak import shared_espeak
from wakeword_tools.engines.festival import FestivalSynthesizer
from wakeword_tools.engines.flite import FliteSynthesizer
from wakeword_tools.engines.kokoro import KokoroSynthesizer
from wakeword_tools.engines.piper import PiperSynthesizer
from wakeword_tools.engines.synthesizer import Synthesizer
from wakeword_tools.engines.voices import COMMAND, ESPEAK, FESTIVAL, FLITE, KOKORO, PIPER, Voice

_ENGINES: dict[str, Callable[[], Synthesizer]] = {
    ESPEAK: shared_espeak,
    FLITE: FliteSynthesizer,
    FESTIVAL: FestivalSynthesizer,
    PIPER: PiperSynthesizer,
    KOKORO: KokoroSynthesizer,
    COMMAND: CommandSynthesizer,
}


def engine_of(voice: Voice) -> Synthesizer:
    """The engine of a voice. ``SynthesisError`` if it is not installed."""
    return _engine(voice.engine)


@cache
def _engine(name: str) -> Synthesizer:
    return _ENGINES[name]()
