"""Voices, and the split of each voice.

A network recognises voices that it was trained on, so the splits share no *source*: no formant speaker of espeak-ng and
no human speaker of another engine's voice.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from wakeword.base.errors import SynthesisError
from wakeword.model.installed import user_folder
from wakeword_tools.kinds import Split


@dataclass(frozen=True)
class Voice:
    """A voice: an engine, an accent and a speaker."""

    name: str
    """Stable name, for instance ``espeak-ng:en-GB-x-rp+f3``."""
    engine: str
    accent: str
    """Language tag of the accent."""
    variant: str
    """The engine's name for the speaker."""
    source: str
    """The formant speaker or the human speaker of the voice. No source is in two splits."""
    split: Split
    licence: str
    """Licence of the audio that the voice makes."""
    locator: str = ""
    """Where the engine finds the voice: Kokoro's folder, or the command line of a command."""
    language: str = "en"
    """Language of the texts that it is given; a voice of another language has its accent."""


def no_sound(voice: Voice, text: str) -> SynthesisError:
    """The error for a text that a voice is silent at."""
    return SynthesisError(f"{voice.name} made no sound for {text!r}; write it as it is spoken")


def split_of_source(source: str) -> Split:
    """The split of a source by its hash: 70 % train and 15 % for each of the others."""
    place = int(hashlib.sha256(source.encode()).hexdigest(), 16) % 100
    return Split.TRAIN if place < 70 else Split.VALIDATION if place < 85 else Split.TEST


def voices_folder() -> Path:
    """The folder of the voices that a user has installed; it need not exist."""
    return user_folder("voices")


def kokoro_folder() -> Path | None:
    """The folder with Kokoro that ``wakeword voices install kokoro`` made; ``None`` if there is none."""
    folder = voices_folder() / "kokoro"
    return folder if (folder / "voices").is_dir() else None
