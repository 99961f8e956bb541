"""What words with recordings of people taught about words that are trained from their text alone.

The numbers of ``assets/text-alone.json``: measured once with the default recipe, on people that no model had heard.
The experiments "anyword" and "weighing" make the figures that it repeats (train/evidence/results).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from statistics import mean

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


@dataclass(frozen=True)
class TextAlone:
    """The content of the file."""

    weights: tuple[float, float, float]
    """What the first stage's logit, the head's logit and the phonemes' score count."""
    told: Mapping[str, float]
    """Word with half of the phonemes' weight or more -> share of people found at the default of a model from its text."""
    untold: Mapping[str, float]
    """The same of words with less: their phonemes do not tell them from speech."""

    def people_found(self, voices: float, phonemes: float) -> PeopleFound:
        """What a share of synthetic voices means for people, going by the words on the same side: never more.

        ``phonemes``: their weight.
        """
        alike = self.told if phonemes >= self.weights[2] / 2 else self.untold
        shares = [min(share, voices) for share in alike.values()]
        return PeopleFound(len(shares), min(shares), mean(shares), max(shares))


@cache
def text_alone() -> TextAlone:
    """The numbers that ship with this version. ``DataError`` if the installation lacks them."""
    path = assets_folder() / FILE
    try:
        content = json.loads(path.read_text("utf-8"))
        first, head, phonemes = content["weights"]
        told, untold = (
            {word: float(one["people"]) for word, one in content["words"].items() if one["told"] is full}
            for full in (True, False)
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path}: expected the numbers of words from text alone; is the installation complete?"
        ) from error
    return TextAlone((first, head, phonemes), told, untold)
