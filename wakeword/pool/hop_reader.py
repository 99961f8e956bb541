"""A stream read hop by hop: what is due, what may be slept through, and what the scores then mean."""

from collections.abc import Sequence

import numpy as np

from wakeword.audio import SAMPLE_RATE
from wakeword.detection import Detection
from wakeword.features import Array, FeatureConfig
from wakeword.gate import QuietGate
from wakeword.history import AudioHistory
from wakeword.keyword import KeywordWindows
from wakeword.scorer import covering_samples
from wakeword.suppression import Suppression

PIECE = SAMPLE_RATE // 4
"""Samples that ``HopReader.push`` may bring at once."""

_CONFIG = FeatureConfig()


class HopReader:
    """The audio of one stream, its keywords, and the place up to which it was read.

    A hop ends where a window of some keyword ends: at ``phases`` in frames, ascending and at most ``hop``, and every
    ``hop`` frames after each. Whoever scores the hops calls ``read``, and if that is not 0, takes ``signal``, hands every
    keyword of the phase ``turn`` its score with ``take``, and calls ``conclude``. ``fresh`` says that the scores
    begin anew before that.
    """

    def __init__(
        self, keywords: Sequence[KeywordWindows], phases: Sequence[int], *, hop: int, pre_roll: int, gate: bool
    ) -> None:
        self.keywords = keywords
        self.suppression = Suppression()
        self.slot: int | None = None
        """Where whoever scores the hops keeps what belongs to this stream."""
        self._phases, self._hop, self._pre_roll = phases, hop, pre_roll
        longest = max(keyword.window for keyword in keywords)
        self._history = AudioHistory(longest + pre_roll + keywords[0].step + PIECE)
        self._gate = QuietGate(max(longest, SAMPLE_RATE)) if gate else None
        self.reset()

    def reset(self) -> None:
        """Begin a new stream."""
        self._history.reset()
        if self._gate is not None:
            self._gate.reset()
        for keyword in self.keywords:
            keyword.reset()
        self.suppression.reset()
        self._heard = 0
        self._end: int | None = None
        self._is_quiet = False
        self._begin(0)

    @property
    def end(self) -> int:
        """Number of the sample that comes next."""
        return self._history.end

    @property
    def is_ending(self) -> bool:
        """Whether ``finish`` was called since the last ``reset``."""
        return self._end is not None

    def push(self, samples: Array) -> None:
        """Append ``(n,)`` float32 samples, at most ``PIECE``, once ``read`` has nothing more to give."""
        self._history.push(samples)

    def finish(self) -> None:
        """Append silence until a window of every keyword covers the last sample."""
        self._end = self._history.end
        if self._end:
            covering = [covering_samples(self._end, keyword.window, keyword.step) for keyword in self.keywords]
            self._history.push(np.zeros(max(covering) - self._end, np.float32))

    def read(self) -> int:
        """Frames in the next hop that is to be scored; 0 if more audio is needed for it."""
        while self._history.end >= self.due:
            self._is_quiet = self._hear(self.due)
            if not self._asleep:
                return self._next_frame - self._frame
            if self._is_quiet:
                for keyword in self.keywords:
                    keyword.hold(self.due)
                self._step()
            else:
                # A window's score depends on its own samples alone: the first window that was not scored, and all that
                # begin after it, get the score that they would have had without the sleep.
                start = min(keyword.window_start for keyword in self.keywords)
                for keyword in self.keywords:
                    keyword.resume(start)
                self._begin(start)
        return 0

    def signal(self) -> Array:
        """The samples under the frames of the hop, ``(n,)``: good until the next ``push``."""
        return self._history.view(self._origin + self._frame * _CONFIG.hop_length, self.due)

    def take(self, keyword: KeywordWindows, score: float) -> Detection | None:
        """Take the score of the window that ends with the hop."""
        for window_end, fired in keyword.take((score,), suppression=self.suppression, end=self._end):
            start = window_end - keyword.window
            # The last window of a stream may reach into the silence that ``finish`` appended.
            end = window_end if self._end is None else min(window_end, self._end)
            audio = self._history.slice(start - self._pre_roll, end)
            return Detection(keyword.name, fired, start / SAMPLE_RATE, end / SAMPLE_RATE, audio)
        return None

    def conclude(self) -> None:
        """The hop was scored."""
        self._asleep = self._is_quiet and all(keyword.is_far_below() for keyword in self.keywords)
        self._step()

    def _begin(self, start: int) -> None:
        """Read anew from a sample on."""
        self._origin = start
        self._frame = self.turn = 0
        self._next_frame = self._phases[0]
        self.due = start + _CONFIG.samples_in(self._next_frame)
        """Number of the sample at which the next hop ends."""
        self._asleep = False
        self.fresh = True

    def _step(self) -> None:
        self._frame = self._next_frame
        self.turn += 1
        if self.turn == len(self._phases):
            self.turn = 0
            self._next_frame += self._hop
        self._next_frame += self._phases[self.turn] - self._phases[self.turn - 1]
        self.due = self._origin + _CONFIG.samples_in(self._next_frame)

    def _hear(self, end: int) -> bool:
        """Whether all is quiet up to a sample, which nothing is once the end of the stream is known."""
        if self._gate is None or self._end is not None or end <= self._heard:
            return False
        start, self._heard = self._heard, end
        return self._gate.push(self._history.view(start, end))
