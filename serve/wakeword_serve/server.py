"""The server: accepts connections, keeps to its limits, looks after its models, and ends all at once."""

import asyncio
import logging
import socket
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from wyoming.error import Error

from wakeword.saving.saved_pairs import client_of
from wakeword_serve.addresses import Network, is_allowed, is_loopback, tcp_socket
from wakeword_serve.connection import Connection, Shared
from wakeword_serve.fair_share import ClientBudget
from wakeword_serve.wire import TimedReader, encode

logger = logging.getLogger("wakeword.serve")

_CHECK_SECONDS = 0.5
_REFRESH_SECONDS = 1.0
# A satellite that loses its power says nothing; these find it within two minutes.
_KEEPALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}


class Server:
    """Serves one address until ``stop`` is called. For one event loop.

    ``ready`` is set when clients can connect; ``socket`` is then the one that it listens on.
    """

    socket: socket.socket

    def __init__(
        self, shared: Shared, host: str, port: int, *, most: int = 256, networks: Sequence[Network] = ()
    ) -> None:
        """``most``: connections that may be open; one client has half of them if other machines can connect.

        ``networks``: where clients may connect from; none for all.
        """
        self._shared = shared
        self._host, self._port = host, port
        self._most, self._networks = most, networks
        self.connections: dict[Connection, asyncio.Task[None]] = {}
        """Those that are open, with their tasks."""
        self.telemetry, self.words, self.hours = shared.telemetry, shared.words, shared.settings.hours
        """What it counts and offers."""
        self._stopped = asyncio.Event()
        self.ready = asyncio.Event()
        self.load = 0.0
        """See ``ScoringThreads``, some seconds ago."""

    def stop(self) -> None:
        """End ``run`` soon. For the event loop's thread."""
        self._stopped.set()

    async def run(self) -> None:
        """Serve until ``stop``. Raises ``ConfigError`` if it cannot listen."""
        self.socket = tcp_socket(self._host, self._port)
        tcp = await asyncio.get_running_loop().create_server(self._protocol, sock=self.socket)
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
            tcp.close()
            await asyncio.gather(*tasks, *self.connections.values(), return_exceptions=True)

    def _protocol(self) -> asyncio.StreamReaderProtocol:
        reader = TimedReader()
        return asyncio.StreamReaderProtocol(reader, lambda _, writer: self._accept(reader, writer))

    def _accept(self, reader: TimedReader, writer: asyncio.StreamWriter) -> None:
        host, port = writer.get_extra_info("peername")[:2]
        share = ClientBudget(self._shared.threads, f"{host}:{port}", is_paced=not is_loopback(host))
        address, client = share.address, client_of(share.address)
        # Where others can connect, they must find room.
        here = self._most if is_loopback(self.socket.getsockname()[0]) else max(1, self._most // 2)
        refuse = partial(self._refuse, writer, address)
        if not is_allowed(address, self._networks):
            refuse("not-allowed", "expected a client of a network that --allow names")
        elif len(self.connections) >= self._most:
            refuse("too-many-connections", f"expected at most {self._most} connections; close one, or try later")
        elif sum(client_of(connection.share.address) == client for connection in self.connections) >= here:
            said = f"expected at most {here} connections from {address}; close one, or try later"
            refuse("too-many-connections-of-address", said)
        else:
            _keep_alive(writer.get_extra_info("socket"))
            self._start(reader, writer, share)

    def _start(self, reader: TimedReader, writer: asyncio.StreamWriter, share: ClientBudget) -> None:
        connection = Connection(self._shared, reader, writer, share)
        task = asyncio.create_task(connection.run())
        self.connections[connection] = task
        self.telemetry.accepted.inc()
        self.telemetry.connections.set(len(self.connections))
        logger.debug("%s: connected", share.peer)

        def end(task: "asyncio.Task[None]") -> None:
            del self.connections[connection]
            self.telemetry.connections.set(len(self.connections))

        task.add_done_callback(end)

    def _refuse(self, writer: asyncio.StreamWriter, peer: str, code: str, message: str) -> None:
        self.telemetry.errors.labels(code).inc()
        self._shared.warnings.warn(peer, message, code)
        with suppress(OSError):
            writer.write(encode(Error(message, code).event()))
            writer.close()

    async def _check(self) -> None:
        """Measure how long streams wait."""
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            if (load := self._shared.threads.load()) is not None:
                self.load = load
                self.telemetry.load.set(load)
                if load > 1:
                    said = f"they wait {load:.1f} s for a second of audio, so words are found late; have fewer"
                    self._shared.warnings.warn("overload of all streams", said, "overload")

    async def _refresh(self) -> None:
        """Follow the folder of models."""
        while True:
            await asyncio.sleep(_REFRESH_SECONDS)
            # In a thread of its own: to load a model takes as long as a second of audio for ten streams.
            try:
                changed = await asyncio.to_thread(self.words.refresh)
            except Exception:  # of any kind: the models in use stay
                logger.exception("expected to read the models' folder")
                continue
            if changed:
                self._show_words()

    def _show_words(self) -> None:
        self.telemetry.models.set(len(self.words.by_name))
        self.telemetry.refused.set(self.words.refused)
        for word in self.words.by_name:
            self.telemetry.detections.labels(word)  # so that a word that was not said yet is shown with 0


def _keep_alive(connection: socket.socket) -> None:
    with suppress(OSError):  # a client that has left
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEPALIVE.items():
            if hasattr(socket, name):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
