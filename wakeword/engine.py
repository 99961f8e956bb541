"""The detector: blocks of audio in, detections out.

The way of a block: ``audio.PcmStream`` -> ``stream_reader.StreamReader``, which takes it through
``features.MfccTransform`` and, for each keyword, ``scorer.StreamScorer`` and ``keyword.KeywordWindows`` with its
``trigger.Trigger`` -> ``Detection``. This module adds what programs need: threads, sources and callbacks.
"""

import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wakeword.asynchronous import in_thread
from wakeword.audio import SAMPLE_RATE, PcmStream
from wakeword.detection import Detection
from wakeword.errors import AudioFormatError, BusyError, ClosedError, ConfigError
from wakeword.following import Follower, Followers, record
from wakeword.loading import chosen_thresholds, loaded_models
from wakeword.model import Model
from wakeword.scorer import DEFAULT_HOP
from wakeword.sources import AudioSource
from wakeword.stream_reader import PIECE, StreamReader
from wakeword.trigger import DEFAULT_REFRACTORY
from wakeword.types import Array, Samples


class Detector:
    """Listens to one stream of audio for one or more wake words.

    ``models`` are shipped keywords (``"marvin"``), model files, or loaded ``Model`` objects. The threshold of each is
    that of its operating point ``point`` (default: the model's own choice), unless ``threshold`` is given; either may be
    a mapping from keywords. ``sample_rate`` and ``channel`` describe the blocks that ``push`` will get; ``channel``
    picks one of several. ``gate`` spares the work on quiet that stays as it is, which no detection depends on.

    Blocks are to come from one thread at a time; everything else may be called from any thread at any time, ``close``
    included. Models may be shared. Raises ``ModelError`` for an unusable model and ``ConfigError`` for settings out of
    range.
    """

    def __init__(
        self,
        models: Model | Path | str | Sequence[Model | Path | str],
        *,
        point: str | Mapping[str, str] | None = None,
        threshold: float | Mapping[str, float] | None = None,
        sample_rate: int = SAMPLE_RATE,
        channel: int | None = None,
        hop: int = DEFAULT_HOP,
        smoothing: int = 1,
        refractory: int = DEFAULT_REFRACTORY,
        pre_roll: float = 0.5,
        on_detection: Callable[[Detection], None] | None = None,
        provider: str = "cpu",
        gate: bool = True,
    ) -> None:
        loaded = loaded_models(models, provider=provider)
        if not 0 <= pre_roll <= 60:
            raise ConfigError(f"expected a pre-roll of 0 to 60 seconds, got {pre_roll}")
        thresholds = chosen_thresholds(loaded, point, threshold)
        self.on_detection = on_detection
        self._reader = StreamReader(
            loaded,
            thresholds,
            hop=hop,
            smoothing=smoothing,
            refractory=refractory,
            pre_roll=round(pre_roll * SAMPLE_RATE),
            gate=gate,
        )
        self._audio = self._reader.audio
        self._channel = channel
        self._pushed = PcmStream(sample_rate, channel=channel)
        self._loop: _Loop | None = None
        self._lock = threading.RLock()
        self._followers = Followers(self._audio, self._lock)
        self._closed = False
        self.reset()

    @property
    def keywords(self) -> list[str]:
        """The words listened for."""
        return [keyword.name for keyword in self._audio.keywords]

    @property
    def thresholds(self) -> dict[str, float]:
        """The threshold in force for each keyword."""
        return {keyword.name: keyword.trigger.threshold for keyword in self._audio.keywords}

    @property
    def scores(self) -> dict[str, float]:
        """The newest score of each keyword; 0 before the first window is complete."""
        return {keyword.name: keyword.score for keyword in self._audio.keywords}

    @property
    def seconds(self) -> float:
        """Seconds of audio taken since the last ``reset``: the stream's own clock."""
        return self._audio.end / SAMPLE_RATE

    @property
    def is_asleep(self) -> bool:
        """Whether the newest audio was quiet that stays as it is, for which nothing was computed."""
        return self._audio.is_asleep

    def reset(self) -> None:
        """Begin a new stream at time 0, as a new detector would."""
        with self._lock:
            self._pcm.reset()
            self._reader.reset()
            self._followers.close()

    def push(self, block: Samples) -> list[Detection]:
        """Take a block of any length, ``(samples,)`` or ``(samples, channels)``; the detections that it completes.

        int16, int32 or float32. Raises ``AudioFormatError`` for anything else; the stream then stays as it was. Raises
        ``ClosedError`` after ``close``.
        """
        with self._lock:
            self._check_free(threading.get_ident())
            samples = self._pcm.push(block)
        return self._take(samples)

    def process_streaming(self, audio: bytes) -> bool:
        """Whether a keyword was detected in the next bytes of 16-bit PCM, little-endian, of the detector's sample rate.

        For programs that feed engines of this shape. Raises ``AudioFormatError`` for a number of bytes that is odd.
        """
        if not isinstance(audio, (bytes, bytearray, memoryview)) or len(audio) % 2:
            got = f"{len(audio)} bytes" if isinstance(audio, (bytes, bytearray, memoryview)) else type(audio).__name__
            raise AudioFormatError(f"expected bytes of whole 16-bit samples, got {got}")
        return bool(self.push(np.frombuffer(audio, "<i2").astype(np.int16, copy=False)))

    def flush(self) -> list[Detection]:
        """End the stream: silence is appended until a window covers the last sample. Then begin a new one."""
        with self._lock:
            self._check_free(threading.get_ident())
            samples = self._pcm.flush()
        detections = self._take(samples)
        with self._lock:
            last = self._reader.finish()
            self.reset()
        self._tell(last)
        return detections + last

    def run(self, source: AudioSource) -> Iterator[Detection]:
        """Listen to a source until it ends; detections as they come. Begins and ends a stream of its own.

        Raises ``AudioError`` if the source breaks, ``ClosedError`` for a closed detector, and ``BusyError`` while another
        loop of this detector is not left. Leaving the loop early closes nothing: the source stays the caller's. After
        ``close`` the loop ends with the source's next block.
        """
        if not hasattr(source, "blocks") or not hasattr(source, "sample_rate"):
            raise ConfigError(f"expected a source of audio, for instance FileSource('talk.wav'), got {source!r:.80}")
        loop = _Loop(threading.get_ident(), PcmStream(source.sample_rate, channel=self._channel), iter(()))
        with self._lock:
            self._check_free()
            self._loop = loop
        try:
            self.reset()
            loop.blocks = iter(source.blocks())
            for block in loop.blocks:
                yield from self._followers.offered(self.push(block))
            yield from self._followers.offered(self.flush())
        except ClosedError:
            return
        finally:
            self._loop = None
            self.reset()

    def stream(self, source: AudioSource) -> AsyncIterator[Detection]:
        """``run`` for asyncio: source and network work in a thread of their own, never on the event loop.

        A stream that is left early releases the source at its next block, and until then the detector is busy:
        ``async with contextlib.aclosing(detector.stream(source)) as found:`` waits for that.
        """
        return in_thread(self.run, source)

    def follow(self, detection: Detection) -> Follower:
        """The audio after a detection, from its very next sample on, to process what is said next.

        Raises ``ConfigError`` if that is no longer kept: ask when the detection comes.
        """
        with self._lock:
            self._check_free(self._loop.thread if self._loop else None)
            return self._followers.follow(detection)

    def record(self, detection: Detection, seconds: float, *, until: Callable[[Array], bool] | None = None) -> Array:
        """Inside a loop over ``run``: the ``seconds`` after a detection, read from the source, ``(samples,)`` at 16 kHz.

        Ends earlier if ``until`` is true of the newest samples, or with the source. Nothing is detected during it. Of two
        keywords detected at once, each gets what followed its own.
        Raises ``ConfigError`` outside of ``run``.
        """
        loop = self._loop
        if loop is None or loop.thread != threading.get_ident():
            raise ConfigError(
                "expected to be inside `for detection in detector.run(source)`, got no such loop in this thread; "
                "with push or stream, use follow"
            )

        def feed() -> bool:
            for block in loop.blocks:
                self.push(block)
                return True
            return False

        with self.suppressed(), self.follow(detection) as follower:
            return record(follower, feed, seconds, until)

    @contextmanager
    def suppressed(self, threshold: float | None = None) -> Iterator[None]:
        """Inside ``with``, detect nothing, or only from a higher threshold: while the assistant itself speaks.

        Applies to every window that contains any of that time. May be nested and used from any thread; the highest counts.
        """
        with self._lock:
            level = self._audio.suppression.begin(threshold)
        try:
            yield
        finally:
            with self._lock:
                self._audio.suppression.end(level, self._audio.end)

    def close(self) -> None:
        """Take no more audio and free what was kept; a ``push`` running in another thread ends soon."""
        self._closed = True
        # Never wait long: a thread that holds the lock for longer sees the flag and frees everything itself.
        if self._lock.acquire(timeout=0.1):
            try:
                self.reset()
            finally:
                self._lock.release()

    def __enter__(self) -> "Detector":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _check_free(self, thread: int | None = None) -> None:
        """Raise unless the detector is open, and no loop over ``run`` is under way except in this thread."""
        if self._closed:
            raise ClosedError("expected an open detector, got one that was closed; make a new one")
        if self._loop is not None and self._loop.thread != thread:
            raise BusyError(
                "expected a detector at rest, got one that still listens to a source; leave that loop first"
            )

    @property
    def _pcm(self) -> PcmStream:
        """What converts blocks: that of the loop over ``run`` while there is one."""
        return self._pushed if self._loop is None else self._loop.pcm

    def _take(self, samples: Array) -> list[Detection]:
        detections: list[Detection] = []
        failure: Exception | None = None
        for start in range(0, len(samples), PIECE):
            piece = samples[start : start + PIECE]
            with self._lock:
                self._followers.push(piece)
                found = self._reader.push(piece)
                if self._closed:
                    self.reset()
                    break
            detections += found
            try:
                # Without the lock: a callback may wait for a thread that wants it.
                self._tell(found)
            except Exception as error:
                # The rest of the block is heard first: who catches this goes on with the next.
                failure = failure or error
        if failure is not None:
            raise failure
        return detections

    def _tell(self, found: list[Detection]) -> None:
        if self.on_detection is not None:
            for detection in found:
                self.on_detection(detection)


@dataclass
class _Loop:
    """A loop over ``run`` that is under way."""

    thread: int
    pcm: PcmStream
    blocks: Iterator[Samples]
