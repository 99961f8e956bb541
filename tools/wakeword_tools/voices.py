"""The voices that speak English, and the group that each of them may be used for.

A network that was trained on a voice knows it, so the groups share no *source*: no formant speaker of espeak-ng and no
human behind a flite voice. The variants of espeak-ng with the same formants are one source under several names.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from wakeword.errors import SynthesisError

Group = Literal["train", "validation", "test"]
ESPEAK, FLITE = "espeak-ng", "flite"


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
    """The formant speaker or the human that the voice comes from. No source is in two groups."""
    group: Group
    licence: str
    """What applies to the audio that the voice makes."""


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
_ESPEAK_SOURCES: dict[Group, dict[str, tuple[str, ...]]] = {
    "train": {
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
    "validation": {
        "f2": ("f2", "f5"),
        "steph": ("steph", "steph2", "steph3"),
        "mike": ("m3", "Mike", "mike2"),
        "paul": ("paul",),
        "pedro": ("pedro",),
        "victor": ("victor", "Denis", "Storm"),
    },
    "test": {
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

# Human speaker -> accent and group. kal and awb_time, which flite also lists, are 8 kHz or speak only the time.
_FLITE_SPEAKERS: dict[str, tuple[str, Group]] = {
    "awb": ("en-GB-scotland", "train"),
    "rms": ("en-US", "train"),
    "kal16": ("en-US", "validation"),
    "slt": ("en-US", "test"),
}


def espeak_voices() -> list[Voice]:
    """Every English accent of espeak-ng by every usable variant."""
    # The licence of the engine (GPL-3.0-or-later) covers the program and not the sound that it makes.
    return [
        Voice(f"{ESPEAK}:{accent}+{variant}", ESPEAK, accent, variant, f"{ESPEAK}:{source}", group, "CC0-1.0")
        for group, sources in _ESPEAK_SOURCES.items()
        for source, variants in sources.items()
        for variant in variants
        for accent in _ESPEAK_ACCENTS
    ]


def flite_voices() -> list[Voice]:
    """The 16 kHz voices that come with flite, each a human speaker recorded by Carnegie Mellon University."""
    return [
        Voice(f"{FLITE}:{speaker}", FLITE, accent, speaker, f"{FLITE}:{speaker}", group, "MIT-Festival")
        for speaker, (accent, group) in _FLITE_SPEAKERS.items()
    ]


def english_voices(group: Group | None = None, *, engines: Iterable[str] = (ESPEAK,)) -> list[Voice]:
    """The voices of a group, or of all groups, in a stable order.

    Only the embedded engine by default, so that a seed gives the same clips on every machine.
    Raises ``SynthesisError`` on an unknown group or engine.
    """
    if group is not None and group not in get_args(Group):
        raise SynthesisError(f"expected a voice group among {', '.join(get_args(Group))}, got {group!r}")
    by_engine = {ESPEAK: espeak_voices, FLITE: flite_voices}
    voices = []
    for engine in engines:
        if engine not in by_engine:
            raise SynthesisError(f"expected engines among {', '.join(by_engine)}, got {engine!r}")
        voices += by_engine[engine]()
    return [voice for voice in voices if group in (None, voice.group)]


def voice_named(name: str) -> Voice:
    """The voice of that stable name. ``SynthesisError`` if there is none."""
    for voice in english_voices(engines=(ESPEAK, FLITE)):
        if voice.name == name:
            return voice
    raise SynthesisError(f"expected the name of a voice such as 'espeak-ng:en-GB-x-rp+f3' or 'flite:slt', got {name!r}")
