"""The detector: blocks of audio in, detections out.

The path of a block: ``audio.PcmStream`` -> ``stream_reader.StreamReader``, which passes it through
``features.MfccTransform``, ``scorer.ScorerBank`` and, for each keyword, ``keyword.KeywordWindows`` with its
``trigger.Trigger`` and, for a model with a second stage, its ``verify.verifier.Verifier`` -> ``Detection``. This module
adds what programs need: threads, sources and callbacks.
"""

import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from wakeword.audio.asynchronous import in_thread
from wakeword.audio.detection import Detection
from wakeword.audio.pcm import SAMPLE_RATE, PcmStream
from wakeword.audio.sources import AudioSource
from wakeword.base.checks import flag, function, number
from wakeword.base.errors import AudioFormatError, BusyError, ClosedError, ConfigError
from wakeword.base.standstill import STANDSTILL, Order
from wakeword.base.types import Array, Samples
from wakeword.model.loading import chosen_thresholds, loaded_models, pre_roll_samples
from wakeword.model.model import Model
from wakeword.model.scorer import DEFAULT_HOP
from wakeword.stream.following import LONGEST_RECORDING, Follower, Followers, record
from wakeword.stream.source_loop import Loop
from wakeword.stream.stream_reader import PIECE, StreamReader
from wakeword.stream.trigger import DEFAULT_REFRACTORY


