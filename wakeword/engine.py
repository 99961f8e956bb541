"""The detector: blocks of audio in, detections out.

The way of a block: ``audio.PcmStream`` -> ``features.MfccStream`` -> one ``scorer.StreamScorer`` and one
``trigger.Trigger`` per keyword -> ``Detection``.
"""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from wakeword.audio import SAMPLE_RATE, PcmStream, Samples
from wakeword.errors import ConfigError
from wakeword.features import Array, FeatureConfig, MfccStream
from wakeword.history import AudioHistory
from wakeword.model import Model, load_model
from wakeword.scorer import DEFAULT_HOP, Scorer, StreamScorer, covering_samples
from wakeword.sources import AudioSource
from wakeword.trigger import DEFAULT_REFRACTORY, Trigger

# Audio is worked through in pieces of at most this many samples, so that memory does not grow with the block.
_PIECE = SAMPLE_RATE


@dataclass(frozen=True)
class Detection:
    """Somebody said the keyword."""

    keyword: str
    score: float
    """Smoothed score in 0..1 that reached the threshold."""
    start: float
    """Start of the window that was scored, in seconds of the stream's own clock; the word lies inside it."""
    end: float
    """End of that window, seconds: the moment of the detection."""
    audio: Array = field(repr=False, compare=False)
    """Mono float32 at 16 kHz: the pre-roll, then the window. Its last sample lies at ``end``."""


class _Keyword:
    """One model's part of the detector."""

    def __init__(self, model: Model, scorer: Scorer, trigger: Trigger) -> None:
        self.name = model.card.phrase
        self.window = model.card.features.samples_in(model.card.window)
        """Samples under one window."""
        self.scorer = scorer
        self.trigger = trigger
        self.reset()

    def reset(self) -> None:
        self.scorer.reset()
        self.trigger.reset()
        self.window_end = self.window
        """Number of the sample at which the next window ends."""
        self.score = 0.0


