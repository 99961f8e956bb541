"""Many streams, one network: the due hops of all streams are scored together.

The path of a block: ``PoolStream.push`` keeps it; ``DetectorPool.process`` asks each stream's ``hop_reader.HopReader``
for the hop that is due, at the gain of its window, computes the features of all those hops together and scores them in a
``batch_scorer.BatchScorer`` for each keyword; the reader turns the scores into detections.
"""

import itertools
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from weakref import finalize, ref

import numpy as np

from wakeword.audio.detection import Detection
from wakeword.audio.features import FeatureConfig, MfccTransform
from wakeword.audio.pcm import SAMPLE_RATE, PcmStream
from wakeword.base.checks import flag, instance, integer, number
from wakeword.base.closable import Closable
from wakeword.base.errors import ClosedError
from wakeword.base.process_end import lasting_lock
from wakeword.base.types import Array
from wakeword.format.card import DEFAULT_HOP
from wakeword.model.loading import chosen_thresholds, loaded_models, pre_roll_samples
from wakeword.model.model import Model
from wakeword.stream.keyword import KeywordTracker
from wakeword.stream.pool.batch_scorer import BatchScorer
from wakeword.stream.pool.hop_reader import HopReader
from wakeword.stream.pool.pool_stream import PoolStream
from wakeword.stream.sound_input import SoundInput
from wakeword.stream.trigger import DEFAULT_REFRACTORY
from wakeword.verify.known_voices import Voices

_MAX_STREAMS = 4_096
"""In one call of the network."""
StreamDetections = list[tuple[PoolStream, Detection]]


