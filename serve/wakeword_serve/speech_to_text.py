"""A client of speech-to-text by the Wyoming protocol, for recordings of some seconds."""

import socket
import time

import numpy as np
from wyoming.asr import Transcribe
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.event import Event
from wyoming.info import Describe

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import ConfigError, WorkerError
from wakeword.base.types import Array
from wakeword_serve.places import Place, place_of
from wakeword_serve.wire import EventReader, WireError, encode

SECONDS = 60.0
"""Within which a transcript must have come: a small machine takes ten, and one that is asleep loads its networks first."""
_CHUNK = SAMPLE_RATE // 10
_MOST_TEXT = 500
"""Characters of a transcript that are kept."""


class SpeechToText:
    """The speech-to-text of ``--label-with``. Raises ``ConfigError`` for an address that cannot be read."""

    def __init__(self, uri: str, *, seconds: float = SECONDS) -> None:
        self._uri, self._seconds = uri, seconds
        self._place: Place = place_of(uri, "--label-with")
        if self._place.scheme == "stdio":
            raise ConfigError(f"expected --label-with tcp://HOST:PORT or unix://PATH, got {uri!r}")

    def text(self, samples: Array) -> str:
        """What is said in ``(n,)`` float32 at 16 kHz, in one line; empty where no speech was heard.

        Raises ``WorkerError`` if nothing answers there, or not in time, or if the answer is no transcript.
        """
        try:
            with self._connected() as connection:
                return self._transcript(_Events(connection, time.monotonic() + self._seconds), samples)
        except (OSError, UnicodeError, WireError) as error:  # UnicodeError: for what can be no name of a host
            said = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise WorkerError(f"expected a Wyoming speech-to-text at {self._uri}, could not use it: {said}") from error

    def _connected(self) -> socket.socket:
        if self._place.scheme == "tcp":
            return socket.create_connection((self._place.host, self._place.port), self._seconds)
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(self._seconds)
            connection.connect(str(self._place.path))
        except OSError:
            connection.close()
            raise
        return connection

    def _transcript(self, events: "_Events", samples: Array) -> str:
        # Asked first: a server of another kind would take the audio and never answer.
        events.send(Describe().event())
        if not events.next("info").data.get("asr"):
            raise WireError("the server there offers no speech-to-text")
        audio = np.clip(np.rint(samples * 32_768), -32_768, 32_767).astype("<i2")
        events.send(Transcribe().event(), AudioStart(SAMPLE_RATE, 2, 1).event())
        for start in range(0, len(audio), _CHUNK):
            events.send(AudioChunk(SAMPLE_RATE, 2, 1, audio[start : start + _CHUNK].tobytes()).event())
        events.send(AudioStop().event())
        text = events.next("transcript").data.get("text")
        if not isinstance(text, str):
            raise WireError(f"expected a transcript with text, got {text!r:.60}")
        return " ".join(text.split())[:_MOST_TEXT]


class _Events:
    """Events of a connection, until a moment of ``time.monotonic``."""

    def __init__(self, connection: socket.socket, until: float) -> None:
        self._connection, self._until, self._reader = connection, until, EventReader()

    def _wait(self) -> None:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._connection.settimeout(left)

    def send(self, *events: Event) -> None:
        self._wait()
        self._connection.sendall(b"".join(map(encode, events)))

    def next(self, kind: str) -> Event:
        """The next event of this kind; others are passed over. Raises ``OSError``, and ``WireError`` for an ``error``."""
        while True:
            while (event := self._reader.next()) is not None:
                if event.type == kind:
                    return event
                if event.type == "error":
                    raise WireError(f"it answered: {event.data.get('text')!s:.200}")
            self._wait()
            if not (data := self._connection.recv(65_536)):
                raise ConnectionError("it closed the connection")
            self._reader.feed(data)
