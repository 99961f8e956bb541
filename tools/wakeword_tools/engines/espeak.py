"""espeak-ng inside this process, in more than a hundred languages; nothing has to be installed by hand."""

import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from ctypes import CDLL
from functools import cache
from pathlib import Path

import numpy as np
import soxr

from wakeword.audio.pcm import INT16_STEP, SAMPLE_RATE
from wakeword.base.errors import SynthesisError
from wakeword.base.types import Array
from wakeword_tools.engines.espeak_library import TIED, collect, copy_english, copy_language, fresh_library, reading
from wakeword_tools.engines.languages import ENGLISH, accents_of, espeak_data, language_files
from wakeword_tools.engines.synthesizer import Engine, Prosody
from wakeword_tools.engines.voice import Voice, no_sound
from wakeword_tools.kinds import Split

ESPEAK = "espeak-ng"

ENGLISH_ACCENTS = (
    "en",
    "en-029",
    "en-GB-scotland",
    "en-GB-x-gbclan",
    "en-GB-x-gbcwmd",
    "en-GB-x-rp",
    "en-US",
    "en-US-nyc",
)
"""The accents of English, without en-Shaw, which reads another alphabet."""

# Source -> variants that share its formant frequencies, at least nearly. Left out: whispers and croaks (whisper, whisperf,
# caleb, croak), echoes and robots (announcer, anikaRobot, Demonic, RicishayMax*, robosoft*, UniRobot), speakers with
# vowels shifted beyond English (kaukovalta, travis), and `fast`, which is `max` at another rate.
_SOURCES: dict[Split, dict[str, tuple[str, ...]]] = {
    Split.TRAIN: {
        "neutral": (
            *("adam", "benjamin", "grandpa", "john", "klatt", "klatt2", "klatt3", "klatt4", "klatt5", "klatt6"),
            *("m6", "max"),
        ),
        "f1": ("f1",),
        "f3": ("f3",),
        "linda": ("linda",),
        "alicia": ("Alicia",),
        "annie": ("Annie",),
        "anika": ("anika",),
        "grandma": ("grandma",),
        "zac": ("zac",),
        "alex": ("Alex",),
        "andy": ("Andy", "AnxiousAndy"),
        "antonio": ("antonio",),
        "boris": ("boris",),
        "diogo": ("Diogo", "Henrique", "Hugo", "michel", "miguel"),
        "edward": ("edward", "edward2"),
        "gene": ("Gene", "Gene2"),
        "ian": ("ian",),
        "iven": ("iven", "iven2", "iven3", "iven4"),
        "lee": ("Lee",),
        "m1": ("m1",),
        "m4": ("m4",),
        "m5": ("m5",),
        "m7": ("m7",),
        "m8": ("m8", "Nguyen"),
        "marco": ("Marco",),
        "michael": ("Michael", "Mario", "gustave", "marcelo"),
        "reed": ("Reed",),
        "rob": ("rob", "robert", "quincy"),
        "sandro": ("sandro",),
        "serious": ("Mr serious", "Tweaky", "norbert", "pablo"),
    },
    Split.VALIDATION: {
        "f2": ("f2", "f5"),
        "steph": ("steph", "steph2", "steph3"),
        "mike": ("m3", "Mike", "mike2"),
        "paul": ("paul",),
        "pedro": ("pedro",),
        "victor": ("victor", "Denis", "Storm"),
    },
    Split.TEST: {
        "f4": ("f4", "aunty"),
        "belinda": ("belinda",),
        "andrea": ("Andrea",),
        "shelby": ("shelby",),
        "m2": ("m2",),
        "david": ("david",),
        "ed": ("ed",),
        "jacky": ("Jacky",),
    },
}


def espeak_voices(language: str = ENGLISH) -> list[Voice]:
    """Every accent of a language in espeak-ng with every usable variant."""
    accents = ENGLISH_ACCENTS if language == ENGLISH else accents_of(language)
    # The licence of the engine (GPL-3.0-or-later) covers the program, not the sound that it makes.
    return [
        Voice(
            f"{ESPEAK}:{accent}+{variant}",
            ESPEAK,
            accent,
            variant,
            f"{ESPEAK}:{source}",
            split,
            "CC0-1.0",
            "",
            language,
        )
        for split, sources in _SOURCES.items()
        for source, variants in sources.items()
        for variant in variants
        for accent in accents
    ]