class DetectorPool(Closable):
    """Listens to any number of streams; each has the same detections as in a separate ``Detector``.

    Settings are as for ``Detector``. Streams join with ``open`` and leave with ``PoolStream.close`` at any time.
    Push audio to each stream as it arrives, and call ``process`` every 20 to 80 ms, for instance: it does all work that
    is due, in the calling thread, so one pool occupies at most one core. For a single stream a ``Detector`` costs less.
    ``batch`` is the number of streams in one call of the network: 8 is best on a CPU, an accelerator may need more.
    ``max_waiting`` is how many seconds of audio wait for ``process`` in each stream: beyond that the oldest are dropped,
    with a warning in the log, and counted in ``PoolStream.dropped``; the stream's clock goes on.

    All methods may be called from any thread at any time; a second ``process`` waits for the first. Raises
    ``ModelError`` for an unusable model and ``ConfigError`` for settings out of range.
    """

    def __init__(
        self,
        models: Model | Path | str | Sequence[Model | Path | str],
        *,
        point: str | Mapping[str, str] | None = None,
        threshold: float | Mapping[str, float] | None = None,
        hop: int = DEFAULT_HOP,
        refractory: int = DEFAULT_REFRACTORY,
        pre_roll: float = 0.5,
        provider: str = "cpu",
        gate: bool = True,
        verify: bool = True,
        batch: int = 8,
        max_waiting: float = 60.0,
        voices: Voices | None = None,
    ) -> None:
        self._models = loaded_models(models, provider=provider, verify=verify)
        batch = integer(batch, "the streams in a batch", 1, _MAX_STREAMS)
        self._thresholds = chosen_thresholds(self._models, point, threshold)
        self._hop, self._refractory = hop, refractory
        self._max_waiting = round(number(max_waiting, "waiting audio", 1, 86_400, unit=" seconds") * SAMPLE_RATE)
        self._pre_roll, self._gate, self._voices = pre_roll_samples(pre_roll), flag(gate, "gate"), voices
        self._scorers = [BatchScorer(model, hop=hop, batch=batch) for model in self._models]
        self._windows = sorted({model.card.window for model in self._models})
        self._features = MfccTransform(FeatureConfig())
        self._slots = _Slots(self._scorers)
        self._due: deque[PoolStream] = deque()
        self._leaving: deque[HopReader] = deque()
        self._streams: dict[HopReader, ref[PoolStream]] = {}
        self._numbers = itertools.count(1)
        self._turn = threading.Lock()
        self._step = lasting_lock()
        self._closed = False
        self._keywords(self._thresholds)

    @property
    def keywords(self) -> list[str]:
        """The words that are detected."""
        return [model.card.phrase for model in self._models]

    def open(
        self,
        *,
        sample_rate: int = SAMPLE_RATE,
        channel: int | None = None,
        playback_rate: int | None = None,
        point: str | Mapping[str, str] | None = None,
        threshold: float | Mapping[str, float] | None = None,
        name: str | None = None,
    ) -> PoolStream:
        """A new stream at time 0, with its own thresholds if ``point`` or ``threshold`` is given.

        ``sample_rate``, ``channel`` and ``playback_rate`` describe the blocks that it will get; errors contain its
        ``name``. Raises ``AudioFormatError`` and ``ConfigError`` as ``Detector`` does, ``ClosedError`` after ``close``.
        """
        if self._closed:
            raise ClosedError("expected an open pool, got one that was closed; make a new one")
        instance(name, (str, type(None)), "the name of a stream or None")
        own = point is not None or threshold is not None
        thresholds = chosen_thresholds(self._models, point, threshold) if own else self._thresholds
        reader = HopReader(
            self._keywords(thresholds), self._windows, hop=self._hop, pre_roll=self._pre_roll, gate=self._gate
        )
        reader.audio.know(self._voices)
        name = f"stream {next(self._numbers)}" if name is None else name
        stream = PoolStream(
            name,
            SoundInput(PcmStream(sample_rate, channel=channel), playback_rate, window=reader.audio.keywords[0].window),
            reader,
            max_waiting=self._max_waiting,
            announce=self._on_announce,
        )
        self._streams[reader] = ref(stream)
        # A stream that is dropped without ``close`` frees its slot too.
        finalize(stream, self._on_dropped, reader)
        if self._closed:  # by another thread in the meantime
            stream.close()
        return stream

    def process(self) -> StreamDetections:
        """Process all audio that was pushed before this call; return the detections, in order within a stream.

        A closed pool has none.
        """
        with self._turn:
            self._free_slots()
            began = [self._due.popleft() for _ in range(len(self._due))]
            working = began = [stream for stream in began if stream.begin()]
            detections: StreamDetections = []
            while working:
                with self._step:
                    working = self._process_hops(working, detections)
            void = {stream for stream in began if not stream.end()}
            self._free_slots()
            return [(stream, detection) for stream, detection in detections if stream not in void]

    def close(self) -> None:
        """Close all streams and open no more. Never waits."""
        self._closed = True
        # The values of a dictionary are copied in one step: other threads may open streams in the meantime.
        for known in list(self._streams.values()):
            if (stream := known()) is not None:
                stream.close()

    def _process_hops(self, working: list[PoolStream], detections: StreamDetections) -> list[PoolStream]:
        """Score the next hop of each stream; return those that had one."""
        hops: dict[tuple[int, int], list[PoolStream]] = {}
        for stream in working:
            if frames := stream.next_hop():
                hops.setdefault((frames, stream.reader.turn), []).append(stream)
        for (frames, turn), streams in hops.items():
            self._score(streams, frames, self._windows[turn], detections)
        return [stream for streams in hops.values() for stream in streams]

    def _keywords(self, thresholds: Sequence[float]) -> list[KeywordTracker]:
        return [
            KeywordTracker(model, threshold, hop=self._hop, refractory=self._refractory)
            for model, threshold in zip(self._models, thresholds, strict=True)
        ]

    def _on_announce(self, stream: PoolStream) -> None:
        """Note that a stream has work to do, or was closed. Called in the thread that feeds it: must not wait."""
        if not stream.closed:
            self._due.append(stream)
            return
        self._leaving.append(stream.reader)
        # If another thread holds the lock, that thread frees the slot.
        if self._turn.acquire(blocking=False):
            try:
                self._free_slots()
            finally:
                self._turn.release()

    def _on_dropped(self, reader: HopReader) -> None:
        self._streams.pop(reader, None)
        self._leaving.append(reader)

    def _free_slots(self) -> None:
        while self._leaving:
            reader = self._leaving.popleft()
            if reader.slot is not None:
                self._slots.free.append(reader.slot)
                reader.slot = None

    def _score(self, streams: list[PoolStream], frames: int, window: int, found: StreamDetections) -> None:
        """Score the next hop of streams for which it has ``frames`` frames, for the keywords with such windows."""
        readers = [stream.reader for stream in streams]
        slots = [self._slots.of(reader, window) for reader in readers]
        signals: Array = np.empty((len(readers), self._features.config.samples_in(frames)), np.float32)
        for row, reader in zip(signals, readers, strict=True):
            row[:] = reader.hops.signal(reader.audio)
        # A first hop is shorter: what is missing before it is not used.
        hops = np.pad(self._features.batch(signals), ((0, 0), (self._hop - frames, 0), (0, 0)))
        for index, scorer in enumerate(self._scorers):
            if scorer.window == window:
                for stream, logit in zip(streams, scorer.advance(slots, hops), strict=True):
                    if logit is not None:
                        keyword = stream.reader.audio.keywords[index]
                        detections = stream.placed(stream.reader.take(keyword, logit))
                        found += [(stream, detection) for detection in detections]
        for reader in readers:
            reader.conclude()


class _Slots:
    """Where the scorers keep the rows of each stream between its hops."""

    def __init__(self, scorers: Sequence[BatchScorer]) -> None:
        self._scorers = scorers
        self._number = 0
        self.free: list[int] = []
        """Slots without a stream, those of streams that have left included."""

    def of(self, reader: HopReader, window: int) -> int:
        """The slot of a stream, reset for windows of this length if their scores start over."""
        if reader.slot is None:
            if not self.free:
                self._grow()
            reader.slot = self.free.pop()
        if reader.hops.fresh:
            for scorer in self._scorers:
                if scorer.window == window:
                    scorer.reset(reader.slot)
            reader.hops.fresh = False
        return reader.slot

    def _grow(self) -> None:
        count = self._number
        self._number += max(8, count)
        for scorer in self._scorers:
            scorer.grow(self._number)
        self.free += range(self._number - 1, count - 1, -1)
