"""A client of speech-to-text by the Wyoming protocol, for recordings of some seconds."""

import asyncio
import os

from wyoming.asr import Transcribe
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.event import Event
from wyoming.info import Describe

from wakeword.audio.pcm import SAMPLE_RATE, int16_of
from wakeword.base.errors import WorkerError, reason_of
from wakeword.base.types import Array, Samples
from wakeword_serve.addresses import host_and_port
from wakeword_serve.wire import MAX_HEADER, WireError, encode, read_event

_SECONDS = 60.0
"""Within which a transcript must have come: a small machine takes ten, and one that is asleep loads its networks first."""
_CHUNK = SAMPLE_RATE // 10
_MAX_TEXT = 500
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
        try:
            text = asyncio.run(self._transcript(int16_of(samples).astype("<i2")))
        except (OSError, UnicodeError, WireError) as error:  # UnicodeError: for what can be no name of a host
            # What the event loop says of a connection that fails names the place alone.
            code = getattr(error, "errno", None) or 0
            late = isinstance(error, TimeoutError)
            said = os.strerror(code) if code > 0 else "timed out" if late else reason_of(error)
            raise WorkerError(f"expected a Wyoming speech-to-text at {self._uri}, could not use it: {said}") from error
        return " ".join(text.split())[:_MAX_TEXT]

    async def _transcript(self, audio: Samples) -> str:
        """What is said in ``(n,)`` int16 at 16 kHz. Raises ``OSError``, ``UnicodeError`` and ``WireError``."""
        async with asyncio.timeout(self._seconds):
            reader, writer = await asyncio.open_connection(*self._place, limit=MAX_HEADER - 1)
            try:
                # Asked first: a server of another kind would take the audio and never answer.
                writer.write(encode(Describe().event()))
                if not (await self._answer(reader, "info")).data.get("asr"):
                    raise WireError("the server there offers no speech-to-text")
                chunks = (audio[at : at + _CHUNK].tobytes() for at in range(0, len(audio), _CHUNK))
                spoken = (AudioChunk(SAMPLE_RATE, 2, 1, chunk) for chunk in chunks)
                for part in (Transcribe(), AudioStart(SAMPLE_RATE, 2, 1), *spoken, AudioStop()):
                    writer.write(encode(part.event()))
                text = (await self._answer(reader, "transcript")).data.get("text")
            finally:
                writer.close()
        if not isinstance(text, str):
            raise WireError(f"expected a transcript with text, got {text!r:.60}")
        return text

    async def _answer(self, reader: asyncio.StreamReader, kind: str) -> Event:
        """The next event of this kind; others are passed over. Raises ``WireError`` for an ``error``, too."""
        while (event := await read_event(reader, self._seconds, self._seconds)) is not None:
            if event.type == kind:
                return event
            if event.type == "error":
                raise WireError(f"it answered: {event.data.get('text')!s:.200}")
        raise ConnectionError("it closed the connection")
