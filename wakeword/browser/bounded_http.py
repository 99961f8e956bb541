"""A server by http in threads that no client can take for itself: bounds on time, connections and threads."""

import io
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

REQUEST_SECONDS = 10.0
"""For a whole request, and for each part of an answer to be taken."""
MAX_CONNECTIONS = 32
_MAX_THREADS, _LEAVING_SECONDS = 2 * MAX_CONNECTIONS, 2.0
"""The threads of closed connections have to notice it first, and a newcomer waits so long for one that does."""
_HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    # Pages of other sites can load nothing of it.
    "Cross-Origin-Resource-Policy": "same-origin",
}
TEXT = "text/plain; charset=utf-8"
HttpAnswer = tuple[HTTPStatus, str, bytes]
"""Status, content type and body."""


class Doors:
    """The open connections of a server.

    Where there would be too many, one is closed for the newcomer: of the address that has most, the one that was answered
    longest ago. So everyone finds a door, from this machine and others, and pays for no other's connections.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads = threading.BoundedSemaphore(_MAX_THREADS)
        self._open: dict[socket.socket, tuple[str, float]] = {}
        """Address of the client, and when it was answered last, or came."""

    def enter(self, connection: socket.socket, address: str) -> bool:
        """Note a new connection; ``False`` if there is no thread for it."""
        if not self._threads.acquire(timeout=_LEAVING_SECONDS):
            return False
        with self._lock:
            self._open[connection] = address, time.monotonic()
            if len(self._open) > MAX_CONNECTIONS:
                held = Counter(owner for owner, _ in self._open.values())
                worst = min(self._open, key=lambda one: (-held[self._open[one][0]], self._open[one][1]))
                del self._open[worst]
                with suppress(OSError):  # it has ended
                    worst.shutdown(socket.SHUT_RDWR)
        return True

    def answered(self, connection: socket.socket) -> None:
        """Note that a request has its answer."""
        with self._lock:
            if connection in self._open:
                self._open[connection] = self._open[connection][0], time.monotonic()

    def leave(self, connection: socket.socket) -> None:
        """Note the end of the thread of a connection."""
        with self._lock:
            self._open.pop(connection, None)
        self._threads.release()


class _Incoming(io.RawIOBase):
    """What a client sends until ``latest``: a limit on each read alone would let it trickle a request for ever."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.latest = 0.0
        """``time.monotonic()``."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self.latest - time.monotonic()
        if left <= 0:
            raise TimeoutError("expected the whole request in time")
        self._connection.settimeout(left)
        try:
            return self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(REQUEST_SECONDS)  # for the answer


class BoundedHandler(BaseHTTPRequestHandler):
    """Reads requests in time, and answers each with the headers of its server."""

    server: "BoundedHttpServer"
    protocol_version = "HTTP/1.1"
    server_version = "wakeword"
    sys_version = ""
    error_message_format = "%(code)d %(message)s\n"
    error_content_type = TEXT

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self._incoming = _Incoming(self.connection)
        self.rfile = io.BufferedReader(self._incoming)

    def handle_one_request(self) -> None:
        self._incoming.latest = time.monotonic() + REQUEST_SECONDS
        super().handle_one_request()
        self.server.doors.answered(self.connection)

    def end_headers(self) -> None:
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        super().end_headers()

    def do_GET(self) -> None:
        self.answer()

    do_HEAD = do_GET  # noqa: N815

    def answer(self) -> None:
        """Answer a request, with ``send``."""
        raise NotImplementedError

    def send(self, status: HTTPStatus, headers: Mapping[str, str], body: bytes = b"") -> None:
        """Answer with these headers too."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Length", str(len(body)))
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            # The body is not read: it must not be taken for the next request.
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


class BoundedHttpServer(ThreadingHTTPServer):
    """A thread for each connection that finds a door."""

    daemon_threads, block_on_close = True, False
    request_queue_size = 128  # not accepted yet; beyond Python's 5 a client would wait seconds

    def __init__(
        self,
        address: tuple[str, int],
        handler: Callable[..., BoundedHandler],
        *,
        headers: Mapping[str, str],
        listen: bool = True,
    ) -> None:
        """``headers``: of every answer, next to ``_HEADERS``."""
        self.headers = {**_HEADERS, **headers}
        self.doors = Doors()
        super().__init__(address, handler, bind_and_activate=listen)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self.doors.enter(request, str(client_address[0])):
            self.shutdown_request(request)
            return
        request.settimeout(REQUEST_SECONDS)
        try:
            super().process_request(request, client_address)
        except RuntimeError:
            # No thread can begin: one that did leaves by itself, even if a signal ends the command here.
            self.doors.leave(request)
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.doors.leave(request)
