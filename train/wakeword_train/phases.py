"""The phases of a training run, as a display names them."""

from enum import StrEnum


class Phase(StrEnum):
    """What a run does, in this order; a run may lack some."""

    SPEECH = "making speech"
    NATURAL = "making natural speech"
    READING = "reading recordings"
    FIRST = "training the first stage"
    LISTENING = "listening to the clips"
    SECOND = "training the second stage"
    MEASURING = "measuring"
