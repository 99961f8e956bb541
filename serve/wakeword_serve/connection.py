"""One connection of a client: its events, in order, and the answers.

The way of a client's audio, with the module of each step:

1. ``server`` accepts the connection, and ``fair_share`` says what it may take of the machine.
2. ``wire`` reads an event within its limits, and ``wire_audio`` makes samples of its bytes.
3. ``client_stream`` pushes them to a detector of the words of ``words``, in a thread.
4. ``groups`` waits for others who may have heard the same word; ``arbitration`` tells who heard it first.
5. ``wire`` takes the answer to the client; ``telemetry`` counts, and ``hours`` and ``kept_pages`` keep what was heard.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from wyoming.error import Error
from wyoming.event import Event
from wyoming.ping import Pong
from wyoming.wake import Detection, NotDetected

from wakeword_serve.client_stream import Found, ListeningStream, StreamEvents, StreamSettings
from wakeword_serve.fair_share import ClientBudget, ScoringThreads
from wakeword_serve.groups import Groups
from wakeword_serve.logs import ClientWarnings
from wakeword_serve.telemetry import Telemetry
from wakeword_serve.wire import TimedReader, WireError, encode, read_event
from wakeword_serve.wire_audio import PcmFormat, format_of, timestamp_of
from wakeword_serve.words import OfferedWord, OfferedWords

logger = logging.getLogger("wakeword.serve")

_MAX_SECONDS = 60.0
"""A chunk may have so much audio, as it waits for its turn as a whole."""
_MAX_NAMES = 1_000
_MAX_CONTEXT = 4 * 2**10
"""Bytes, as it is sent. It is kept as long as the connection lasts, and as objects it can be a hundred times larger."""
_CLOSE_SECONDS = 1.0
_DETECTOR_SECONDS = 0.2
"""Seconds of audio that take as long as to make a detector, 2 to 3 ms."""


@dataclass(frozen=True)
class TimeLimits:
    """Seconds after which a connection is closed."""

    first: float = 30.0
    """Without any event."""
    idle: float = 3_600.0
    """Between two events."""
    event: float = 10.0
    """From the first byte of an event to its last, and for the client to take an answer."""


@dataclass(frozen=True)
class Shared:
    """What all connections of a server share."""

    words: OfferedWords
    settings: StreamSettings
    limits: TimeLimits
    telemetry: Telemetry
    threads: ScoringThreads
    save: Callable[[Found], object]
    """Called at each detection."""
    groups: Groups = field(default_factory=lambda: Groups({}))
    warnings: ClientWarnings = field(default_factory=ClientWarnings)


class Connection:
    """Answers the events of one client until it leaves, breaks the protocol, or is too slow."""

    def __init__(self, shared: Shared, reader: TimedReader, writer: asyncio.StreamWriter, share: ClientBudget) -> None:
        self._shared, self.share, self._peer = shared, share, share.peer
        self._reader, self._writer = reader, writer
        self._names: list[str] | None = None
        self._context: dict[str, Any] | None = None
        self._stream: ListeningStream | None = None
        self._number: int | None = None
        """Figures of the stream in progress, for the telemetry."""
        self._start: int | None = None
        """Timestamp of the last audio-start."""
        self._fired = False
        """Whether something was detected since then."""
        self._member = shared.groups.member(share, self._answer_word, lambda: reader.at_eof() or writer.is_closing())

    async def run(self) -> None:
        """Read and answer events until the connection ends; it is then closed."""
        try:
            await self._read()
        except WireError as error:
            self._tell(str(error), error.code)
        except OSError as error:
            # A client that has what it wanted may leave without reading the answer.
            logger.debug("%s: the client is gone: %s", self._peer, error)
        except Exception:  # of any kind: one client must not end the server
            logger.exception("%s: expected no error here, please report it", self._peer)
            self._tell("expected no error here; the server's log has it", "internal")
        finally:
            self._end_stream()
            await self._close()

    def abort(self) -> None:
        """Close the connection at once; ``run`` then ends."""
        self._writer.transport.abort()

    async def _read(self) -> None:
        limits = self._shared.limits
        idle = limits.first
        while (event := await read_event(self._reader, idle, limits.event)) is not None:
            idle = limits.idle
            await self._answer(event)

    async def _answer(self, event: Event) -> None:
        if event.type != "audio-chunk":
            await self.share.turn()
        match event.type:
            case "audio-chunk":
                await self._take_chunk(event)
            case "describe":
                logger.debug("%s: described", self._peer)
                await self._send(self._shared.words.info)
            case "detect":
                await self._choose(event.data)
            case "audio-start":
                self._begin(event.data)
            case "audio-stop":
                await self._finish()
            case "ping":
                text = event.data.get("text")
                if text is not None and not isinstance(text, str):
                    raise WireError("expected a ping whose text is a string")
                await self._send(encode(Pong(text).event()))
            case _:
                # The protocol asks servers to ignore what they do not know.
                logger.debug("%s: ignored '%.60r'", self._peer, event.type)

    async def _choose(self, data: Mapping[str, Any]) -> None:
        """``detect``: listen for these words from now on. A stream in progress goes on if they are the same."""
        names, context = data.get("names"), data.get("context")
        if names is not None and not (
            isinstance(names, list) and len(names) <= _MAX_NAMES and all(isinstance(name, str) for name in names)
        ):
            raise WireError("expected a detect whose names are a list of strings")
        if context is not None and not isinstance(context, dict):
            raise WireError("expected a detect whose context is an object")
        if context is not None and len(encode(Event("detect", context))) > _MAX_CONTEXT:
            raise WireError(f"expected a detect whose context takes at most {_MAX_CONTEXT} bytes, got a longer one")
        self._context = context
        self._names = list(dict.fromkeys(names)) if names else None
        await self._tell_unknown()
        if self._stream is not None and self._stream.words != self._wanted():
            self._give_up()

    async def _tell_unknown(self) -> None:
        """Tell the client which of its words are not offered."""
        unknown = [name for name in self._names or [] if name not in self._shared.words.by_name]
        if unknown:
            offered = ", ".join(self._shared.words.by_name) or "none"
            shown = ", ".join(f"{name!r:.60}" for name in unknown[:5])
            self._tell(f"expected words among those offered ({offered:.200}), got {shown}", "unknown-wake-word")
            await self._drain()

    def _wanted(self) -> list[OfferedWord]:
        by_name = self._shared.words.by_name
        return [by_name[name] for name in self._names or by_name if name in by_name]

    def _begin(self, data: Mapping[str, Any]) -> None:
        """``audio-start``: a new stream; one that was not stopped is given up."""
        format_of(data)  # only checked: each chunk names its own
        self._start = timestamp_of(data)
        self._fired = False
        self._end_stream()
        if self._stream is not None:
            self._stream.restart(self._start)

    async def _take_chunk(self, event: Event) -> None:
        pcm, timestamp = format_of(event.data), timestamp_of(event.data)
        audio = event.payload or b""
        seconds = len(audio) // pcm.frame / pcm.rate
        if seconds > _MAX_SECONDS:
            raise WireError(f"expected up to {_MAX_SECONDS:g} s in a chunk, got {seconds:.0f} s")
        telemetry = self._shared.telemetry
        await self.share.turn(seconds)
        received = time.perf_counter()
        telemetry.audio.inc(seconds)
        stream = await self._stream_of(pcm)
        if stream is None:
            telemetry.dropped.labels("no-word").inc(seconds)
            return
        if self._number is None:
            self._number = telemetry.begin(self._peer, stream, self._member.group.name if self._member else "")
        if self._member is not None:
            self._member.arrived(self._reader.came, stream, seconds, waited=self._reader.waiting > 0)
        heard = await stream.push(audio, timestamp)
        if heard.scored:
            telemetry.delay.observe(time.perf_counter() - received)
        await self._report(heard)

    async def _stream_of(self, pcm: PcmFormat) -> ListeningStream | None:
        """The stream for a chunk of this format; ``None`` if there is no word to listen for.

        Other models may be in force, in the middle of a stream too: a satellite's may last for weeks.
        """
        words, stream = self._wanted(), self._stream
        if stream is not None and (stream.format != pcm or stream.words != words):
            gone = any(word.name not in self._shared.words.by_name for word in stream.words)
            await self._report(await stream.finish())
            self._give_up()
            if gone:
                await self._tell_unknown()
        if self._stream is None:
            if not words:
                return None
            await self.share.turn(_DETECTOR_SECONDS)
            remembers = self._member is not None
            self._stream = ListeningStream(words, pcm, self._shared.settings, self.share, remembers=remembers)
            self._stream.restart(self._start)
        return self._stream

    async def _finish(self) -> None:
        """``audio-stop``: what the last window says, and whether nothing was detected."""
        if self._stream is not None:
            await self._report(await self._stream.finish())
        self._end_stream()
        fired, self._fired, self._start = self._fired, False, None
        if not fired:
            await self._send(encode(NotDetected(self._context).event()))

    def _give_up(self) -> None:
        """Drop the detector of a stream that goes on with another one: the new clock begins where the old one ends."""
        if self._stream is not None:
            self._start = (self._start or 0) + round(1_000 * self._stream.seconds)
        self._end_stream()
        self._stream = None

    def _end_stream(self) -> None:
        if self._stream is not None:  # what waits to be kept is kept now
            self._stream.restart(None)
        if self._member is not None:
            self._member.leave()
        if self._number is not None:
            self._shared.telemetry.end(self._number)
            self._number = None

    async def _report(self, heard: StreamEvents) -> None:
        telemetry = self._shared.telemetry
        for word, count in heard.candidates.items():
            if count:
                telemetry.candidates.labels(word).inc(count)
        for found in heard.found:
            if self._member is None:
                self._answer_word(found)
            elif (peer := await self._member.group.answers(self._member, found)) != self._peer:
                telemetry.found(self._peer, found, answered_by=peer)
                self._log("held back", found, f": {peer} answers")
            await self._drain()

    def _answer_word(self, found: Found, lead: float = 0.0) -> None:
        """Send a detection; ``lead``: this connection heard it so many seconds before the one that found it."""
        self._fired = True
        self._shared.telemetry.found(self._peer, found)
        earlier = f", which heard it {1_000 * lead:.1f} ms before" if lead else ""
        self._log("detected", found, earlier)
        self._shared.save(found)
        heard, context = found.detection, self._context
        detection = Detection(name=found.word.name, timestamp=found.timestamp, speaker=heard.speaker, context=context)
        self._writer.write(encode(detection.event()))

    def _log(self, outcome: str, found: Found, more: str) -> None:
        word, score, end = found.word.name, found.detection.score, found.detection.end
        logger.info("%s '%s' at %.3f s, score %.3f, from %s%s", outcome, word, end, score, self._peer, more)

    async def _send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._drain()

    async def _drain(self) -> None:
        try:
            async with asyncio.timeout(self._shared.limits.event):
                await self._writer.drain()
        except TimeoutError:
            self._shared.telemetry.errors.labels("timeout").inc()
            self.abort()
            raise

    def _tell(self, message: str, code: str) -> None:
        """Send an error, without waiting for the client to take it."""
        self._shared.telemetry.errors.labels(code).inc()
        self._shared.warnings.warn(self._peer, message, code)
        with suppress(OSError, RuntimeError):
            self._writer.write(encode(Error(message, code).event()))

    async def _close(self) -> None:
        self._writer.close()
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._writer.wait_closed()
        except OSError:  # a TimeoutError as well: what the client does not read is lost
            self.abort()
