"""A stream read hop by hop, for a pool that scores the hops of many streams together."""

from collections.abc import Sequence

import numpy as np

from wakeword.audio.detection import Detection
from wakeword.audio.features import FeatureConfig
from wakeword.audio.level import WindowGains, amplified
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword.stream.keyword import KeywordTracker
from wakeword.stream.stream_audio import StreamAudio

POOL_PIECE = SAMPLE_RATE // 4
"""Most samples pushed to a ``HopReader.audio`` at once: a pool keeps that much for each of many streams."""

_CONFIG = FeatureConfig()


class _Hops:
    """The hops of windows of one length in one stream: one ends with each window, and more on the way to the first."""

    def __init__(self, window: int, hop: int) -> None:
        """``window`` and ``hop`` are in frames."""
        self._window = _CONFIG.samples_in(window)
        self._hop = hop
        # The first hop is shorter, so that a window ends with every hop from then on.
        self._first = (window - 1) % hop + 1
        self._gains = WindowGains(self._window)
        self.reset()

    def reset(self) -> None:
        """Begin a new stream."""
        self._gains.reset()
        self.gain = 1.0
        """The gain of the frames, as the newest window has it, until the next has another."""
        self.begin(0)

    def begin(self, start: int) -> None:
        """Go on with the window at sample ``start``."""
        self._origin = start
        self._frame, self._next_frame = 0, self._first
        self.fresh = True
        """Whether scores begin with this hop."""

    @property
    def due(self) -> int:
        """Number of the sample at which the next hop ends."""
        return self._origin + _CONFIG.samples_in(self._next_frame)

    @property
    def frames(self) -> int:
        """Frames in the next hop."""
        return self._next_frame - self._frame

    def signal(self, audio: StreamAudio) -> Array:
        """The samples of the hop's frames at their gain, ``(n,)``."""
        return amplified(audio.samples_of(self._origin + self._frame * _CONFIG.hop_length, self.due), self.gain)

    def follow_level(self, audio: StreamAudio) -> bool:
        """Whether the window that ends with the hop has another gain than the frames so far; then begin again with it."""
        start = self.due - self._window
        if start < self._origin:
            return False  # no window ends yet
        gain = self._gains.of(audio.samples_of, start, audio.is_over)
        if gain == self.gain:
            return False
        self.gain = gain
        self.begin(start)
        return True

    def step(self) -> None:
        """Go on to the next hop."""
        self._frame = self._next_frame
        self._next_frame += self._hop


class HopReader:
    """The hops of one stream: which is due, and which of its scores are detections. ``audio`` is the stream.

    Push at most ``POOL_PIECE`` samples to it, once ``read`` has returned 0. A scorer calls ``read``, and if that is not 0,
    it scores ``hops.signal`` for every keyword with windows of length number ``turn``, passes the logits to ``take``, and
    calls ``conclude``. If ``hops.fresh`` is set, scores begin with that hop.
    """

    def __init__(
        self, keywords: Sequence[KeywordTracker], windows: Sequence[int], *, hop: int, pre_roll: int, gate: bool
    ) -> None:
        """``windows`` are the different lengths of the keywords' windows and ``hop`` is the step between two, in frames."""
        self.audio = StreamAudio(keywords, pre_roll=pre_roll, piece=POOL_PIECE, gate=gate)
        self.slot: int | None = None
        """Where the scorer keeps this stream's state."""
        self._lengths = [_Hops(window, hop) for window in windows]
        self._samples = [_CONFIG.samples_in(window) for window in windows]
        self.reset()

    def reset(self) -> None:
        """Begin a new stream."""
        self.audio.reset()
        self._is_quiet = False
        for hops in self._lengths:
            hops.reset()
        self._choose()

    def finish(self) -> None:
        """Append silence until a window of every keyword covers the last sample."""
        self.audio.push(np.zeros(self.audio.finish(), np.float32))

    def read(self) -> int:
        """Frames in the next hop to score; 0 if more audio is needed for it."""
        audio = self.audio
        while audio.end >= self.hops.due:
            self._is_quiet = audio.is_quiet(self.hops.due)
            if not audio.is_asleep:
                if self.hops.follow_level(audio):
                    continue
                return self.hops.frames
            if self._is_quiet:
                audio.hold(self.hops.due)
                self.hops.step()
            else:
                starts = dict(zip((word.window for word in audio.keywords), audio.wake(), strict=True))
                for samples, hops in zip(self._samples, self._lengths, strict=True):
                    hops.begin(starts[samples])
            self._choose()
        return 0

    def take(self, keyword: KeywordTracker, logit: float) -> list[Detection]:
        """Take the logit of the window that ends with the hop; return the detection, if it is one."""
        return self.audio.take(keyword, ((logit, self.hops.gain),))

    def conclude(self) -> None:
        """Go on to the next hop once this one is scored."""
        self.audio.sleep_if(self._is_quiet)
        self.hops.step()
        self._choose()

    def _choose(self) -> None:
        """Choose the length of the windows with the hop that ends first."""
        dues = [hops.due for hops in self._lengths]
        self.turn = dues.index(min(dues))
        self.hops = self._lengths[self.turn]
