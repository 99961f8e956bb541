"""What the server counts: for Prometheus, for the live page, and for checks of health. For the event loop alone."""

import time
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from wakeword.audio.level import level_of
from wakeword_serve.client_stream import Found, ListeningStream

_BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_RECENT = 50
_SILENCE_DB = -96.0


class Telemetry:
    """The figures of one server, and its streams in progress."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        counter = partial(Counter, namespace="wakeword", registry=self.registry)
        gauge = partial(Gauge, namespace="wakeword", registry=self.registry)
        histogram = partial(Histogram, namespace="wakeword", buckets=_BUCKETS, registry=self.registry)
        self.connections = gauge("connections", "Open connections.")
        self.accepted = counter("connections_accepted", "Connections accepted.")
        self.errors = counter("errors", "Errors that clients were told, by code.", ["code"])
        self.streams_begun = counter("streams_begun", "Streams of audio begun.")
        self._streams = gauge("streams", "Streams of audio in progress.")
        self.detections = counter("detections", "Detections, by word.", ["word"])
        answered = "Detections that another connection of the group answered, by word."
        self.held_back = counter("held_back", answered, ["word"])
        self.candidates = counter("candidates", "Windows that a second stage has looked at, by word.", ["word"])
        self.audio = counter("audio_seconds", "Seconds of audio received.")
        unheard = "Seconds of audio received that nothing listened to, by reason."
        self.dropped = counter("audio_dropped_seconds", unheard, ["reason"])
        scored = "From the receipt of a chunk in which windows end to the end of their scoring."
        self.delay = histogram("processing_seconds", scored)
        self.load = gauge("load", "Seconds of waiting and scoring for a second of audio; late above 1.")
        self.models = gauge("models", "Models offered.")
        self.refused = gauge("models_refused", "Files in the models' folder that are unusable.")
        self.started = time.monotonic()
        self._views: dict[int, tuple[str, ListeningStream, str]] = {}
        """The peer of each stream in progress, the stream, and the name of its group."""
        self._numbers = 0
        self._recent: deque[dict[str, object]] = deque(maxlen=_RECENT)

    def begin(self, peer: str, stream: ListeningStream, group: str = "") -> int:
        """A stream begins, of a connection of that group; return its number, for ``end``."""
        self._numbers += 1
        self._views[self._numbers] = peer, stream, group
        self.streams_begun.inc()
        self._streams.set(len(self._views))
        return self._numbers

    def end(self, number: int) -> None:
        """The stream ends."""
        self._views.pop(number, None)
        self._streams.set(len(self._views))

    def found(self, peer: str, found: Found, *, answered_by: str | None = None) -> None:
        """Count a detection; ``answered_by``: another connection of the group, which this one is held back for."""
        (self.detections if answered_by is None else self.held_back).labels(found.word.name).inc()
        self._recent.appendleft(
            {
                "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "word": found.word.name,
                "phrase": found.word.phrase,
                "score": round(found.detection.score, 4),
                "peer": peer,
                "speaker": found.detection.speaker,
                "timestamp": found.timestamp,
            }
            | ({} if answered_by is None else {"answered_by": answered_by})
        )

    def snapshot(self, words: Mapping[str, str]) -> dict[str, object]:
        """What the live page shows, for JSON; ``words`` are the phrases of the words on offer."""
        return {
            "uptime": round(time.monotonic() - self.started, 1),
            "words": dict(words),
            "streams": [_shown(number, *view) for number, view in self._views.items()],
            "detections": list(self._recent),
        }


def _shown(number: int, peer: str, stream: ListeningStream, group: str) -> dict[str, object]:
    """A stream in progress, as the live page shows it."""
    peaks = stream.peaks
    return {
        "number": number,
        "peer": peer,
        "group": group,
        "seconds": round(stream.seconds, 2),
        "rate": stream.format.rate,
        "channels": stream.format.channels,
        "level": round(level_of(stream.newest, _SILENCE_DB), 1),
        "asleep": stream.is_asleep,
        "detections": stream.fired,
        "words": [
            {"name": word.name, "score": round(peaks[word.name], 4), "threshold": round(word.threshold, 4)}
            for word in stream.words
        ],
    }
