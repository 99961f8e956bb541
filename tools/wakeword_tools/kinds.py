"""The two words for recordings: which split one belongs to, and what kind it is to the keyword."""

from enum import StrEnum


class Split(StrEnum):
    """Weights are fitted on train, everything is chosen on validation, results come from test."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


class Kind(StrEnum):
    """What a recording is to the keyword."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    NEAR_NEGATIVE = "near_negative"
    """A word that sounds like the keyword."""
    BACKGROUND = "background"
    """Long recordings without the keyword: speech, music, rooms."""
    NOISE = "noise"
    """Sounds that are mixed into the others, and negatives themselves."""

    @property
    def plural(self) -> str:
        """The name of several, as reports, folders and settings have it: ``near_negatives``."""
        return f"{self.value}s" if self in WORD_KINDS else self.value


WORD_KINDS = (Kind.POSITIVE, Kind.NEGATIVE, Kind.NEAR_NEGATIVE)
"""Kinds of clips that hold a word to be found in them."""
