"""One stream of audio from a client, and the detector that listens to it."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import soxr

from wakeword.audio.detection import Detection, Keeps
from wakeword.audio.pcm import SAMPLE_RATE, to_mono
from wakeword.base.types import Array, Samples
from wakeword.engine import Detector
from wakeword.verify.known_voices import Voices
from wakeword_serve.fair_share import FLUSH_SECONDS, ClientBudget
from wakeword_serve.hours import ListenedHours
from wakeword_serve.wire_audio import PcmFormat
from wakeword_serve.words import OfferedWord

_KEPT_SECONDS = 0.1
"""Audio that may wait for more: little, as a client decides how many bytes a second takes."""
_PEAK_SECONDS = 1.0
_HEARD_SECONDS = 1.8
"""Sound that a stream of a group remembers: a word, and what may have come since it ended."""


@dataclass(frozen=True)
class StreamSettings:
    """How every stream is listened to."""

    refractory: int
    """Frames after a detection in which the same word is not reported again."""
    pre_roll: float
    """Seconds of audio from before the word in a detection."""
    playback: bool = False
    """Whether the second channel of several is what the client's loudspeaker gets, and the first one the microphone."""
    keep: Keeps | None = None
    """Keeps wakes and near misses."""
    hours: ListenedHours | None = None
    """Counts how long each word was listened for."""
    voices: Voices | None = None
    """The voices that are known."""


class _KeepsPhrases:
    """Keeps events by the phrases of words, which detectors of a server know by the names of their files."""

    def __init__(self, keep: Keeps, words: Mapping[str, OfferedWord], client: str) -> None:
        self._keep, self._words, self._client = keep, words, client

    def keep(self, detection: Detection, *, near_miss: bool = False) -> None:
        """See ``Keeps``."""
        word = self._words[detection.keyword]
        about: Mapping[str, str | float] = {**detection.about, "threshold": word.threshold, "client": self._client}
        self._keep.keep(replace(detection, keyword=word.phrase, about=about), near_miss=near_miss)


class Found(NamedTuple):
    """A detection in a stream."""

    word: OfferedWord
    timestamp: int
    """Milliseconds, on the clock of the chunks' timestamps; without these, since the start of the stream."""
    detection: Detection


class StreamEvents(NamedTuple):
    """What a block of audio has led to."""

    found: list[Found]
    scored: bool
    """Whether a window may have ended in it, so that there was work to do."""
    candidates: Mapping[str, int]
    """For each word, the windows in it that a second stage has looked at."""


