"""A Wyoming server in the event loop of a test, and clients for it. Needs the packages of the extra ``serve``."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.event import Event, async_read_event
from wyoming.info import Describe
from wyoming.wake import Detect

from support.builders import bursts
from wakeword.audio.detection import Keeps
from wakeword.base.types import Array, Samples
from wakeword.cli.options import PointOptions
from wakeword.saving.keeper import Keeper
from wakeword.verify.known_voices import Voices
from wakeword_serve.addresses import Network
from wakeword_serve.client_stream import Found, StreamSettings
from wakeword_serve.connection import Shared, TimeLimits
from wakeword_serve.fair_share import ScoringThreads
from wakeword_serve.groups import Groups, groups_of
from wakeword_serve.hours import ListenedHours
from wakeword_serve.server import Server
from wakeword_serve.telemetry import Telemetry
from wakeword_serve.wire import encode
from wakeword_serve.words import OfferedWords

_WRITE_BYTES = 10_000
PATIENCE = 20.0
"""Seconds after which an answer is missing, on a busy machine too."""

LOW = bursts(2.0, {1: "low"})
"""Two seconds with the word "low"."""
BOTH = bursts(3.5, {1: "low", 2.5: "high"})
"""Three and a half seconds with "low" and then "high"."""


def int16(signal: Array) -> Samples:
    """Samples as int16."""
    return np.round(signal * 32_767).astype("<i2")


class Client:
    """A client of the server. ``events`` are those it has received."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.events: list[Event] = []

    async def send(self, *events: Event) -> None:
        """Send events."""
        await self.send_raw(b"".join(encode(event) for event in events))

    async def send_raw(self, data: bytes) -> None:
        """Send bytes."""
        self.writer.write(data)
        with suppress(ConnectionError):
            await self.writer.drain()

    async def receive(self) -> Event | None:
        """The next event; ``None`` at the end of the connection."""
        async with asyncio.timeout(PATIENCE):
            try:
                event = await async_read_event(self.reader)
            except (ConnectionError, asyncio.IncompleteReadError):
                return None
        if event is not None:
            self.events.append(event)
        return event

    async def describe(self) -> list[str]:
        """The names of the words on offer. Answers before it are in ``events`` then."""
        await self.send(Describe().event())
        while (event := await self.receive()) is not None:
            if event.type == "info":
                return [model["name"] for model in event.data["wake"][0]["models"]]
        raise AssertionError("the connection was closed")

    async def rest(self) -> list[Event]:
        """All events that come before the connection is closed by the server."""
        before = len(self.events)
        while await self.receive() is not None:
            pass
        return self.events[before:]

    async def detect(self, *names: str, context: dict[str, Any] | None = None) -> None:
        """Choose words."""
        await self.send(Detect(list(names) or None, context).event())

    async def speak(
        self, samples: Samples, *, rate: int = 16_000, size: int = 160, start: int | None = 0, stop: bool = True
    ) -> list[Event]:
        """Send a stream; return all answers to it. ``start`` is the first timestamp; ``None`` for none at all."""
        before = len(self.events)
        await self.send(AudioStart(rate, samples.dtype.itemsize, _channels(samples)).event())
        await self.chunks(samples, rate=rate, size=size, start=start)
        if stop:
            await self.send(AudioStop().event())
        await self.describe()
        return [event for event in self.events[before:] if event.type != "info"]

    async def chunks(self, samples: Samples, *, rate: int = 16_000, size: int = 160, start: int | None = 0) -> None:
        """Send only the chunks."""
        ready = bytearray()
        for at in range(0, len(samples), size):
            part = samples[at : at + size]
            timestamp = None if start is None else start + round(1_000 * at / rate)
            audio = part.astype(part.dtype.newbyteorder("<")).tobytes()
            chunk = AudioChunk(rate, part.dtype.itemsize, _channels(part), audio, timestamp=timestamp)
            ready += encode(chunk.event())
            if len(ready) > _WRITE_BYTES:
                await self.send_raw(bytes(ready))
                ready.clear()
        await self.send_raw(bytes(ready))

    async def close(self) -> None:
        """Leave."""
        self.writer.close()
        with suppress(OSError):
            await self.writer.wait_closed()

    def reset(self) -> None:
        """Leave without a word: the server's next write fails."""
        self.writer.transport.abort()


def _channels(samples: Samples) -> int:
    return 1 if samples.ndim == 1 else int(samples.shape[1])


class Served:
    """A running server, and what it has saved."""

    def __init__(self, server: Server, saved: list[Found]) -> None:
        self.server = server
        self.saved = saved
        self.clients: list[Client] = []

    async def client(self, address: str = "127.0.0.1") -> Client:
        """A new connection, from an address of this machine."""
        port = self.server.socket.getsockname()[1]
        client = Client(*await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0)))
        self.clients.append(client)
        return client

    def count(self, name: str, **labels: str) -> float:
        """A figure of the telemetry."""
        return self.server.telemetry.registry.get_sample_value(name, labels) or 0.0


@asynccontextmanager
async def serving(
    *files: Path,
    folder: Path | None = None,
    points: PointOptions | None = None,
    most: int = 256,
    networks: Sequence[Network] = (),
    times: TimeLimits | None = None,
    threads: int = 1,
    host: str = "127.0.0.1",
    keep: Keeps | None = None,
    groups: Sequence[str] = (),
    voices: Voices | None = None,
) -> AsyncIterator[Served]:
    """A server on a port of its own. On exit it must end, and nothing may have failed without being handled."""
    faults: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: faults.append(str(context)))
    words = OfferedWords(files, folder, points or PointOptions())
    words.refresh(at_once=True)
    saved: list[Found] = []
    with ThreadPoolExecutor(max(1, threads)) as executor:
        shared = Shared(
            words,
            StreamSettings(
                100,
                0.5,
                keep=keep,
                hours=ListenedHours(keep.folder, print) if isinstance(keep, Keeper) else None,
                voices=voices,
            ),
            times or TimeLimits(),
            Telemetry(),
            ScoringThreads(executor if threads else None),
            saved.append,
            groups=Groups(groups_of(groups)),
        )
        server = Server(shared, host, 0, most=most, networks=networks)
        task = asyncio.create_task(server.run())
        await server.ready.wait()
        served = Served(server, saved)
        try:
            yield served
        finally:
            server.stop()
            async with asyncio.timeout(PATIENCE):
                await task
            for client in served.clients:
                await client.close()
    assert faults == []


def types(events: Sequence[Event]) -> list[str]:
    """The types of events."""
    return [event.type for event in events]


def detections(events: Sequence[Event]) -> list[tuple[str, int]]:
    """Name and timestamp of the detections among events."""
    return [(event.data["name"], event.data["timestamp"]) for event in events if event.type == "detection"]


async def until(condition: Callable[[], object]) -> None:
    """Wait for something that happens in another task or thread."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.01)
