"""The protocol of text-to-speech engines, their record in the registry, and prosody."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from wakeword.base.errors import SynthesisError
from wakeword.base.types import Array
from wakeword_tools.engines.languages import family_of
from wakeword_tools.engines.voice import Voice


@dataclass(frozen=True)
class Prosody:
    """Rate and pitch of speech, each as a multiple of the voice's usual value."""

    rate: float = 1.0
    """Speaking rate, 0.5 to 2."""
    pitch: float = 1.0
    """Mean pitch on the engine's own scale, 0 to 2."""
    pitch_range: float = 1.0
    """How far the pitch moves, 0 (monotone) to 2."""


class Synthesizer(Protocol):
    """An engine that speaks."""

    def speak(self, text: str, voice: Voice, prosody: Prosody | None = None) -> Array:
        """The text spoken: ``(samples,)`` float32 mono at 16 kHz, always the same for the same arguments.

        Raises ``SynthesisError`` if the text has nothing to pronounce, the voice is not the engine's or it
        fails.
        """


def of_language(voices: list[Voice], language: str) -> list[Voice]:
    """The voices with an accent of a language: ``de-AT`` for ``de``, for ``de-at`` that alone."""
    return [
        replace(voice, language=language)
        for voice in voices
        if (voice.accent.lower() == language if "-" in language else family_of(voice.accent) == family_of(language))
    ]


@dataclass(frozen=True)
class Engine:
    """An engine's record in the registry."""

    name: str
    """Short and stable: used in ``--engine NAME`` and in manifests."""
    voices: Callable[[str], list[Voice]]
    """Place (empty if it takes none) -> voices in a stable order."""
    synthesizer: Callable[[], Synthesizer]
    """Called once in a process, before anything is spoken. ``SynthesisError`` if the engine is not installed."""
    takes_phonemes: bool = False
    """Whether it speaks phonemes in ``[[...]]``."""
    takes_place: str = ""
    """The kind of place in ``NAME:PLACE``, as messages show it, for instance ``FOLDER``; empty if it takes none."""
    kind: Literal["", "fast", "natural"] = ""
    """What training uses it for where the settings say ``installed``: ``fast`` ones speak thousands of clips in minutes,
    ``natural`` ones sound human. Empty: it has to be named."""
    available: Callable[[], str | None] = lambda: None
    """How to name it on this machine, with its place if it takes one; ``None`` if it is not here. For engines of a kind."""
    in_language: Callable[[list[Voice], str], list[Voice]] = of_language
    """Its voices and a language other than English -> the voices that speak it; by default those with its accent."""


def require_plain_words(text: str, engine: str) -> None:
    """Refuse phonemes and texts without letters or digits, on which some engines crash or say something else."""
    if not any(letter.isalnum() for letter in text) or "[[" in text or "\0" in text:
        raise SynthesisError(f"expected a text in plain words to speak with {engine}, got {text!r}")
