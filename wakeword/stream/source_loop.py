"""A loop over ``Detector.run`` that is running."""

from collections.abc import Iterator
from dataclasses import dataclass

from wakeword.audio.pcm import PcmStream
from wakeword.base.types import Samples


@dataclass
class Loop:
    """Where it is, and what it reads."""

    thread: int
    """In which it went on last."""
    pcm: PcmStream
    blocks: Iterator[Samples]
    is_waiting: bool = False
    """Whether it waits for its consumer to take the next detection, who may use the detector until then."""
