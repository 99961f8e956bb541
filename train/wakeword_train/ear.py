"""The recogniser that hears the words that users train or make from a text, and what thresholds for it are made from.

The package wakeword-ear has one that hears more people than the included one, at less than twice the cost
(train/evidence/results/recognisers-ear.md). English taught both. The package wakeword-languages has one that speech of
other languages taught too, for their words. All have the same tokens.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from wakeword.base.errors import DataError
from wakeword.model.installed import assets_folder, encoders_folder
from wakeword.verify.phoneme_verifier import PhonemeNetwork
from wakeword.verify.shared import (
    LANGUAGES,
    PHONEMES_FILE,
    QUICK_FILE,
    file_digest,
    load_phonemes,
    recogniser_extra,
    recogniser_folders,
)
from wakeword_tools.engines.languages import ENGLISH, family_of
from wakeword_tools.texts.recogniser import CONFUSIONS_FILE, TokenCosts, sound_costs, token_costs
from wakeword_train.pack.starter import FOREIGN, STARTER, SUFFIX, RecognisedPack, hours_of, pack_path, read_recognised

FIGURES_FILE = "text-alone.json"


@dataclass(frozen=True)
class PeopleFound:
    """Which share of people a word finds at its default point, going by other words."""

    words: int
    """Number of these words."""
    low: float
    middle: float
    high: float
    """Nine of ten words lie from ``low`` to ``high``, judged by words of other collections (people-range.md)."""


@dataclass(frozen=True)
class TextAlone:
    """The content of the file."""

    weights: tuple[float, float, float]
    """What the first stage's logit, the head's logit and the phonemes' score count."""
    distinct: PeopleFound
    """Words that were trained from their text, and that have half of the phonemes' weight or more."""
    indistinct: PeopleFound
    """The same of words with less: their phonemes do not tell them from speech."""
    least_voices: float
    """The lowest share of synthetic voices that trained words found."""
    words: int
    """Words that only their phonemes judge."""
    languages: Mapping[str, Sequence[int]]
    """The languages of these words, as codes -> of another one than English how many were found, and of how many."""
    fits: Sequence[float]
    """Fits of the phonemes, rising."""
    typed: Sequence[Sequence[float]]
    """What words find where their phonemes have to fit so well: for each fit ``low``, ``middle`` and ``high``."""

    def tell_of(self, language: str) -> bool:
        """Whether they say something of words of a language: English words do of English, others of all others."""
        return (language == ENGLISH) == (ENGLISH in self.languages)

    def people_found(self, voices: float, phonemes: float) -> PeopleFound:
        """What people find of a trained word, going by the words on the same side.

        ``voices``: the share of synthetic voices that it finds, which says little of people. But of a word that finds fewer
        voices than all others nothing is known, so that no more people are promised. ``phonemes``: their weight.
        """
        alike = self.distinct if phonemes >= self.weights[2] / 2 else self.indistinct
        most = 1.0 if voices >= self.least_voices else voices
        return PeopleFound(alike.words, *(min(share, most) for share in (alike.low, alike.middle, alike.high)))

    def typed_found(self, fit: float, language: str = ENGLISH) -> PeopleFound:
        """What other words find where their phonemes alone have to fit as well as ``fit``, but no more is promised than was
        found of the words of the ``language``, with one more found and one more missed: these are few."""
        low, middle, high = (float(np.interp(fit, self.fits, some)) for some in zip(*self.typed, strict=True))
        counts = self.languages.get(family_of(language))
        own = (counts[0] + 1) / (counts[1] + 2) if counts else 1.0
        return PeopleFound(self.words, min(low, own), min(middle, own), high)


@cache
def text_alone(path: Path | None = None) -> TextAlone:
    """What words with recordings of people taught about words from their text alone. ``DataError`` if it is missing.

    Measured on people that no model had heard: the experiment "text-alone" makes the figures (train/evidence/results).
    ``path``: of another recogniser's figures.
    """
    path = path or assets_folder("wakeword_train") / FIGURES_FILE
    try:
        content = json.loads(path.read_text("utf-8"))
        first, head, phonemes = content["weights"]
        one, other = (PeopleFound(**content["trained"][side]) for side in ("told", "untold"))
        typed = content["typed"]
        shares = [*zip(typed["low"], typed["middle"], typed["high"], strict=True)]
        least = content["trained"]["voices"]
        languages = typed.get("languages", {ENGLISH: ()})
        return TextAlone((first, head, phonemes), one, other, least, typed["words"], languages, typed["fits"], shares)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path}: expected the numbers of words from text alone; is the installation complete?"
        ) from error


