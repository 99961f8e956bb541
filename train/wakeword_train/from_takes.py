"""A model that was made from its text learns how its user says the word, in seconds and without training.

What the recogniser hears in recordings of the word becomes more ways to say it. A way is kept only if the speech and the
noise of the packs allow it at the same threshold: "operator" without its last syllables would wake in all speech.
"""

import dataclasses
import itertools
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wakeword.audio.audio_file import read_audio
from wakeword.audio.audio_listing import all_audio_files
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import ConfigError, DataError
from wakeword.base.events import SILENT
from wakeword.base.files import write_whole
from wakeword.base.text import counted
from wakeword.base.types import Array
from wakeword.cli.console import note
from wakeword.format.card import ModelCard
from wakeword.format.verifier_card import Variant
from wakeword.model.model import parse_model, read_model
from wakeword.verify.phoneme_verifier import (
    BLANK,
    PHONEME_SAMPLES,
    WORD_BOUNDARY,
    KeywordPhonemes,
    PhonemeNetwork,
    PhonemeVerifier,
)
from wakeword_tools.measure.cards import embed_card
from wakeword_train.ear import ear_of
from wakeword_train.from_text import LEARNED_WAYS_KEY, model_of_text, tell, way_of_tokens, ways_of
from wakeword_train.points import COMPARED, TYPED, base_model, check_target, default_point, require_trained
from wakeword_train.spoken_texts import SpokenKeyword
from wakeword_train.synthesis_config import SynthesisConfig
from wakeword_train.train_options import TrainOptions
from wakeword_train.typed_points import points_of_search, score_of_fit

_MAX_WAYS = 4
"""Ways that are learned at most: each costs time at every look."""
_FEWEST_SOUNDS = 4
_DIFFERENT = 0.5
"""The largest part of the word's phonemes that a way may have otherwise: more is another word, or noise."""
_Look = Mapping[PhonemeNetwork, Array]
"""What each recogniser hears in two seconds, ``(frames, tokens)``."""
_STEP = SAMPLE_RATE * 8 // 25
"""Samples from one look at a take to the next."""

TokenWay = tuple[str, ...]
"""Tokens of the recogniser."""


def is_typed(base: str) -> bool:
    """Whether the model, a file or a name, was made from its text."""
    return read_model(base_model(base)).card.training.get("method") == TYPED


def make_learned(options: TrainOptions) -> Path:
    """``wakeword train --from`` a model that was made from its text: write what its user's takes teach.

    Raises ``typer.BadParameter`` for options of training, and as ``learn_takes`` does.
    """
    base = base_model(options.base or "")
    card = read_model(base).card
    if not options.positives and COMPARED in card.training:
        require_trained(card)
    options.require_alone("--from a model that was made from its text", ("base", "positives", "out"))
    out = options.out or Path(f"my-{base.name}")
    check_target(out)
    lost = [point.name for point in card.operating_points if not point.data.startswith("made from")]
    learned = learn_takes(base, options.positives or (), out)
    note(learned.told(base, out))
    tell(out)
    if lost:
        note(
            f"the points that `calibrate` added are gone ({', '.join(lost)}), as it has other scores now; make them again: "
            f"wakeword calibrate --model {shlex.quote(str(out))} with the same options as then"
        )
    return out


@dataclass(frozen=True)
class Learned:
    """What takes taught."""

    ways: tuple[TokenWay, ...]
    """The new ones."""
    takes: int
    found_before: int
    """Takes that the model finds without these ways."""
    found: int
    """Takes that are found by what the other takes teach."""

    def told(self, base: Path, out: Path) -> str:
        """What came of it, in a line; of takes that taught nothing also why, and what to do."""
        takes = counted(self.takes, "take")
        if self.ways:
            return (
                f"learned {counted(len(self.ways), 'new way')} to say it from {takes}: found {self.found_before} of them "
                f"before, and {self.found} by what the other takes teach"
            )
        why = "found all of them before; only takes that it misses can teach it"
        if self.found_before < self.takes:
            why = (
                f"found {self.found_before} of them before, and what the others sound like finds no more, or would wake in "
                "other speech; record them more clearly, or train it"
            )
        return f"learned nothing new from {takes}, so that {out} hears what {base} does: {why}"


