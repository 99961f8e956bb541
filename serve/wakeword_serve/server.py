"""The server: accepts connections, keeps to its limits, looks after its models, and ends all at once."""

import asyncio
import logging
import math
import os
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from io import FileIO

from wyoming.error import Error

from wakeword.base.errors import ConfigError
from wakeword.saving.saved_pairs import client_of
from wakeword_serve.connection import Connection, Shared
from wakeword_serve.fair_share import Share
from wakeword_serve.places import Network, Place, address_of, is_allowed, is_loopback, tcp_sockets, unix_socket
from wakeword_serve.wire import TimedReader, encode

logger = logging.getLogger("wakeword.serve")

_CHECK_SECONDS = 0.5
_REFRESH_SECONDS = 1.0
# A satellite that loses its power says nothing; these find it within two minutes.
_KEEPALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}


@dataclass(frozen=True)
class Limits:
    """Who may connect, and how many: one client has half of all connections if other machines can connect, else all."""

    connections: int = 256
    networks: tuple[Network, ...] = ()
    """Networks from which clients may connect; none for all."""


class Server:
    """Serves one place until ``stop`` is called. For one event loop.

    ``ready`` is set when clients can connect; ``sockets`` are then those it listens on.
    """

    def __init__(self, shared: Shared, place: Place, limits: Limits) -> None:
        self._shared = shared
        self.place = place
        self._limits = limits
        self.connections: dict[Connection, asyncio.Task[None]] = {}
        """Those that are open, with their tasks."""
        self.telemetry, self.words, self.hours = shared.telemetry, shared.words, shared.settings.hours
        """What it counts and offers."""
        self._stopped = asyncio.Event()
        self.ready = asyncio.Event()
        self.sockets: list[socket.socket] = []
        self.load = 0.0
        """See ``FairTurns``, some seconds ago."""

    def stop(self) -> None:
        """End ``run`` soon. For the event loop's thread."""
        self._stopped.set()

    async def run(self) -> None:
        """Serve until ``stop``; on stdio also until the input ends. Raises ``ConfigError`` if it cannot listen."""
        servers = await self._listen()
        tasks = [asyncio.create_task(self._check()), asyncio.create_task(self._refresh())]
        self._show_words()
        self.ready.set()
        try:
            await self._stopped.wait()
        finally:
            for connection in self.connections:
                connection.abort()
            for task in (*tasks, *self.connections.values()):
                task.cancel()
            for server in servers:
                server.close()
            await asyncio.gather(*tasks, *self.connections.values(), return_exceptions=True)
            if servers and self.place.scheme == "unix":
                self.place.path.unlink(missing_ok=True)

    async def _listen(self) -> list[asyncio.Server]:
        """Those that listen: none on stdio."""
        if self.place.scheme == "stdio":
            reader, writer = await _standard_streams()
            # Anyone who has started the server may be silent for as long as it likes.
            shared = replace(self._shared, limits=replace(self._shared.limits, first=math.inf, idle=math.inf))
            self._start(shared, reader, writer, "stdio").add_done_callback(lambda task: self.stop())
            return []
        place, loop = self.place, asyncio.get_running_loop()
        is_unix = place.scheme == "unix"
        self.sockets = [unix_socket(place.path)] if is_unix else tcp_sockets(place.host, place.port)
        listen = loop.create_unix_server if is_unix else loop.create_server
        return [await listen(self._protocol, sock=one) for one in self.sockets]

    def _protocol(self) -> asyncio.StreamReaderProtocol:
        reader = TimedReader()
        return asyncio.StreamReaderProtocol(reader, lambda _, writer: self._accept(reader, writer))

    def _accept(self, reader: TimedReader, writer: asyncio.StreamWriter) -> None:
        name = writer.get_extra_info("peername")
        peer = f"{name[0]}:{name[1]}" if isinstance(name, tuple) else "unix"
        address = address_of(peer)
        most, here = self._limits.connections, self._most_of_one_address()
        refuse = partial(self._refuse, writer, peer)
        if isinstance(name, tuple) and not is_allowed(address, self._limits.networks):
            refuse("not-allowed", "expected a client of a network that --allow names")
        elif len(self.connections) >= most:
            refuse("too-many-connections", f"expected at most {most} connections; close one, or try later")
        elif self._shared.turns.connections[client_of(address)] >= here:
            said = f"expected at most {here} connections from {address}; close one, or try later"
            refuse("too-many-connections-of-address", said)
        else:
            _keep_alive(writer.get_extra_info("socket"))
            self._start(self._shared, reader, writer, peer)

    def _most_of_one_address(self) -> int:
        """Connections that one address may hold: where others can connect, they must find room."""
        most = self._limits.connections
        shared = self.place.scheme == "tcp" and not all(is_loopback(one.getsockname()[0]) for one in self.sockets)
        return max(1, most // 2) if shared else most

    def _start(
        self, shared: Shared, reader: TimedReader, writer: asyncio.StreamWriter, peer: str
    ) -> "asyncio.Task[None]":
        is_paced = self.place.scheme == "tcp" and not is_loopback(address_of(peer))
        share = Share(shared.turns, peer, is_paced=is_paced, on_held=self.telemetry.held.inc)
        connection = Connection(shared, reader, writer, share)
        task = asyncio.create_task(connection.run())
        self.connections[connection] = task
        self.telemetry.accepted.inc()
        self.telemetry.connections.set(len(self.connections))
        logger.debug("connected", extra={"event": "connected", "peer": peer})

        def end(task: "asyncio.Task[None]") -> None:
            del self.connections[connection]
            share.close()
            self.telemetry.connections.set(len(self.connections))

        task.add_done_callback(end)
        return task

    def _refuse(self, writer: asyncio.StreamWriter, peer: str, code: str, message: str) -> None:
        self.telemetry.errors.labels(code).inc()
        self._shared.warnings.warn(peer, message, code)
        with suppress(OSError):
            writer.write(encode(Error(message, code).event()))
            writer.close()

    async def _check(self) -> None:
        """End connections that are too slow, and measure how late this task itself is."""
        while True:
            due = time.monotonic() + _CHECK_SECONDS
            await asyncio.sleep(_CHECK_SECONDS)
            now = time.monotonic()
            self.telemetry.loop_delay.observe(max(0.0, now - due))
            for connection in list(self.connections):
                connection.check(now)
            if (load := self._shared.turns.load()) is not None:
                self._show_load(load)
            self._shared.warnings.summarise()

    def _show_load(self, load: float) -> None:
        self.telemetry.load.set(load)
        self.load = load
        if load > 1:
            self.telemetry.overload.inc()
            said = f"overload: streams wait {load:.1f} s for a second of audio, so words are found late; have fewer streams"
            self._shared.warnings.warn("all streams", said, "overload")

    async def _refresh(self) -> None:
        """Follow the folder of models."""
        while True:
            await asyncio.sleep(_REFRESH_SECONDS)
            # In a thread of its own: to load a model takes as long as a second of audio for ten streams.
            try:
                changed = await asyncio.to_thread(self.words.refresh)
            except Exception:  # of any kind: the models in use stay
                logger.exception("expected to read the models' folder", extra={"event": "fault"})
                continue
            if changed:
                self._show_words()

    def _show_words(self) -> None:
        self.telemetry.models.set(len(self.words.by_name))
        self.telemetry.refused.set(self.words.refused)
        for word in self.words.by_name:
            self.telemetry.detections.labels(word)  # so that a word that was not said yet is shown with 0


def _keep_alive(connection: socket.socket | None) -> None:
    if connection is None:
        return
    with suppress(OSError):  # one of unix has no such options
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEPALIVE.items():
            if hasattr(socket, name):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


async def _standard_streams() -> tuple[TimedReader, asyncio.StreamWriter]:
    """Standard input and output, which must be pipes or sockets. Raises ``ConfigError``."""
    if sys.stdin is None:
        raise ConfigError("expected pipes as standard input and output for --uri stdio://, got a closed input")
    loop = asyncio.get_running_loop()
    reader = TimedReader()
    # Duplicates, as the transports close what they are given.
    files = [FileIO(os.dup(stream.fileno()), mode) for stream, mode in ((sys.stdin, "rb"), (sys.stdout, "wb"))]
    try:
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), files[0])
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), files[1]
        )
    except (ValueError, OSError, NotImplementedError) as error:
        raise ConfigError(
            f"expected pipes as standard input and output for --uri stdio://, got others: {error}"
        ) from error
    return reader, asyncio.StreamWriter(transport, protocol, None, loop)
