"""Kokoro's voices as people speak English who learnt it later: some sounds become near ones, in each clip others.

Synthetic voices say a word as its dictionary does, and people do not: of 140 recordings of "computer" the recogniser heard
the dictionary's sounds in 43, and in others "kɑmpjutə", "kəmfjutɚ", "kʌmbjudɚ" and "kəmpitɚ".
"""

import random
import zlib
from dataclasses import replace

from wakeword_tools.engines.kokoro import KokoroSynthesizer, installed_voices
from wakeword_tools.engines.synthesizer import Engine, Prosody
from wakeword_tools.engines.voice import Voice

LEARNERS = "learners"

_VOWELS = {
    **{"ə": "aɔɛoɑ", "ᵊ": "ɛa", "ʌ": "aɑɔ", "æ": "ɛa", "ɪ": "i", "ʊ": "u", "O": "oɔ", "A": "eɛ", "Q": "o", "ɑ": "aɔɒ"},
    **{"ɒ": "ɔa", "ɜ": "ɛœa", "i": "ɪ", "u": "ʊy", "ɛ": "eæ", "ɔ": "oɑ", "I": ("aj",), "W": ("au",)},
}
_CONSONANTS = {
    **{"p": "b", "t": "dʈ", "T": "td", "k": "ɡ", "b": "pβ", "d": "tɖ", "ɡ": "k", "θ": "stf", "ð": "dz", "w": "vβ"},
    **{"ɹ": ("ɾ", "r", "ʁ", ""), "v": "wbf", "z": "s", "s": "zʃ", "ʤ": ("ʒ", "ʧ", "dj"), "ʧ": "ʃʤ", "h": ("", "x")},
    **{"ŋ": ("nɡ", "n"), "j": ("", "ʒ", "i"), "n": "ŋ"},
}
"""Kokoro's symbols, and what may stand in their place."""
_SHARES = 0.25, 0.4, 0.55
"""How many of a speaker's vowels are others; one of these for each clip."""
_FEWER = 0.7
"""Consonants that are others, by vowels that are."""


def as_learners_say(symbols: str, random: random.Random) -> str:
    """Kokoro's symbols of a text with some sounds replaced, each in the same way throughout. Marks are kept."""
    share = random.choice(_SHARES)
    said: dict[str, str] = {}
    for symbol in dict.fromkeys(symbols):
        others = _VOWELS.get(symbol) or _CONSONANTS.get(symbol)
        if others and random.random() < share * (1 if symbol in _VOWELS else _FEWER):
            said[symbol] = random.choice(others)
    return "".join(said.get(symbol, symbol) for symbol in symbols)


class LearnersSynthesizer(KokoroSynthesizer):
    """See the module. A clip's sounds depend on its text, its voice and its prosody."""

    def sounds(self, symbols: str, text: str, voice: Voice, prosody: Prosody) -> str:
        """See ``KokoroSynthesizer``."""
        return as_learners_say(symbols, random.Random(zlib.crc32(f"{text} {voice.name} {prosody}".encode())))


ENGINE = Engine(
    name=LEARNERS,
    voices=lambda place: [
        replace(voice, name=f"{LEARNERS}:{voice.variant}", engine=LEARNERS) for voice in installed_voices()
    ],
    synthesizer=LearnersSynthesizer,
    takes_phonemes=True,
    in_language=lambda voices, language: [],  # its sounds are English
)
