"""Texts that sound like a keyword, and the choice of some of them."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from wakeword.base.errors import SynthesisError
from wakeword_tools.engines.registry import takes_phonemes
from wakeword_tools.engines.voice import Voice
from wakeword_tools.kinds import Split
from wakeword_tools.texts.phonemes import Phones

SHARE_BY_DISTANCE = {1: 0.4, 2: 0.4, 3: 0.2}
"""Share of the texts at each distance in whole edits; the last includes everything farther."""

_FARTHEST, _SHARE_EDITED = 3.5, 0.75


class TextOrigin(StrEnum):
    """The origin of a text."""

    LISTED = "listed"
    """In a list: the user's own, or one that ships with the package."""
    WORD = "word"
    PHRASE = "phrase"
    """Two common words that together sound like the keyword: "mar win"."""
    FRAGMENT = "fragment"
    """Part of the keyword."""
    PSEUDO_WORD = "pseudo-word"


FoundText = tuple[str, Phones, TextOrigin, float]
"""A text, how it is said, where it comes from, and the Zipf frequency of its rarest word."""
# The origins of each round of choices at a distance.
_TURNS = (
    TextOrigin.WORD,
    TextOrigin.PHRASE,
    TextOrigin.PSEUDO_WORD,
    TextOrigin.WORD,
    TextOrigin.FRAGMENT,
    TextOrigin.PSEUDO_WORD,
    TextOrigin.WORD,
    TextOrigin.PHRASE,
)


@dataclass(frozen=True)
class Candidate:
    """A text that sounds like the keyword."""

    text: str
    """Input for an engine; sounds that no spelling gives are phonemes in ``[[...]]``."""
    phones: Phones
    distance: float
    """Distance from the keyword, in typical phoneme edits."""
    origin: TextOrigin
    split: Split
    """The split that can use it."""
    zipf: float = 0.0
    """Zipf frequency of its rarest word."""

    @property
    def band(self) -> int:
        """The distance in whole edits, as in ``SHARE_BY_DISTANCE``; at least 1."""
        return max(1, round(self.distance))


def choose_texts(pool: Sequence[Candidate], size: int, *, split: Split | None = None) -> list[Candidate]:
    """``size`` candidates, or all of the split if there are fewer, spread over the distances by ``SHARE_BY_DISTANCE``.

    Listed texts come first, then words (the commonest first), phrases, pseudo-words and fragments in turn. If a distance
    has too few, the others give more. The same for the same pool. Raises ``SynthesisError`` if there is nothing to choose
    from.
    """
    bands: dict[int, list[Candidate]] = {band: [] for band in SHARE_BY_DISTANCE}
    for candidate in pool:
        if split in (None, candidate.split):
            bands[min(candidate.band, max(SHARE_BY_DISTANCE))].append(candidate)
    if size < 1 or not any(bands.values()):
        raise SynthesisError("expected a size of 1 or more and texts to choose from, got none; change the keyword")
    queues = {band: list(_in_turns(members)) for band, members in bands.items()}
    total = sum(SHARE_BY_DISTANCE.values())
    chosen: list[Candidate] = []
    due = dict.fromkeys(queues, 0.0)
    while len(chosen) < size and any(queues.values()):
        for band in due:
            due[band] += SHARE_BY_DISTANCE[band] / total if queues[band] else 0.0
        band = max((band for band in queues if queues[band]), key=lambda band: (due[band], -band))
        due[band] -= 1
        chosen.append(queues[band].pop(0))
    return sorted(chosen, key=lambda one: (one.distance, one.text))


def farthest(phones: Phones, least: float = 1.5) -> float:
    """How far from a word a text like it may be, in typical phoneme edits: up to three in four phonemes."""
    return min(_FARTHEST, max(least, _SHARE_EDITED * len(phones)))


def random_of(keyword: str) -> np.random.Generator:
    """What draws the texts of a keyword: the same for the same one."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(keyword.encode()).digest()[:8], "big"))


def closest_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The candidates by distance, the commoner before the rarer."""
    return sorted(candidates, key=lambda one: (one.distance, -one.zipf, one.text))


def speakable(pool: Sequence[Candidate], voices: Sequence[Voice]) -> list[Candidate]:
    """The candidates that the voices can speak: phonemes in ``[[...]]`` need an engine that takes them."""
    phonemes_too = any(takes_phonemes(voice) for voice in voices)
    return [candidate for candidate in pool if phonemes_too or "[[" not in candidate.text]


def _in_turns(members: Sequence[Candidate]) -> Iterator[Candidate]:
    """All members: the listed ones, then the origins in turn, the commonest words first."""
    queues: dict[TextOrigin, list[Candidate]] = {origin: [] for origin in TextOrigin}
    for member in members:
        queues[member.origin].append(member)
    for origin in (TextOrigin.WORD, TextOrigin.PHRASE):
        queues[origin].sort(key=lambda member: (-member.zipf, member.text))
    for origin in (TextOrigin.PSEUDO_WORD, TextOrigin.FRAGMENT):
        queues[origin].sort(key=lambda member: hashlib.sha256(member.text.encode()).digest())
    yield from queues.pop(TextOrigin.LISTED)
    while any(queues.values()):
        for origin in _TURNS:
            if queues[origin]:
                yield queues[origin].pop(0)