class ListeningStream:
    """Audio of one format -> detections of some words. Not for use by several tasks at once.

    The event loop does what takes microseconds; windows are scored by threads, so that a second stage that looks at a
    candidate of one stream delays no other. A ``DetectorPool`` would cost less (50 connections, six words: 0.62 of the
    processor time in speech, 0.83 in quiet), but has one list of words and scores all streams in one thread.
    """

    def __init__(
        self,
        words: Sequence[OfferedWord],
        pcm: PcmFormat,
        settings: StreamSettings,
        share: ClientBudget,
        *,
        remembers: bool = False,
    ) -> None:
        """``remembers``: whether ``sound`` will be asked."""
        self._remembers = remembers
        self.format = pcm
        self.words = words
        self._by_name = {word.name: word for word in words}
        self._share = share
        self._hours = settings.hours
        self._has_playback = settings.playback and pcm.channels > 1
        self._detector = Detector(
            [word.model for word in words],
            threshold={word.name: word.threshold for word in words},
            sample_rate=pcm.rate,
            refractory=settings.refractory,
            pre_roll=settings.pre_roll,
            keep=None if settings.keep is None else _KeepsPhrases(settings.keep, self._by_name, share.address),
            voices=settings.voices,
        )
        self.restart(None)

    def restart(self, timestamp: int | None) -> None:
        """Begin a new stream; ``timestamp``: of its beginning, in milliseconds."""
        self._detector.reset()
        self._waiting = bytearray()
        self._bytes = 0
        self._heard: deque[Array] = deque()
        self._taken = 0
        """Samples that the detector has got; the newest of them are remembered."""
        self._base = timestamp or 0
        self._chunk = (0.0, self._base)
        """The newest chunk's start, in seconds of the stream, and its timestamp."""
        self.fired = 0
        """Detections in this stream."""
        self._scores: deque[tuple[float, Mapping[str, float]]] = deque()
        """Seconds of the stream and the scores then, for the newest second."""
        self.newest: Samples = np.zeros(0, np.int16)
        """The newest block of audio."""

    @property
    def seconds(self) -> float:
        """Audio received since the start of the stream."""
        return self._bytes // self.format.frame / self.format.rate

    @property
    def peaks(self) -> dict[str, float]:
        """The highest score of each word in the newest second of audio; 0 before the first window."""
        return {name: max((scores[name] for _, scores in self._scores), default=0.0) for name in self._by_name}

    @property
    def is_asleep(self) -> bool:
        """Whether the newest audio was steady quiet."""
        return self._detector.is_asleep

    async def push(self, audio: bytes, timestamp: int | None) -> StreamEvents:
        """Process a chunk of any length; ``timestamp``: of its first sample, in milliseconds."""
        at = self.seconds
        self._chunk = (at, self._base + round(1_000 * at) if timestamp is None else timestamp)
        self._waiting += audio
        self._bytes += len(audio)
        # Small chunks are kept until a window ends: each push costs about as much as the arithmetic of a chunk of 10 ms.
        if len(self._waiting) < self.format.rate * self.format.frame * min(
            _KEPT_SECONDS, self._detector.seconds_to_window
        ):
            return StreamEvents([], False, {})
        return await self._work_through(ended=False)

    async def finish(self) -> StreamEvents:
        """End the stream: score what is left, as if silence followed. ``restart`` begins the next one."""
        await self._share.turn(FLUSH_SECONDS)
        return await self._work_through(ended=True)

    async def _work_through(self, *, ended: bool) -> StreamEvents:
        """Process what is waiting, up to the last whole sample."""
        frame, rate = self.format.frame, self.format.rate
        whole = len(self._waiting) - len(self._waiting) % frame
        audio = bytes(self._waiting[:whole])
        del self._waiting[:whole]
        for word in self.words:
            self._count(word, whole / frame / rate)
        found: list[Found] = []
        scored, before = ended, self._detector.candidates
        # In pieces of a second, so that a long chunk does not occupy a thread for long.
        for start in range(0, whole, rate * frame):
            block = self.format.samples(audio[start : start + rate * frame])
            self.newest = block[:, 0] if self._has_playback else block
            self._taken += len(block)
            self._remember(self.newest)
            if len(block) < self._detector.seconds_to_window * rate:
                found += self._found(self._push(block))
                continue
            scored = True
            found += self._found(await self._share.threads.run(partial(self._push, block)))
            self._keep_scores(self.seconds - max(0, whole - start - rate * frame) / (rate * frame))
        looked = {name: count - before[name] for name, count in self._detector.candidates.items()} if scored else {}
        if ended:  # the detector then begins a new stream and forgets how many candidates the last windows were
            found += self._found(await self._share.threads.run(self._detector.flush))
        return StreamEvents(found, scored, looked)

    def _push(self, block: Samples) -> list[Detection]:
        return self._detector.push(block[:, 0], block[:, 1]) if self._has_playback else self._detector.push(block)

    def _count(self, word: OfferedWord, seconds: float, *, wakes: int = 0) -> None:
        if self._hours is not None:
            self._hours.add(word.phrase, word.threshold, seconds, wakes=wakes)

    def _keep_scores(self, now: float) -> None:
        """The newest scores, at ``now`` in seconds of the stream."""
        self._scores.append((now, dict(self._detector.scores)))
        while self._scores[0][0] <= now - _PEAK_SECONDS:
            self._scores.popleft()

    def _found(self, detections: list[Detection]) -> list[Found]:
        self.fired += len(detections)
        for heard in detections:
            self._count(self._by_name[heard.keyword], 0.0, wakes=1)
        return [Found(self._by_name[heard.keyword], self.moment(heard.end), heard) for heard in detections]

    def moment(self, seconds: float) -> int:
        """The timestamp of a moment, in seconds of the stream: milliseconds, at least 0."""
        at, timestamp = self._chunk
        return max(0, timestamp + round(1_000 * (seconds - at)))

    def sound(self, until: float, seconds: float) -> Array:
        """The sound of so many seconds up to ``until``, a second of the stream: ``(samples,)`` at 16 kHz.

        Silence where none is remembered: before that, and after what has come.
        """
        whole = len(self._waiting) - len(self._waiting) % self.format.frame
        waiting = self.format.samples(bytes(self._waiting[:whole]))
        pieces = [*self._heard, to_mono(waiting[:, 0] if self._has_playback else waiting)]
        ended = (self._taken + len(waiting)) / self.format.rate
        heard = soxr.resample(np.concatenate(pieces), self.format.rate, SAMPLE_RATE)
        size = round(seconds * SAMPLE_RATE)
        # In what was heard after ``size`` samples of silence, and before as many.
        at = min(max(0, len(heard) + round((until - ended) * SAMPLE_RATE)), len(heard) + size)
        return np.pad(heard, size)[at : at + size]

    def _remember(self, block: Samples) -> None:
        if self._remembers:
            self._heard.append(to_mono(block))
            while sum(map(len, self._heard)) - len(self._heard[0]) > _HEARD_SECONDS * self.format.rate:
                self._heard.popleft()
