"""What a word from its text finds of people, going by other words."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from wakeword.base.errors import DataError
from wakeword.model.installed import assets_folder

FILE = "text-alone.json"


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
    told: PeopleFound
    """Words that were trained from their text, and that have half of the phonemes' weight or more."""
    untold: PeopleFound
    """The same of words with less: their phonemes do not tell them from speech."""
    words: int
    """Words that only their phonemes judge."""
    fits: Sequence[float]
    """Fits of the phonemes, rising."""
    typed: Sequence[Sequence[float]]
    """What words find where their phonemes have to fit so well: for each fit ``low``, ``middle`` and ``high``."""

    def people_found(self, voices: float, phonemes: float) -> PeopleFound:
        """What a share of synthetic voices means for people, going by the words on the same side: never more.

        ``phonemes``: their weight.
        """
        alike = self.told if phonemes >= self.weights[2] / 2 else self.untold
        return PeopleFound(alike.words, *(min(share, voices) for share in (alike.low, alike.middle, alike.high)))

    def typed_found(self, fit: float) -> PeopleFound:
        """What other words find where their phonemes alone have to fit as well as ``fit``."""
        shares = (float(np.interp(fit, self.fits, some)) for some in zip(*self.typed, strict=True))
        return PeopleFound(self.words, *shares)


@cache
def text_alone(path: Path | None = None) -> TextAlone:
    """What words with recordings of people taught about words from their text alone. ``DataError`` if it is missing.

    Measured on people that no model had heard: the experiment "text-alone" makes the figures (train/evidence/results).
    ``path``: of another recogniser's figures.
    """
    path = path or assets_folder("wakeword_train") / FILE
    try:
        content = json.loads(path.read_text("utf-8"))
        first, head, phonemes = content["weights"]
        told, untold = (PeopleFound(**content["trained"][side]) for side in ("told", "untold"))
        typed = content["typed"]
        shares = [*zip(typed["low"], typed["middle"], typed["high"], strict=True)]
        return TextAlone((first, head, phonemes), told, untold, typed["words"], typed["fits"], shares)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path}: expected the numbers of words from text alone; is the installation complete?"
        ) from error
