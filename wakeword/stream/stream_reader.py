"""Reading one live stream of 16 kHz audio for its keywords."""

from collections.abc import Sequence

import numpy as np

from wakeword.audio.detection import Detection
from wakeword.audio.features import FeatureConfig, MfccTransform
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword.model.model import Model
from wakeword.model.scorer import ModelScorers
from wakeword.stream.keyword import KeywordTracker
from wakeword.stream.stream_audio import StreamAudio
from wakeword.stream.trigger import Trigger

PIECE = SAMPLE_RATE
"""Most samples in one ``StreamReader.push``, so that memory does not grow with a caller's block."""


class StreamReader:
    """Computes the features of one stream and scores its windows. Not safe for use by several threads.

    ``audio`` is the stream: its samples, keywords and suppression. ``pre_roll`` is in samples.
    """

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
        self._scorer = ModelScorers(models, hop=hop)
        keywords = [
            KeywordTracker(model, Trigger(threshold, smoothing=smoothing, refractory=refractory, hop=hop), hop=hop)
            for model, threshold in zip(models, thresholds, strict=True)
        ]
        self.audio = StreamAudio(keywords, pre_roll=pre_roll, piece=PIECE, gate=gate)
        # The same for all models: others are refused when they are loaded.
        self._config = FeatureConfig()
        self._features = MfccTransform(self._config)
        self.reset()

    @property
    def samples_to_window(self) -> int:
        """Samples until the next window of any keyword ends."""
        return self._work_at - self.audio.end

    def reset(self) -> None:
        """Begin a new stream."""
        self.audio.reset()
        self._begin(0)
        self._plan()

    def push(self, samples: Array) -> list[Detection]:
        """Process ``(n,)`` float32, at most ``PIECE`` samples; return the detections that they complete."""
        self.audio.push(samples)
        # Nothing is computed before a window ends: a small block costs a copy, not a pass.
        return self._work_through() if self.audio.end >= self._work_at else []

    def finish(self) -> list[Detection]:
        """Append silence until a window of every keyword covers the last sample; return the detections."""
        return self._work_through(silence=self.audio.finish())

    def _work_through(self, *, silence: int | None = None) -> list[Detection]:
        """Score the complete windows; at the end of a stream, its rest and ``silence`` samples of silence."""
        audio = self.audio
        quiet = audio.is_quiet(audio.end)
        if audio.is_asleep:
            if quiet:
                audio.hold(audio.end)
                self._plan()
                return []
            self._begin(audio.wake())
        if silence is None:
            # Only up to the last complete window, so that a hop's frames are one matrix product and not parts of two.
            signal = audio.view(self._framed, self._last_window_end())
        else:
            signal = np.pad(audio.view(self._framed, audio.end), (0, silence))
        frames = self._features(signal, first=self._framed // self._config.hop_length)
        self._framed += len(frames) * self._config.hop_length
        found = [
            detection
            for keyword, logits in zip(audio.keywords, self._scorer.logits(frames), strict=True)
            for detection in audio.take(keyword, logits)
        ]
        audio.sleep_if(quiet)
        self._plan()
        found.sort(key=lambda detection: detection.end)
        return found

    def _begin(self, start: int) -> None:
        """Compute features and scores from sample ``start`` on."""
        self._framed = start
        self._scorer.reset()

    def _last_window_end(self) -> int:
        """The sample at which the last complete window ends."""
        end, keywords = self.audio.end, self.audio.keywords
        complete = [keyword for keyword in keywords if keyword.window_end <= end]
        return max([end - (end - keyword.window_end) % keyword.step for keyword in complete])

    def _plan(self) -> None:
        """Set the sample at which the next window of any keyword ends."""
        self._work_at = min([keyword.window_end for keyword in self.audio.keywords])