def learn_takes(base: Path, folders: Sequence[Path], out: Path) -> Learned:
    """Write the model ``base``, made anew, with what the recordings in ``folders`` teach to ``out``.

    What earlier takes taught it stays. Raises ``DataError`` without recordings, and if nothing in them sounds like the
    word, ``ConfigError`` if ``base`` was not made from its text, and as ``read_audio`` and ``model_from_text`` do.
    """
    card = read_model(base).card
    if card.training.get("method") != TYPED:
        raise ConfigError(f"expected a model that was made from its text, got the trained one of {card.phrase!r}")
    files = all_audio_files(folders)
    if not files:
        raise DataError(f"expected recordings of {card.phrase!r}, got none; give their folder with --positives")
    takes = _Takes(card, [read_audio(path) for path in files])
    if not takes.are_of_the_word():
        heard = f"{counted(len(files), 'recording')} in which nothing sounds like it"
        raise DataError(f"expected recordings of {card.phrase!r}, got {heard}; look at {', '.join(map(str, folders))}")
    ways = takes.ways_of(range(len(files)))
    by_others = [takes.ways_of([other for other in range(len(files)) if other != take]) for take in range(len(files))]
    found = sum(takes.finds(take, others) for take, others in enumerate(by_others))
    data = model_of_text(takes.spoken, ways)
    if COMPARED in card.training:  # where the trained model is
        learned = parse_model(data).card
        training = {**learned.training, COMPARED: card.training[COMPARED]}
        data = embed_card(data, dataclasses.replace(learned, training=training))
    write_whole(out, data)
    before = sum(takes.finds(take, takes.learned) for take in range(len(files)))
    return Learned(ways[len(takes.learned) :], len(files), before, found)