class Detector:
    """Detects one or more wake words in one stream of audio.

    ``models`` are shipped keywords (``"marvin"``), model files, or loaded ``Model`` objects. The threshold of each is
    that of its operating point ``point`` (default: the model's own choice), unless ``threshold`` is given; either may be
    a mapping from keywords. Without ``verify`` the first stage of a model of two stages runs alone, at its own points.
    ``sample_rate`` and ``channel`` describe the blocks that ``push`` will get; ``channel``
    selects one of several. ``gate`` saves the work on steady quiet, without an effect on detections. ``on_near_miss`` is
    called for what nearly fired, a second after it: a score of half the threshold or more that did not reach it.

    Push blocks from one thread at a time; everything else may be called from any thread at any time, ``close`` included.
    Models may be shared. Raises ``ModelError`` for an unusable model and ``ConfigError`` for settings out of range.
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
        on_near_miss: Callable[[Detection], None] | None = None,
        provider: str = "cpu",
        gate: bool = True,
        verify: bool = True,
    ) -> None:
        loaded = loaded_models(models, provider=provider, verify=verify)
        function(on_detection, "on_detection")
        thresholds = chosen_thresholds(loaded, point, threshold)
        function(on_near_miss, "on_near_miss")
        self.on_detection = on_detection
        self._on_near_miss = on_near_miss
        self._reader = StreamReader(
            loaded,
            thresholds,
            hop=hop,
            smoothing=smoothing,
            refractory=refractory,
            pre_roll=pre_roll_samples(pre_roll),
            gate=flag(gate, "gate"),
        )
        self._audio = self._reader.audio
        if on_near_miss is not None:
            self._audio.watch_near_misses()
        self._channel = channel
        self._pushed = PcmStream(sample_rate, channel=channel)
        self._loop: Loop | None = None
        self._lock = STANDSTILL.new_lock(Order.READER)
        self._followers = Followers(self._audio, self._lock)
        self._closed = False
        self.reset()

    @property
    def keywords(self) -> list[str]:
        """The words that are detected."""
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
        """Seconds of audio processed since the last ``reset``: the stream's own clock."""
        return self._audio.end / SAMPLE_RATE

    @property
    def is_asleep(self) -> bool:
        """Whether the newest audio was steady quiet, for which nothing was computed."""
        return self._audio.is_asleep

    @property
    def seconds_to_window(self) -> float:
        """Seconds of audio until the next window ends: pushing less than that costs a copy and computes nothing."""
        return self._reader.samples_to_window / SAMPLE_RATE

    @property
    def candidates(self) -> dict[str, int]:
        """For each keyword, the windows that its second stage has looked at in this stream; 0 for a model without one."""
        return {keyword.name: keyword.candidates for keyword in self._audio.keywords}

    def reset(self) -> None:
        """Begin a new stream at time 0, as a new detector would."""
        with self._lock:
            self._pcm.reset()
            self._reader.reset()
            self._followers.close()

    def push(self, block: Samples) -> list[Detection]:
        """Process a block of any length, ``(samples,)`` or ``(samples, channels)``; return the detections it completes.

        int16, int32 or float32. Raises ``AudioFormatError`` for anything else, which leaves the stream unchanged, and
        ``ClosedError`` after ``close``.
        """
        with self._lock:
            self._check_free(threading.get_ident())
            samples = self._pcm.push(block)
        return self._take(samples)

    def process_streaming(self, audio: bytes) -> bool:
        """Whether a keyword was detected in the next bytes of 16-bit PCM, little-endian, at the detector's sample rate.

        For programs that expect an engine with this method. Raises ``AudioFormatError`` for an odd number of bytes.
        """
        view = memoryview(audio) if isinstance(audio, (bytes, bytearray, memoryview)) else None
        # A view may have elements of any size, and gaps between them.
        if view is None or view.nbytes % 2 or not view.c_contiguous:
            got = type(audio).__name__ if view is None else f"{view.nbytes} bytes"
            gaps = "" if view is None or view.c_contiguous else " with gaps between them"
            raise AudioFormatError(f"expected bytes of whole 16-bit samples, got {got}{gaps}")
        return bool(self.push(np.frombuffer(audio, "<i2").astype(np.int16, copy=False)))

    def flush(self) -> list[Detection]:
        """End the stream: append silence until a window covers the last sample. Then begin a new stream."""
        return self._flush(threading.get_ident())

    def _flush(self, thread: int) -> list[Detection]:
        with self._lock:
            self._check_free(thread)
            samples = self._pcm.flush()
        detections = self._take(samples)
        with self._lock:
            last = self._reader.finish()
            missed = self._audio.near_misses()
            self.reset()
        self._report(last, missed)
        return detections + last

    def run(self, source: AudioSource) -> Iterator[Detection]:
        """Listen to a source until it ends; yield detections as they occur. Begins and ends its own stream.

        Raises ``AudioError`` if the source fails, ``ClosedError`` for a closed detector, and ``BusyError`` while another
        loop of this detector is running. Leaving the loop early does not close the source. After ``close`` the loop ends
        with the source's next block. Each step may be taken in another thread, one at a time, as by an executor.
        """
        return self._listen(source, is_shared=True)

    def _listen(self, source: AudioSource, *, is_shared: bool) -> Iterator[Detection]:
        """``run``; ``is_shared``: who takes the detections may record after them, in any thread."""
        if not hasattr(source, "blocks") or not hasattr(source, "sample_rate"):
            raise ConfigError(f"expected a source of audio, for instance FileSource('talk.wav'), got {source!r:.80}")
        loop = Loop(threading.get_ident(), PcmStream(source.sample_rate, channel=self._channel), iter(()))
        with self._lock:
            self._check_free()
            self._loop = loop
        try:
            self.reset()
            loop.blocks = iter(source.blocks())
            for block in loop.blocks:
                yield from self._offered(self._feed(loop, block), loop, is_shared)
            yield from self._offered(self._flush(loop.thread), loop, is_shared)
        except ClosedError:
            return
        finally:
            with self._lock:
                self._loop = None
                self.reset()

    def _feed(self, loop: Loop, block: Samples) -> list[Detection]:
        """``push`` for a loop itself, whatever thread it goes on in."""
        with self._lock:
            self._check_free(loop.thread)
            samples = loop.pcm.push(block)
        return self._take(samples)

    def _offered(self, found: list[Detection], loop: Loop, is_shared: bool) -> Iterator[Detection]:
        for detection in self._followers.offered(found, keep=not is_shared):
            loop.is_waiting = is_shared
            yield detection
            # The next step can be in another thread, as in an executor's.
            loop.is_waiting, loop.thread = False, threading.get_ident()

    async def stream(self, source: AudioSource) -> AsyncIterator[Detection]:
        """``run`` for asyncio: source and network run in a separate thread, never on the event loop.

        Each detection can be followed until the next one is taken: ``await detector.follow(detection).record(5.0)``.
        A stream that is left early releases the source at its next block, and until then the detector is busy:
        ``async with contextlib.aclosing(detector.stream(source)) as found:`` waits for that.
        """
        try:
            async with aclosing(in_thread(partial(self._listen, is_shared=False), source)) as found:
                async for detection in found:
                    yield detection
                    self._followers.release(detection)
        finally:
            self._followers.release_all()

    def follow(self, detection: Detection) -> Follower:
        """The audio from the first sample after a detection on, to process what is said next.

        Raises ``ConfigError`` if that audio is no longer kept: call it when the detection is reported.
        """
        with self._lock:
            loop = self._loop
            self._check_free(loop.thread if loop else None)
            return self._followers.follow(detection)

    def record(self, detection: Detection, seconds: float, *, until: Callable[[Array], bool] | None = None) -> Array:
        """Inside a loop over ``run``: the ``seconds`` after a detection, read from the source, ``(samples,)`` at 16 kHz.

        Ends earlier if ``until`` returns true for the newest samples, or when the source ends. Nothing is detected
        meanwhile. If two keywords are detected at the same time, each gets the audio after its own detection.
        Raises ``ConfigError`` outside of ``run``.
        """
        loop = self._loop
        if loop is None or not (loop.is_waiting or loop.thread == threading.get_ident()):
            raise ConfigError(
                "expected to be inside `for detection in detector.run(source)`, got no such loop, or one that goes on in "
                "another thread; with push use follow, with stream `await detector.follow(detection).record(seconds)`"
            )
        # Before anything begins: a call that is refused leaves the stream and the detection's follower as they were.
        number(seconds, "a positive number of seconds to record", 0, LONGEST_RECORDING, above=True)
        function(until, "until")

        def feed() -> bool:
            for block in loop.blocks:
                self._feed(loop, block)
                return True
            return False

        with self.suppressed(), self.follow(detection) as follower:
            return record(follower, feed, seconds, until)

    @contextmanager
    def suppressed(self, threshold: float | None = None) -> Iterator[None]:
        """Inside ``with``, detect nothing, or only from a higher threshold on: while the assistant itself speaks.

        Applies to every window that overlaps that time. May be nested and used from any thread; the highest threshold
        counts.
        """
        with self._lock:
            level = self._audio.suppression.begin(threshold)
        try:
            yield
        finally:
            with self._lock:
                self._audio.suppression.end(level, self._audio.end)

    def close(self) -> None:
        """Accept no more audio and free what was kept; a ``push`` running in another thread ends soon."""
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
        """Raise unless the detector is open, and no loop over ``run`` is running except in this thread."""
        if self._closed:
            raise ClosedError("expected an open detector, got one that was closed; make a new one")
        loop = self._loop  # read once: the loop may end in another thread
        if loop is not None and loop.thread != thread:
            raise BusyError("expected an idle detector, got one that still listens to a source; leave that loop first")

    @property
    def _pcm(self) -> PcmStream:
        """The conversion of blocks: that of the loop over ``run`` while there is one."""
        loop = self._loop
        return self._pushed if loop is None else loop.pcm

    def _take(self, samples: Array) -> list[Detection]:
        detections: list[Detection] = []
        failure: Exception | None = None
        for start in range(0, len(samples), PIECE):
            piece = samples[start : start + PIECE]
            if STANDSTILL.is_closed:
                STANDSTILL.wait()
            with self._lock:
                self._followers.push(piece)
                found = self._reader.push(piece)
                missed = self._audio.near_misses() if self._on_near_miss is not None else []
                if self._closed:
                    self.reset()
                    break
            detections += found
            try:
                # Without the lock: a callback may wait for a thread that needs it.
                self._report(found, missed)
            except Exception as error:
                # Process the rest of the block first: a caller that catches this continues with the next block.
                failure = failure or error
        if failure is not None:
            raise failure
        return detections

    def _report(self, found: list[Detection], missed: list[Detection]) -> None:
        for callback, some in ((self.on_detection, found), (self._on_near_miss, missed)):
            if callback is not None:
                for detection in some:
                    callback(detection)
