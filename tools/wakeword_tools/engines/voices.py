"""Voices, and the split that each of them may be used for.

A network that was trained on a voice knows it, so the splits share no *source*: no formant speaker of espeak-ng and no
human behind another engine's voice.
"""

import hashlib
from dataclasses import dataclass

from wakeword_tools.kinds import Split


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


_KNOWN_SOURCES = {
    "flite:awb": Split.TRAIN,
    "flite:rms": Split.TRAIN,
    "flite:kal16": Split.VALIDATION,
    "flite:slt": Split.TEST,
    "festival:ked": Split.TRAIN,
}
"""Humans whose split is fixed. Those of flite speak with the voices of festival and of Piper too."""


def split_of_source(source: str) -> Split:
    """The split of a source: that of a known human, else by a hash, 70 % train and 15 % each of the others."""
    if source in _KNOWN_SOURCES:
        return _KNOWN_SOURCES[source]
    place = int(hashlib.sha256(source.encode()).hexdigest(), 16) % 100
    return Split.TRAIN if place < 70 else Split.VALIDATION if place < 85 else Split.TEST