class _Takes:
    """Recordings of a word as the recogniser hears them, and the ways to say it that they teach."""

    def __init__(self, card: ModelCard, takes: Sequence[Array]) -> None:
        self.spoken = SpokenKeyword(card.phrase, SynthesisConfig.of_record(card.training), 0, card.language)
        ear = ear_of(self.spoken.language)
        self._recogniser = ear.network
        self._opinion = ear.opinion.network if ear.opinion else None
        self.learned: tuple[TokenWay, ...] = tuple(
            tuple(way) for way in card.training.get(LEARNED_WAYS_KEY, ()) if {*self._recogniser.tokens} >= {*way}
        )
        """What earlier takes taught."""
        self._own = ways_of(self.spoken, ear)
        near = list(zip(*self.spoken.near(self._recogniser.tokens, ear.costs), strict=True))
        self._near = KeywordPhonemes(near[0], self._recogniser.tokens, near[1]) if near else None
        self._searches: dict[tuple[TokenWay, ...], _Search] = {}
        word = self._with(()).verifier
        self._looks = [_best_look(word, samples) for samples in takes]
        self._ways_in_takes = [self._way_in(heard[self._recogniser]) for heard in self._looks]

    def are_of_the_word(self) -> bool:
        """Whether something in one of the takes sounds like the word."""
        return any(self._ways_in_takes) or any(self.finds(take, self.learned) for take in range(len(self._looks)))

    def finds(self, take: int, ways: tuple[TokenWay, ...]) -> bool:
        """Whether a take is found at the default threshold of the word with these ways besides its own."""
        return self._with(ways).finds(self._looks[take])

    def ways_of(self, takes: Sequence[int]) -> tuple[TokenWay, ...]:
        """The ways that find more of these takes and cost no mistakes in the packs, what was heard most often first."""
        kept = self.learned
        before = self._with(kept)
        for way, _ in Counter(way for take in takes if (way := self._ways_in_takes[take])).most_common():
            more = (*kept, way)
            if way in kept or len(more) > _MAX_WAYS or not self._with(more).promises_as_much_as(before):
                continue
            if sum(self.finds(take, more) for take in takes) > sum(self.finds(take, kept) for take in takes):
                kept = more
        return kept

    def _with(self, ways: tuple[TokenWay, ...]) -> "_Search":
        """The search for the word with more ways, as a model that is made from them would have it."""
        if ways not in self._searches:
            every = [*self._own, *map(way_of_tokens, ways)]
            keyword = KeywordPhonemes(
                [way.variant for way in every], self._recogniser.tokens, [way.losses for way in every], near=self._near
            )
            verifier = PhonemeVerifier(keyword, self._recogniser, self._opinion)
            try:
                point = default_point(points_of_search(keyword, self.spoken), SILENT)
                self._searches[ways] = _Search(verifier, point.threshold, point.target)
            except ConfigError:  # speech is full of it
                self._searches[ways] = _Search(verifier, np.inf, np.inf)
        return self._searches[ways]

    def _way_in(self, heard: Array) -> TokenWay | None:
        """The stretch of the likeliest tokens that is nearest to a way to say the word; ``None`` if none is near."""
        tokens = [self._recogniser.tokens[token] for token in heard.argmax(axis=1)]
        said = [token for token, _ in itertools.groupby(tokens) if token not in (BLANK, WORD_BOUNDARY)]
        differs, stretch = min((_nearest(way.variant, said) for way in self._own), default=(1.0, ()))
        return stretch if differs <= _DIFFERENT and len(stretch) >= _FEWEST_SOUNDS else None


@dataclass(frozen=True)
class _Search:
    """A word's search and the default point that the packs allow it."""

    verifier: PhonemeVerifier
    threshold: float
    target: float
    """Mistakes an hour."""

    def finds(self, heard: _Look) -> bool:
        """Whether the word is found in a look."""
        return score_of_fit(self.verifier.fit(heard.__getitem__)) >= self.threshold

    def promises_as_much_as(self, other: "_Search") -> bool:
        """Whether what the other finds is found, with no more mistakes promised."""
        return self.threshold <= other.threshold and self.target <= other.target


def _best_look(word: PhonemeVerifier, samples: Array) -> _Look:
    """What the recognisers hear where the word fits best in a take."""
    padded = np.pad(samples, PHONEME_SAMPLES)
    networks = [word.network, word.opinion] if word.opinion else [word.network]
    looks = [
        {network: network.log_probabilities(padded[start : start + PHONEME_SAMPLES]) for network in networks}
        for start in range(_STEP, len(padded) - PHONEME_SAMPLES, _STEP)
    ]
    return max(looks, key=lambda look: word.fit(look.__getitem__))


def _nearest(variant: Variant, said: Sequence[str]) -> tuple[float, TokenWay]:
    """The stretch of ``said`` with the fewest edits from a way to say a word, and these as a part of its phonemes.

    The shortest of equals: sounds before and after the word are not a part of it.
    """
    best = [(0.0, place, place) for place in range(len(said) + 1)]  # edits, first and end of the stretch
    for sound in variant:
        row = [(best[0][0] + 1, 0, 0)]
        for place, token in enumerate(said):
            edits, first, _ = best[place]
            ways = [(edits + (token not in sound), first), (best[place + 1][0] + 1, best[place + 1][1])]
            ways.append((row[place][0] + 1, row[place][1]))
            least, start = min(ways, key=lambda way: (way[0], -way[1]))
            row.append((least, start, place + 1))
        best = row
    edits, first, end = min(best, key=lambda one: (one[0], one[2] - one[1]))
    return edits / len(variant), tuple(said[first:end])