class Detector:
    """Listens to one stream of audio for one or more wake words.

    ``models`` are shipped keywords (``"marvin"``), model files, or loaded ``Model`` objects. The threshold of each is
    that of its operating point ``point`` (default: the model's own choice), unless ``threshold`` is given for all.
    ``sample_rate`` and ``channel`` describe the blocks that ``push`` will get; ``channel`` picks one of several.

    Raises ``ModelError`` for an unusable model and ``ConfigError`` for settings out of range. Not for use by several
    threads at once; models may be shared.
    """

    def __init__(
        self,
        models: Model | Path | str | Sequence[Model | Path | str],
        *,
        point: str | None = None,
        threshold: float | None = None,
        sample_rate: int = SAMPLE_RATE,
        channel: int | None = None,
        hop: int = DEFAULT_HOP,
        smoothing: int = 1,
        refractory: int = DEFAULT_REFRACTORY,
        pre_roll: float = 0.5,
        on_detection: Callable[[Detection], None] | None = None,
        provider: str = "cpu",
    ) -> None:
        given = [models] if isinstance(models, (Model, Path, str)) else list(models)
        loaded = [model if isinstance(model, Model) else load_model(model, provider=provider) for model in given]
        names = [model.card.phrase for model in loaded]
        if not names or len(set(names)) != len(names):
            raise ConfigError(f"expected one or more models of different keywords, got {names}")
        if not 0 <= pre_roll <= 60:
            raise ConfigError(f"expected a pre-roll of 0 to 60 seconds, got {pre_roll}")
        self.on_detection = on_detection
        # That of every model: others are refused when they are loaded.
        features = FeatureConfig()
        self._keywords = [
            _Keyword(
                model,
                StreamScorer(model, hop=hop),
                Trigger(
                    model.card.point(point).threshold if threshold is None else threshold,
                    smoothing=smoothing,
                    refractory=refractory,
                    hop=hop,
                ),
            )
            for model in loaded
        ]
        self._pre_roll = round(pre_roll * SAMPLE_RATE)
        self._step = hop * features.hop_length
        longest = max(keyword.window for keyword in self._keywords)
        self._history = AudioHistory(longest + self._pre_roll + self._step + _PIECE)
        self._features = MfccStream(features)
        self._channel = channel
        self._pcm = PcmStream(sample_rate, channel=channel)
        self.reset()

    @property
    def keywords(self) -> list[str]:
        """The words listened for."""
        return [keyword.name for keyword in self._keywords]

    @property
    def thresholds(self) -> dict[str, float]:
        """The threshold in force for each keyword."""
        return {keyword.name: keyword.trigger.threshold for keyword in self._keywords}

    @property
    def scores(self) -> dict[str, float]:
        """The newest score of each keyword; 0 before the first window is complete."""
        return {keyword.name: keyword.score for keyword in self._keywords}

    @property
    def seconds(self) -> float:
        """Seconds of audio taken since the last ``reset``: the stream's own clock."""
        return self._history.end / SAMPLE_RATE

    def reset(self) -> None:
        """Begin a new stream at time 0, as a new detector would."""
        self._pcm.reset()
        self._features.reset()
        self._history.reset()
        self._read = 0
        for keyword in self._keywords:
            keyword.reset()
        self._plan()

    def push(self, block: Samples) -> list[Detection]:
        """Take a block of any length, ``(samples,)`` or ``(samples, channels)``; the detections that it completes.

        int16, int32 or float32. Raises ``AudioFormatError`` for anything else; the stream then stays as it was.
        """
        return self._take(self._pcm.push(block))

    def flush(self) -> list[Detection]:
        """End the stream: silence is appended until a window covers the last sample. Then begin a new one."""
        detections = self._take(self._pcm.flush())
        detections += self._work_through(self._silence_to_the_end())
        self.reset()
        return detections

    def run(self, source: AudioSource) -> Iterator[Detection]:
        """Listen to a source until it ends; detections as they come. Begins and ends a stream of its own.

        Raises ``AudioError`` if the source breaks. Leaving the loop early closes nothing: the source stays the
        caller's.
        """
        pushed = self._pcm
        self._pcm = PcmStream(source.sample_rate, channel=self._channel)
        try:
            self.reset()
            for block in source.blocks():
                yield from self.push(block)
            yield from self.flush()
        finally:
            self._pcm = pushed
            self.reset()

    async def stream(self, source: AudioSource) -> AsyncIterator[Detection]:
        """``run`` for asyncio: source and network work in a thread of their own, never on the event loop.

        A stream that is left early lets go of the source at its next block.
        """
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[Detection | BaseException | None] = asyncio.Queue()
        stopped = threading.Event()

        def work() -> None:
            result: BaseException | None = None
            try:
                for detection in self.run(_Until(source, stopped)):
                    loop.call_soon_threadsafe(queue.put_nowait, detection)
            except BaseException as error:
                result = error
            finally:
                # The loop may be closed already, when the program ends; then nobody waits for this either.
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(queue.put_nowait, result)

        thread = threading.Thread(target=work, name="wakeword", daemon=True)
        thread.start()
        try:
            while (item := await queue.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            stopped.set()

    def close(self) -> None:
        """Let go of the audio that was kept."""
        self.reset()

    def __enter__(self) -> "Detector":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _take(self, samples: Array) -> list[Detection]:
        detections: list[Detection] = []
        for start in range(0, len(samples), _PIECE):
            self._history.push(samples[start : start + _PIECE])
            # Nothing is computed before a window ends: a small block costs a copy, not a pass.
            if self._history.end >= self._work_at:
                detections += self._work_through()
        return detections

    def _work_through(self, silence: int = 0) -> list[Detection]:
        """Score what was not yet read of the stream, and so many samples of silence after it."""
        end = self._history.end
        samples = self._history.slice(self._read, end)
        self._read = end
        frames = self._features.push(np.pad(samples, (0, silence)) if silence else samples)
        found = [detection for keyword in self._keywords for detection in self._listen(keyword, frames)]
        found.sort(key=lambda detection: detection.end)
        self._plan()
        if self.on_detection is not None:
            for detection in found:
                self.on_detection(detection)
        return found

    def _listen(self, keyword: _Keyword, frames: Array) -> Iterator[Detection]:
        for score in keyword.scorer.push(frames).tolist():
            if self._covered(keyword):
                return  # The silence of flush was for a keyword with a longer window.
            keyword.score = score
            fired = keyword.trigger.push(score)
            if fired is not None:
                yield self._detection(keyword, fired)
            keyword.window_end += self._step

    def _detection(self, keyword: _Keyword, score: float) -> Detection:
        start = keyword.window_end - keyword.window
        # The last window of a stream may reach into the silence that flush appended.
        end = min(keyword.window_end, self._history.end)
        audio = self._history.slice(start - self._pre_roll, end)
        return Detection(keyword.name, score, start / SAMPLE_RATE, end / SAMPLE_RATE, audio)

    def _plan(self) -> None:
        """Set the sample at which the next window of any keyword ends."""
        self._work_at = min(keyword.window_end for keyword in self._keywords)

    def _covered(self, keyword: _Keyword) -> bool:
        """Whether a window of the keyword has reached the last sample of the stream."""
        return keyword.window_end > covering_samples(self._history.end, keyword.window, self._step)

    def _silence_to_the_end(self) -> int:
        """So many samples of silence that a window of every keyword covers the last sample."""
        end = self._history.end
        covering = [covering_samples(end, keyword.window, self._step) for keyword in self._keywords]
        return max(covering) - end if end else 0


class _Until:
    """A source that breaks off once ``stopped`` is set."""

    def __init__(self, source: AudioSource, stopped: threading.Event) -> None:
        self.sample_rate = source.sample_rate
        self._source = source
        self._stopped = stopped

    def blocks(self) -> Iterator[Samples]:
        for block in self._source.blocks():
            if self._stopped.is_set():
                # Not a plain return: nobody is left to hear what flush might find.
                raise asyncio.CancelledError
            yield block
