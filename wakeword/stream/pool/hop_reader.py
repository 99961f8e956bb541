"""A stream read hop by hop, for a pool that scores the hops of many streams together."""

from collections.abc import Sequence

import numpy as np

from wakeword.audio.detection import Detection
from wakeword.audio.features import FeatureConfig
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword.stream.keyword import KeywordTracker
from wakeword.stream.stream_audio import StreamAudio

POOL_PIECE = SAMPLE_RATE // 4
"""Most samples in one ``HopReader.push``: a pool keeps that much for each of many streams."""

_CONFIG = FeatureConfig()


class HopReader:
    """The hops of one stream: which is due, and which of its scores are detections. ``audio`` is the stream.

    A hop ends where a window of any keyword ends: at ``phases`` in frames, ascending and at most ``hop``, and every
    ``hop`` frames after each. A scorer calls ``read``, and if that is not 0, it scores ``signal``, passes the logit of
    every keyword of phase number ``turn`` to ``take``, and calls ``conclude``. If ``fresh`` is set, the scores of the
    stream begin with that hop.
    """

    def __init__(
        self, keywords: Sequence[KeywordTracker], phases: Sequence[int], *, hop: int, pre_roll: int, gate: bool
    ) -> None:
        self.audio = StreamAudio(keywords, pre_roll=pre_roll, piece=POOL_PIECE, gate=gate)
        self.slot: int | None = None
        """Where the scorer keeps this stream's state."""
        self._phases, self._hop = phases, hop
        self.reset()

    def reset(self) -> None:
        """Begin a new stream."""
        self.audio.reset()
        self._is_quiet = False
        self._begin(0)

    @property
    def is_ending(self) -> bool:
        """Whether ``finish`` was called since the last ``reset``."""
        return self.audio.length is not None

    def push(self, samples: Array) -> None:
        """Append ``(n,)`` float32 samples, at most ``POOL_PIECE``, once ``read`` has returned 0."""
        self.audio.push(samples)

    def finish(self) -> None:
        """Append silence until a window of every keyword covers the last sample."""
        self.audio.push(np.zeros(self.audio.finish(), np.float32))

    def read(self) -> int:
        """Frames in the next hop to score; 0 if more audio is needed for it."""
        while self.audio.end >= self.due:
            self._is_quiet = self.audio.is_quiet(self.due)
            if not self.audio.is_asleep:
                return self._next_frame - self._frame
            if self._is_quiet:
                self.audio.hold(self.due)
                self._step()
            else:
                self._begin(self.audio.wake())
        return 0

    def signal(self) -> Array:
        """The samples of the hop's frames, ``(n,)``: valid until the next ``push``."""
        return self.audio.view(self._origin + self._frame * _CONFIG.hop_length, self.due)

    def take(self, keyword: KeywordTracker, logit: float) -> list[Detection]:
        """Take the logit of the window that ends with the hop; return the detection, if it is one."""
        return self.audio.take(keyword, (logit,))

    def conclude(self) -> None:
        """Go on to the next hop once this one is scored."""
        self.audio.sleep_if(self._is_quiet)
        self._step()

    def _begin(self, start: int) -> None:
        """Read from sample ``start`` on, with scores that begin there."""
        self._origin = start
        self._frame = self.turn = 0
        self._next_frame = self._phases[0]
        self.due = start + _CONFIG.samples_in(self._next_frame)
        """Number of the sample at which the next hop ends."""
        self.fresh = True

    def _step(self) -> None:
        self._frame = self._next_frame
        self.turn += 1
        if self.turn == len(self._phases):
            self.turn = 0
            self._next_frame += self._hop
        self._next_frame += self._phases[self.turn] - self._phases[self.turn - 1]
        self.due = self._origin + _CONFIG.samples_in(self._next_frame)
