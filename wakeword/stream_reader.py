"""One stream of 16 kHz audio, read for its keywords: what is computed when, and what may be slept through."""

from collections.abc import Sequence

import numpy as np

from wakeword.audio import SAMPLE_RATE
from wakeword.detection import Detection
from wakeword.features import Array, FeatureConfig, MfccTransform
from wakeword.gate import QuietGate
from wakeword.history import AudioHistory
from wakeword.keyword import KeywordStream
from wakeword.model import Model
from wakeword.scorer import covering_samples
from wakeword.suppression import Suppression
from wakeword.trigger import Trigger

PIECE = SAMPLE_RATE
"""Samples that ``StreamReader.push`` may bring at once, so that memory does not grow with a caller's block."""


class StreamReader:
    """The audio of one stream, its keywords and its place in it. ``pre_roll`` is in samples. Not for several threads."""

    def __init__(
        self,
        models: Sequence[Model],
        thresholds: Sequence[float],
        *,
        hop: int,
        smoothing: int,
        refractory: int,
        pre_roll: int,
        gate: bool,
    ) -> None:
        self.keywords = [
            KeywordStream(model, Trigger(least, smoothing=smoothing, refractory=refractory, hop=hop), hop=hop)
            for model, least in zip(models, thresholds, strict=True)
        ]
        self.suppression = Suppression()
        self._pre_roll = pre_roll
        longest = max(keyword.window for keyword in self.keywords)
        self._history = AudioHistory(longest + pre_roll + self.keywords[0].step + PIECE)
        # That of every model: others are refused when they are loaded.
        self._features = MfccTransform(FeatureConfig())
        self._gate = QuietGate(max(longest, PIECE)) if gate else None
        self.reset()

    @property
    def end(self) -> int:
        """Number of the sample that comes next."""
        return self._history.end

    def reset(self) -> None:
        """Begin a new stream."""
        self._history.reset()
        if self._gate is not None:
            self._gate.reset()
        self.is_asleep = False
        """Whether the newest audio was quiet that stays as it is, for which nothing was computed."""
        self._heard = self._framed = 0
        self.suppression.reset()
        for keyword in self.keywords:
            keyword.reset()
        self._plan()

    def slice(self, start: int, end: int) -> Array:
        """A copy of the samples ``start`` to ``end``, less those before the stream or no longer kept, ``(n,)``."""
        return self._history.slice(start, end)

    def push(self, samples: Array) -> list[Detection]:
        """Take ``(n,)`` float32, at most ``PIECE``; the detections that they complete."""
        self._history.push(samples)
        # Nothing is computed before a window ends: a small block costs a copy, not a pass.
        return self._work_through() if self._history.end >= self._work_at else []

    def finish(self) -> list[Detection]:
        """Append silence until a window of every keyword covers the last sample; the detections that it completes."""
        return self._work_through(ending=True)

    def _work_through(self, *, ending: bool = False) -> list[Detection]:
        """Score what was not yet read of the stream, which silence is appended to if it is ``ending``."""
        end = self._history.end
        quiet = self._gate is not None and self._gate.push(self._history.view(self._heard, end))
        self._heard = end
        if self.is_asleep:
            if quiet and not ending:
                for keyword in self.keywords:
                    keyword.hold(end)
                self._plan()
                return []
            self._wake()
        signal = self._history.view(self._framed, end)
        if ending:
            signal = np.pad(signal, (0, self._silence_to_the_end()))
        frames = self._features(signal)
        self._framed += len(frames) * self._features.config.hop_length
        last = end if ending else None
        found = [
            self._detection(keyword, at, score)
            for keyword in self.keywords
            for at, score in keyword.push(frames, suppression=self.suppression, end=last)
        ]
        self.is_asleep = quiet and all(keyword.is_far_below() for keyword in self.keywords)
        self._plan()
        found.sort(key=lambda detection: detection.end)
        return found

    def _wake(self) -> None:
        """Begin anew with the first window that was not scored.

        A window's score depends on its own samples alone, so that it is what it would have been without the sleep.
        """
        self._framed = min(keyword.window_start for keyword in self.keywords)
        for keyword in self.keywords:
            keyword.resume(self._framed)

    def _detection(self, keyword: KeywordStream, window_end: int, score: float) -> Detection:
        start = window_end - keyword.window
        # The last window of a stream may reach into the silence that flush appended.
        end = min(window_end, self._history.end)
        audio = self._history.slice(start - self._pre_roll, end)
        return Detection(keyword.name, score, start / SAMPLE_RATE, end / SAMPLE_RATE, audio)

    def _plan(self) -> None:
        """Set the sample at which the next window of any keyword ends."""
        self._work_at = min([keyword.window_end for keyword in self.keywords])

    def _silence_to_the_end(self) -> int:
        """So many samples of silence that a window of every keyword covers the last sample."""
        end = self._history.end
        covering = [covering_samples(end, keyword.window, keyword.step) for keyword in self.keywords]
        return max(covering) - end if end else 0
