"""Random events and bytes for a server; every seed after which it does not answer as before is reported."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from wyoming.event import async_read_event

from benchmarks.memory import resident_memory
from fuzz.run_push import Pcm, demo
from fuzz.run_serve import expected
from fuzz.serve_clients import Answers, stream
from fuzz.serve_mutations import session
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.events import Line
from wakeword.cli.options import PointOptions
from wakeword.model.installed import shipped_models
from wakeword_serve.client_stream import StreamSettings
from wakeword_serve.connection import Shared, TimeLimits
from wakeword_serve.fair_share import ScoringThreads
from wakeword_serve.server import Server
from wakeword_serve.telemetry import Telemetry
from wakeword_serve.wire import MAX_DATA, MAX_HEADER, MAX_PAYLOAD
from wakeword_serve.words import OfferedWords

AT_ONCE = 8
"""Connections at a time."""
_ANSWER_SECONDS = 60.0
_SETTLED = 50
_MAX_FAULTS = 20
_CONTROL_SECONDS = 3
_LINE_SECONDS = 60.0


@dataclass(frozen=True)
class ServeFuzz:
    """The results of random use."""

    cpu_seconds: float
    connections: int
    bytes_sent: int
    refused: int
    """Connections that were told an error."""
    detections: int
    growth_mb: float | None
    """Resident memory at the end minus that after the first 50 rounds; clients included."""
    faults: list[str]
    """Each with the seed that reproduces it."""


class _Log(logging.Handler):
    """Keeps what the server reports as an error of its own."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self.lines.append(f"{record.getMessage()} ({error!r})")


def fuzz(model: str, cpu_seconds: float, *, seed: int = 0, report: Line = lambda line: None) -> ServeFuzz:
    """Use a server of a shipped model for ``cpu_seconds`` of CPU time, clients included.

    After each round of connections, with seeds of their own, the server must answer a new client, and find in the demo
    recording what a detector finds; nothing may fail without an answer to the client.
    """
    return asyncio.run(_fuzz(model, cpu_seconds, seed, report))


async def _fuzz(model: str, cpu_seconds: float, seed: int, report: Line) -> ServeFuzz:
    control = demo()[: _CONTROL_SECONDS * SAMPLE_RATE]
    wanted = expected(model, control)
    faults: list[str] = []
    total, connections = _Result(0, 0, 0), 0
    settled, began = None, time.process_time()
    last = began
    async with _server(model) as watched:
        while time.process_time() - began < cpu_seconds and len(faults) < _MAX_FAULTS:
            seeds = range(seed + connections, seed + connections + AT_ONCE)
            done, problem = await _round(watched, model, seeds, control, wanted)
            connections += len(done)
            total = _Result(*map(sum, zip(total, *done, strict=True)))
            if problem is not None:
                faults.append(f"seeds {seeds[0]} to {seeds[-1]}: {problem}")
                report(faults[-1])
            if connections == _SETTLED * AT_ONCE:
                settled = resident_memory()
            if time.process_time() - last > _LINE_SECONDS:
                last = time.process_time()
                report(f"{(last - began) / 60:.0f} min of CPU time: {connections} connections, {resident_memory()} MB")
    memory = resident_memory()
    return ServeFuzz(
        cpu_seconds=time.process_time() - began,
        connections=connections,
        bytes_sent=total.sent,
        refused=total.refused,
        detections=total.detections,
        growth_mb=memory - settled if memory is not None and settled is not None else None,
        faults=faults,
    )


class _Result(NamedTuple):
    sent: int
    refused: int
    """1 for a connection that was told an error."""
    detections: int


@dataclass(frozen=True)
class _Watched:
    server: Server
    log: _Log
    unhandled: list[str]
    """Errors that nothing has handled."""


async def _round(
    watched: _Watched, model: str, seeds: Sequence[int], control: Pcm, wanted: list[tuple[str, int]]
) -> tuple[list[_Result], str | None]:
    """Connections of these seeds, all at a time, then a client that behaves; what was wrong, if anything."""
    host, port = watched.server.socket.getsockname()[:2]
    audio = demo().tobytes()
    heard = Answers()
    results = [_Result(0, 0, 0) for _ in seeds]
    problems: list[str] = []
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            results = await asyncio.gather(*(_connection(host, port, Random(one), audio, model) for one in seeds))
            await stream(host, port, model, control, chunk=320, pace=0, passes=1, heard=heard)
            while watched.server.connections:
                await asyncio.sleep(0.005)
    except TimeoutError:
        problems.append(f"expected all answers within {_ANSWER_SECONDS:g} s")
    if heard.detections != wanted:
        problems.append(f"expected the detections {wanted}, got {heard.detections}")
    for lines in (watched.log.lines, watched.unhandled):
        problems += lines
        lines.clear()
    return results, "; ".join(problems) or None


@asynccontextmanager
async def _server(model: str) -> AsyncIterator[_Watched]:
    """A server in this event loop."""
    unhandled: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: unhandled.append(str(context)))
    logger, log = logging.getLogger("wakeword.serve"), _Log()
    logger.addHandler(log)
    logger.propagate = False
    words = OfferedWords([shipped_models()[model]], None, PointOptions())
    with ThreadPoolExecutor(2) as executor:
        threads, settings = ScoringThreads(executor), StreamSettings(100, 0.5)
        shared = Shared(words, settings, TimeLimits(event=5), Telemetry(), threads, lambda found: None)
        server = Server(shared, "127.0.0.1", 0)
        task = asyncio.create_task(server.run())
        await server.ready.wait()
        try:
            yield _Watched(server, log, unhandled)
        finally:
            server.stop()
            await task
            logger.removeHandler(log)
            logger.propagate = True


async def _connection(host: str, port: int, random: Random, audio: bytes, word: str) -> _Result:
    """Send the bytes of one session, in parts, and read what comes until the server or the client has enough."""
    data = session(random, audio, word)
    reader, writer = await asyncio.open_connection(host, port)
    types: list[str] = []

    async def read() -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while (event := await async_read_event(reader)) is not None:
                types.append(event.type)

    reading = asyncio.create_task(read())
    with suppress(OSError):
        at = 0
        while at < len(data):
            size = random.choice((1, 7, 400, 5_000, 100_000))
            writer.write(data[at : at + size])
            await writer.drain()
            at += size
            if random.random() < 0.05:
                await asyncio.sleep(0)
        # A client leaves without a word, ends its side, or goes on until an error ends the connection.
        match random.randrange(3):
            case 0:
                writer.transport.abort()
            case 1:
                writer.write_eof()
            case _:
                writer.write(b"\n" * (MAX_PAYLOAD + MAX_DATA + MAX_HEADER))
                await writer.drain()
    await reading
    writer.transport.abort()
    return _Result(len(data), int("error" in types), types.count("detection"))