class EspeakSynthesizer:
    """espeak-ng through ctypes, with the library and data of the ``espeakng-loader`` package.

    Text in ``[[...]]`` is taken as espeak-ng's phonemes: ``[[m'A@vIn]]``.

    The library is loaded again for each text, so that the result does not depend on earlier texts.
    """

    def __init__(self) -> None:
        data = espeak_data()
        import espeakng_loader

        self._path = espeakng_loader.get_library_path()
        self._folder = tempfile.TemporaryDirectory(prefix="wakeword-espeak-")
        self._data = Path(self._folder.name)
        copy_english(data, self._data)
        self._variants = {path.name for path in (self._data / "voices" / "!v").iterdir()}
        self._accents: set[str] = set()

    def speak(self, text: str, voice: Voice, prosody: Prosody | None = None) -> Array:
        """``(samples,)``: see ``Synthesizer.speak``."""
        if not text.strip() or "\0" in text:
            raise SynthesisError(f"expected a text to speak, got {text!r}")
        # espeak-ng silently speaks an unknown variant with its default speaker.
        if not self._speaks(voice):
            raise SynthesisError(f"expected a voice of {ESPEAK}, got {voice.name!r}")
        with fresh_library(self._path, self._data, voice, prosody or Prosody()) as (lib, rate):
            sound = collect(lib, text)
        if not sound.any():
            raise no_sound(voice, text)
        samples: Array = soxr.resample(sound.astype(np.float32) * INT16_STEP, rate, SAMPLE_RATE)
        return samples

    def _speaks(self, voice: Voice) -> bool:
        """Whether it is one of its voices; the files of another language than English are copied when first needed."""
        if voice.engine != ESPEAK or voice.variant not in self._variants:
            return False
        if voice.language == ENGLISH:
            return voice.accent in ENGLISH_ACCENTS
        file = language_files().get(voice.accent)
        if file is None:
            return False
        if voice.accent not in self._accents:
            copy_language(espeak_data(), file, self._data)
            self._accents.add(voice.accent)
        return True

    def readings(self, texts: Sequence[str], accent: str) -> list[tuple[str, str]]:
        """How each text is read in this accent, of any language: in espeak-ng's own phonemes, and in IPA.

        Words are divided by spaces, sounds by ``·``. ``[[...]]`` is taken as phonemes. Raises ``SynthesisError`` for an
        unknown accent.
        """
        with self._reader(accent) as (library, _):
            collect(library, ".")  # only speaking turns the reading of [[...]] on, and it stays on
            return [(reading(library, text, "·", own=True), reading(library, text, "·")) for text in texts]

    def phonemes(self, texts: Sequence[str], accent: str) -> list[list[str]]:
        """The reading of each text in this accent: IPA symbols of all words in a row, stress marks before the vowels.

        Raises ``SynthesisError`` for an unknown accent.
        """
        with self._reader(accent) as (library, _):
            read = [reading(library, text, "_").replace(" ", "_") for text in texts]
            return [[symbol for symbol in one.split("_") if symbol] for one in read]

    def ipa(self, text: str, accent: str) -> str:
        """The reading of the text in this accent: IPA in one line, a space between words, ``^`` within a single sound
        (``d^ʒ``). ``[[...]]`` is taken as phonemes. Raises ``SynthesisError`` for an unknown accent.
        """
        with self._reader(accent) as (library, _):
            collect(library, ".")  # only speaking turns the reading of [[...]] on, and it stays on
            return reading(library, text, "^", flags=TIED)

    def _reader(self, accent: str) -> AbstractContextManager[tuple[CDLL, int]]:
        language = ENGLISH if accent in ENGLISH_ACCENTS else accent
        voice = Voice(accent, ESPEAK, accent, "adam", "", Split.TRAIN, "", language=language)
        if not self._speaks(voice):
            raise SynthesisError(f"expected an accent of {ESPEAK}, got {accent!r}")
        return fresh_library(self._path, self._data, voice, Prosody())


@cache
def shared_espeak() -> EspeakSynthesizer:
    """One synthesizer for the whole process, as each copies its data."""
    return EspeakSynthesizer()


ENGINE = Engine(
    name=ESPEAK,
    voices=lambda place: espeak_voices(),
    synthesizer=shared_espeak,
    takes_phonemes=True,
    kind="fast",
    available=lambda: ESPEAK,
    in_language=lambda voices, language: espeak_voices(language),
)