@dataclass(frozen=True)
class TextEar:
    """Holds a recogniser and what belongs to it."""

    folder: Path | None
    """The folder of wakeword-ear or wakeword-languages; ``None`` for what is included."""
    foreign: bool = False
    """Whether it hears words of other languages than English."""

    @property
    def path(self) -> Path:
        """The recogniser's file."""
        return (self.folder or encoders_folder()) / PHONEMES_FILE

    @property
    def quick_path(self) -> Path | None:
        """The quick recogniser's file; ``None`` for other languages without one that they taught."""
        if not self.foreign:
            return encoders_folder() / QUICK_FILE
        return self.folder / QUICK_FILE if self.folder and (self.folder / QUICK_FILE).is_file() else None

    @cached_property
    def digest(self) -> str:
        """The name of the recogniser in a card."""
        return file_digest(self.path)

    @property
    def network(self) -> PhonemeNetwork:
        """The recogniser, loaded once in a process."""
        return load_phonemes(self.path, self.digest)

    @cached_property
    def opinion(self) -> "TextEar | None":
        """Who is asked for a second opinion: the included one, if this is another that English taught as well."""
        return TextEar(None) if self.folder and not self.foreign else None

    @property
    def costs(self) -> TokenCosts:
        """What its tokens cost: see ``token_costs``, and ``sound_costs`` for other languages, which
        the included one did not count."""
        table = self.folder and self.folder / CONFUSIONS_FILE
        if not self.foreign:
            return token_costs(table)
        return sound_costs(table) if table else {}

    @property
    def people(self) -> TextAlone:
        """What words find with it."""
        return text_alone(self.folder and self.folder / FIGURES_FILE)

    @property
    def speech_names(self) -> tuple[str, ...]:
        """The packs of people's speech: English, and other languages for a recogniser that they taught."""
        return (STARTER, FOREIGN) if self.folder and self.foreign else (STARTER,)

    @property
    def speech_packs(self) -> list[RecognisedPack]:
        """What it hears in them."""
        return [self.pack(name) for name in self.speech_names]

    @property
    def background_hours(self) -> dict[str, float]:
        """Language -> hours of it in ``speech_packs``."""
        english, *others = self.speech_packs
        frames = Counter[str]()
        for one in (recording for pack in others for recording in pack.recordings):
            frames[one.source.split("-")[0]] += one.frames
        hours = {ENGLISH: english.hours} | {language: hours_of(count) for language, count in sorted(frames.items())}
        return {language: round(value, 2) for language, value in hours.items()}

    def pack_path(self, name: str) -> Path:
        """The file of what it hears in speech, or in noise and music."""
        return self.folder / f"{name}{SUFFIX}" if self.folder else pack_path(name)

    def pack(self, name: str) -> RecognisedPack:
        """What it hears. ``DataError`` for a pack that another recogniser heard."""
        return _read_once(self.pack_path(name), self.digest)


@cache
def ear_of(language: str) -> TextEar:
    """What hears words of a language: the recogniser that is for it if that is installed, or the included one."""
    return TextEar(recogniser_folders().get(recogniser_extra(language)), language != ENGLISH)


def ear_beside(pack: RecognisedPack | None, language: str) -> TextEar:
    """What hears words of a language that are trained with a pack: a pack of one's own was heard by the included one."""
    ear = ear_of(language)
    known = pack is None or ear.folder is None or ear.pack(STARTER).recordings == pack.recordings
    return ear if known else TextEar(None, ear.foreign)


def ear_of_digest(digest: str | None) -> TextEar:
    """The recogniser that a card names; the included one for any that is not here."""
    installed = (TextEar(folder, extra == LANGUAGES) for extra, folder in recogniser_folders().items())
    return next((ear for ear in installed if ear.digest == digest), TextEar(None))


@cache
def _read_once(path: Path, digest: str) -> RecognisedPack:
    pack = read_recognised(path)
    if pack.phonemes_digest != digest:
        raise DataError(f"{path}: expected what the recogniser {digest[:16]} hears, got another's; make it again")
    return pack
