"""Reading one live stream of 16 kHz audio for its keywords."""

from collections.abc import Sequence

from wakeword.audio.detection import Detection, Keeps
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword.model.first_stage import FirstStage
from wakeword.model.model import Model
from wakeword.stream.keyword import KeywordTracker
from wakeword.stream.stream_audio import StreamAudio

PIECE = SAMPLE_RATE
"""Most samples in one ``StreamReader.push``, so that memory does not grow with a caller's block."""


class StreamReader:
    """Scores the windows of one stream. Not safe for use by several threads.

    ``audio`` is the stream: its samples, keywords and suppression. ``pre_roll`` is in samples.
    """

    def __init__(
        self,
        models: Sequence[Model],
        thresholds: Sequence[float],
        *,
        hop: int,
        refractory: int,
        pre_roll: int,
        gate: bool,
        keep: Keeps | None = None,
    ) -> None:
        self._first_stage = FirstStage(models, hop=hop)
        keywords = [
            KeywordTracker(model, threshold, hop=hop, refractory=refractory)
            for model, threshold in zip(models, thresholds, strict=True)
        ]
        self.audio = StreamAudio(keywords, pre_roll=pre_roll, piece=PIECE, gate=gate, keep=keep)
        self.reset()

    @property
    def samples_to_window(self) -> int:
        """Samples until the next window of any keyword ends."""
        return self._work_at - self.audio.end

    def reset(self) -> None:
        """Begin a new stream."""
        self.audio.reset()
        self._first_stage.begin()
        self._plan()

    def push(self, samples: Array) -> list[Detection]:
        """Process ``(n,)`` float32, at most ``PIECE`` samples; return the detections that they complete."""
        self.audio.push(samples)
        # Nothing is computed before a window ends: a small block costs a copy, not a pass.
        return self._work_through(self.audio.end) if self.audio.end >= self._work_at else []

    def finish(self) -> list[Detection]:
        """Append silence until a window of every keyword covers the last sample; return the detections."""
        silence = self.audio.finish()
        return self._work_through(self.audio.end + silence)

    def _work_through(self, end: int) -> list[Detection]:
        """Score the windows up to sample ``end``; what the stream does not have of them is silence."""
        audio = self.audio
        quiet = audio.is_quiet(audio.end)
        if audio.is_asleep:
            if quiet:
                audio.hold(audio.end)
                self._plan()
                return []
            self._first_stage.begin(audio.wake())
        read = self._first_stage.read(audio.samples_of, end, audio.is_over)
        detections = [
            detection
            for keyword, windows in zip(audio.keywords, read, strict=True)
            for detection in audio.take(keyword, windows)
        ]
        audio.sleep_if(quiet)
        self._plan()
        detections.sort(key=lambda detection: detection.end)
        return detections

    def _plan(self) -> None:
        """Set the sample at which the next window of any keyword ends."""
        self._work_at = min([keyword.window_end for keyword in self.audio.keywords])
