"""The two classifications of recordings: split and kind."""

from enum import StrEnum


class Split(StrEnum):
    """Weights are fitted on train, everything is chosen on validation, results come from test."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


class Kind(StrEnum):
    """The kind of a recording in relation to the keyword."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    NEAR_NEGATIVE = "near_negative"
    """A word that sounds like the keyword."""
    BACKGROUND = "background"
    """Long recordings without the keyword: speech, music, rooms."""
    NOISE = "noise"
    """Sounds that are mixed into the others, and serve as negatives too."""

    @property
    def plural(self) -> str:
        """The plural, as in reports, folders and settings: ``near_negatives``."""
        return f"{self.value}s" if self in WORD_KINDS else self.value


WORD_KINDS = (Kind.POSITIVE, Kind.NEGATIVE, Kind.NEAR_NEGATIVE)
"""Kinds of clips that hold one word."""
