"""A client of speech-to-text by the Wyoming protocol, for recordings of some seconds."""

import socket
import time
from collections.abc import Iterator

import numpy as np
from wyoming.asr import Transcribe
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.event import Event
from wyoming.info import Describe

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import WorkerError
from wakeword.base.types import Array
from wakeword_serve.places import host_and_port
from wakeword_serve.wire import EventReader, WireError, encode

_SECONDS = 60.0
"""Within which a transcript must have come: a small machine takes ten, and one that is asleep loads its networks first."""
_CHUNK = SAMPLE_RATE // 10
_MOST_TEXT = 500
"""Characters of a transcript that are kept."""


class SpeechToText:
    """The speech-to-text of ``--label-with``. Raises ``ConfigError`` for an address that cannot be read."""

    def __init__(self, uri: str, *, seconds: float = _SECONDS) -> None:
        host, port = host_and_port(uri.removeprefix("tcp://"), "--label-with tcp://", "127.0.0.1:10300")
        self._place, self._seconds = (host, port), seconds
        self._uri = uri

    def text(self, samples: Array) -> str:
        """What is said in ``(n,)`` float32 at 16 kHz, in one line; empty where no speech was heard.

        Raises ``WorkerError`` if nothing answers there, or not in time, or if the answer is no transcript.
        """
        audio = np.clip(np.rint(samples * 32_768), -32_768, 32_767).astype("<i2")
        chunks = [audio[start : start + _CHUNK].tobytes() for start in range(0, len(audio), _CHUNK)]
        until = time.monotonic() + self._seconds
        try:
            with socket.create_connection(self._place, self._seconds) as connection:
                events = _events(connection, until)
                # Asked first: a server of another kind would take the audio and never answer.
                connection.sendall(encode(Describe().event()))
                if not _next(events, "info").data.get("asr"):
                    raise WireError("the server there offers no speech-to-text")
                spoken = (AudioChunk(SAMPLE_RATE, 2, 1, one) for one in chunks)
                for part in (Transcribe(), AudioStart(SAMPLE_RATE, 2, 1), *spoken, AudioStop()):
                    connection.sendall(encode(part.event()))
                text = _next(events, "transcript").data.get("text")
                if not isinstance(text, str):
                    raise WireError(f"expected a transcript with text, got {text!r:.60}")
        except (OSError, UnicodeError, WireError) as error:  # UnicodeError: for what can be no name of a host
            said = getattr(error, "strerror", None) or str(error)
            raise WorkerError(f"expected a Wyoming speech-to-text at {self._uri}, could not use it: {said}") from error
        return " ".join(text.split())[:_MOST_TEXT]


def _events(connection: socket.socket, until: float) -> Iterator[Event]:
    """What comes until a moment of ``time.monotonic``. Raises ``OSError`` and ``WireError``."""
    reader = EventReader()
    while True:
        while (event := reader.next()) is not None:
            yield event
        connection.settimeout(max(0.001, until - time.monotonic()))
        if not (data := connection.recv(65_536)):
            raise ConnectionError("it closed the connection")
        reader.feed(data)


def _next(events: Iterator[Event], kind: str) -> Event:
    """The next event of this kind; others are passed over. Raises ``WireError`` for an ``error``."""
    while (event := next(events)).type != kind:
        if event.type == "error":
            raise WireError(f"it answered: {event.data.get('text')!s:.200}")
    return event
