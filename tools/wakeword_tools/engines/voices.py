"""The voices that speak English, and the split that each of them may be used for.

A network that was trained on a voice knows it, so the splits share no *source*: no formant speaker of espeak-ng and no
human behind another engine's voice. The variants of espeak-ng with the same formants are one source under several names.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from wakeword.errors import SynthesisError
from wakeword_tools.kinds import Split

ESPEAK, FLITE, FESTIVAL, PIPER, KOKORO, COMMAND = "espeak-ng", "flite", "festival", "piper", "kokoro", "command"
TAKES_PHONEMES = frozenset({ESPEAK, KOKORO})
"""Engines that speak ``[[...]]``."""


@dataclass(frozen=True)
class Voice:
    """Someone who speaks: an engine, an accent and a speaker."""

    name: str
    """Stable name, for instance ``espeak-ng:en-GB-x-rp+f3``."""
    engine: str
    accent: str
    """Language tag of the accent."""
    variant: str
    """The speaker, as the engine calls it."""
    source: str
    """The formant speaker or the human that the voice comes from. No source is in two splits."""
    split: Split
    licence: str
    """What applies to the audio that the voice makes."""
    locator: str = ""
    """What the engine needs to find it: a Piper voice's file, Kokoro's folder, the command of an engine that is one."""


# en-Shaw reads another alphabet, so it is not here.
_ESPEAK_ACCENTS = (
    "en",
    "en-029",
    "en-GB-scotland",
    "en-GB-x-gbclan",
    "en-GB-x-gbcwmd",
    "en-GB-x-rp",
    "en-US",
    "en-US-nyc",
)

# Source -> variants that share its formant frequencies, or nearly. Left out: whispers and croaks (whisper, whisperf,
# caleb, croak), echoes and robots (announcer, anikaRobot, Demonic, RicishayMax*, robosoft*, UniRobot), speakers whose
# vowels are shifted beyond English (kaukovalta, travis), and `fast`, which is `max` at another rate.
_ESPEAK_SOURCES: dict[Split, dict[str, tuple[str, ...]]] = {
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

# Human speaker -> accent and split. kal and awb_time, which flite also lists, are 8 kHz or speak only the time.
_FLITE_SPEAKERS: dict[str, tuple[str, Split]] = {
    "awb": ("en-GB-scotland", Split.TRAIN),
    "rms": ("en-US", Split.TRAIN),
    "kal16": ("en-US", Split.VALIDATION),
    "slt": ("en-US", Split.TEST),
}

# Voice of festival -> accent, source and split. kal and slt are the humans of flite's voices.
_FESTIVAL_VOICES: dict[str, tuple[str, str, Split]] = {
    "kal_diphone": ("en-US", f"{FLITE}:kal16", Split.VALIDATION),
    "ked_diphone": ("en-US", f"{FESTIVAL}:ked", Split.TRAIN),
    "us_slt_hts": ("en-US", f"{FLITE}:slt", Split.TEST),
    "cmu_us_slt_arctic_hts": ("en-US", f"{FLITE}:slt", Split.TEST),
}


def espeak_voices() -> list[Voice]:
    """Every English accent of espeak-ng by every usable variant."""
    # The licence of the engine (GPL-3.0-or-later) covers the program and not the sound that it makes.
    return [
        Voice(f"{ESPEAK}:{accent}+{variant}", ESPEAK, accent, variant, f"{ESPEAK}:{source}", split, "CC0-1.0")
        for split, sources in _ESPEAK_SOURCES.items()
        for source, variants in sources.items()
        for variant in variants
        for accent in _ESPEAK_ACCENTS
    ]


def flite_voices() -> list[Voice]:
    """The 16 kHz voices that come with flite, each a human speaker recorded by Carnegie Mellon University."""
    return [
        Voice(f"{FLITE}:{speaker}", FLITE, accent, speaker, f"{FLITE}:{speaker}", split, "MIT-Festival")
        for speaker, (accent, split) in _FLITE_SPEAKERS.items()
    ]


def festival_voices() -> list[Voice]:
    """The voices of festival whose humans are known."""
    return [
        Voice(f"{FESTIVAL}:{name}", FESTIVAL, accent, name, source, split, "MIT-Festival")
        for name, (accent, source, split) in _FESTIVAL_VOICES.items()
    ]


def english_voices(split: Split | None = None, *, engines: Iterable[str] = (ESPEAK,)) -> list[Voice]:
    """The voices of a split, or of all splits, in a stable order.

    An engine is ``espeak-ng``, ``flite``, ``festival``, ``piper:FILE-OR-FOLDER``, ``kokoro:FOLDER`` (``kokoro`` for the
    folder in ``WAKEWORD_KOKORO``) or ``command:FILE.toml``; one with a file or folder may have ``@train``,
    ``@validation`` or ``@test`` behind it to say the split of all its voices. Only the embedded engine by default, so
    that a seed gives the same clips on every machine. Of festival, only the voices that are installed. Raises
    ``SynthesisError`` on an unknown split or engine, ``ConfigError`` on a folder that Kokoro cannot speak from.
    """
    if split is not None and split not in list(Split):
        raise SynthesisError(f"expected a split of voices among {', '.join(Split)}, got {split!r}")
    return [voice for engine in engines for voice in _voices_of(engine) if split in (None, voice.split)]


def _voices_of(engine: str) -> list[Voice]:
    """Every voice of an engine as ``english_voices`` names it."""
    from wakeword_tools.engines import command, festival, kokoro, piper

    kind, _, place = engine.partition(":")
    path, _, last = place.rpartition("@")
    given: Split | None = next((split for split in Split if path and split == last), None)
    place = path if given else place
    match kind:
        case "espeak-ng" if not place:
            return espeak_voices()
        case "flite" if not place:
            return flite_voices()
        case "festival" if not place:
            return festival.FestivalSynthesizer().voices()
        case "piper" if place:
            return piper.piper_voices(place, given)
        case "kokoro" if place or engine == kind:
            return kokoro.kokoro_voices(place, given)
        case "command" if place:
            return command.read_command_voices(place, given)
    raise SynthesisError(
        f"expected engines among {ESPEAK}, {FLITE}, {FESTIVAL}, {PIPER}:FOLDER, {KOKORO}:FOLDER and {COMMAND}:FILE.toml, "
        f"got {engine!r}"
    )


def split_of_source(source: str) -> Split:
    """The split of a human: the table's for those of flite, else by a hash, 70 % train and 15 % each of the others."""
    engine, _, speaker = source.partition(":")
    if engine == FLITE and speaker in _FLITE_SPEAKERS:
        return _FLITE_SPEAKERS[speaker][1]
    place = int(hashlib.sha256(source.encode()).hexdigest(), 16) % 100
    return Split.TRAIN if place < 70 else Split.VALIDATION if place < 85 else Split.TEST


def voice_named(name: str) -> Voice:
    """The built-in voice of that stable name. ``SynthesisError`` if there is none."""
    for voice in (*espeak_voices(), *flite_voices(), *festival_voices()):
        if voice.name == name:
            return voice
    raise SynthesisError(f"expected the name of a voice such as 'espeak-ng:en-GB-x-rp+f3' or 'flite:slt', got {name!r}")
