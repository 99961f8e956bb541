"""What a text-to-speech engine is, and how something is said."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from wakeword.errors import SynthesisError
from wakeword.types import Array
from wakeword_tools.engines.voices import Voice
from wakeword_tools.kinds import Split


@dataclass(frozen=True)
class Prosody:
    """How something is said, each as a multiple of what is usual for the voice."""

    rate: float = 1.0
    """Speaking rate, 0.5 to 2."""
    pitch: float = 1.0
    """Mean pitch on the engine's own scale, 0 to 2."""
    pitch_range: float = 1.0
    """How far the pitch moves, 0 (monotone) to 2."""

    def __post_init__(self) -> None:
        if not (0.5 <= self.rate <= 2 and 0 <= self.pitch <= 2 and 0 <= self.pitch_range <= 2):
            raise SynthesisError(f"expected rate in 0.5..2, pitch and pitch_range in 0..2, got {self}")


@dataclass(frozen=True)
class Word:
    """A word of a text, and when it was spoken."""

    text: str
    start: float
    """Seconds from the first sample."""
    end: float
    """Where the next word begins, pauses between them included."""


class Synthesizer(Protocol):
    """An engine that speaks."""

    @property
    def engine(self) -> str:
        """Its name, as in ``Voice.engine``."""
        ...

    def voices(self) -> list[Voice]:
        """The voices that it has here, in a stable order."""
        ...

    def speak(self, text: str, voice: Voice, prosody: Prosody | None = None) -> Array:
        """The text spoken: ``(samples,)`` float32 mono at 16 kHz, always the same for the same arguments.

        Raises ``SynthesisError`` if the text has nothing to pronounce, the voice is not one of ``voices`` or the
        engine fails.
        """
        ...


@dataclass(frozen=True)
class Engine:
    """An engine as the registry knows it."""

    name: str
    """Short and stable: ``--engine NAME`` asks for it, and manifests name it."""
    voices: Callable[[str, Split | None], list[Voice]]
    """The voices at a place (empty if the engine takes none), in a stable order; where a split is given, all are of it."""
    synthesizer: Callable[[], Synthesizer]
    """Called once in a process, before anything is spoken. ``SynthesisError`` if the engine is not installed."""
    takes_phonemes: bool = False
    """Whether it speaks ``[[...]]``."""
    takes_place: str = ""
    """What ``NAME:PLACE`` names, as messages show it, for instance ``FOLDER``; empty if there is no place to name."""
    needs_place: bool = True
    """Whether an engine that takes a place has none of its own."""
    named_voices: Callable[[], list[Voice]] = list
    """The voices that a name alone describes, whether or not they are installed here."""


def require_plain_words(text: str, engine: str) -> None:
    """Refuse phonemes and texts with nothing to say, for engines that would say something else or crash."""
    if not any(character.isalnum() for character in text) or "[[" in text or "\0" in text:
        raise SynthesisError(f"expected a text in plain words to speak with {engine}, got {text!r}")
