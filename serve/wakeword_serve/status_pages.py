"""The HTTP side: ``/healthz``, ``/metrics`` for Prometheus, and a live page. No path is ever looked up."""

import asyncio
import json
import logging
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from prometheus_client.exposition import CONTENT_TYPE_LATEST

from wakeword.base.errors import ConfigError
from wakeword.browser.bounded_http import TEXT, BoundedHandler, BoundedHttpServer, Doors, HttpAnswer
from wakeword.browser.own_host import is_own_host
from wakeword.saving.keeper import Keeper
from wakeword_serve.kept_pages import NOT_HERE, KeptPages
from wakeword_serve.places import Network, is_allowed, is_loopback, tcp_sockets
from wakeword_serve.server import Server

logger = logging.getLogger("wakeword.serve")

_LOOP_SECONDS = 2.0
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; "
    "media-src 'self'; img-src data:; frame-ancestors {frames}; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class WebSettings:
    """Where the HTTP side listens, and who may see it."""

    host: str
    port: int
    certificate: Path | None = None
    """With ``key``: the certificate of the server in PEM; its connections then use TLS."""
    key: Path | None = None
    networks: tuple[Network, ...] = ()
    """Networks from which clients may connect; none for all."""
    names: tuple[str, ...] = ()
    """Names of this machine in the public DNS, in lower case: no other such name is answered."""
    ingress: bool = False
    """Behind Home Assistant's ingress, to which ``networks`` must then be narrowed. It passes on the host that a browser
    asked, which may have any name, and shows the page in a frame of that same origin."""


_OTHER_HOST: HttpAnswer = (
    HTTPStatus.MISDIRECTED_REQUEST,
    TEXT,
    b"expected an address, a local name or one that --http-name gives as the host, got another name\n",
)


class Pages:
    """What is behind each path. Called in threads of the HTTP server; the figures belong to the event loop's."""

    def __init__(self, server: Server, loop: asyncio.AbstractEventLoop, keeper: Keeper | None) -> None:
        self._server = server
        self._loop = loop
        self._kept = KeptPages(keeper, server.words, server.hours)
        self._page = (files("wakeword_serve") / "page.html").read_bytes()
        self._paths: dict[str, Callable[[], HttpAnswer]] = {
            "/": lambda: (HTTPStatus.OK, "text/html; charset=utf-8", self._page),
            "/healthz": self._health,
            "/metrics": lambda: (HTTPStatus.OK, CONTENT_TYPE_LATEST, self._in_loop(self._server.telemetry.exposition)),
            "/state": self._state,
        }

    def tell(self, path: str, *, private: bool) -> HttpAnswer:
        """The answer to what a client tells, ``/label?id=ID&label=no``."""
        address = urlsplit(path)
        told = {name: values[-1] for name, values in parse_qs(address.query, keep_blank_values=True).items()}
        if address.path == "/label":
            return self._kept.label(told) if private else NOT_HERE
        return HTTPStatus.NOT_FOUND, TEXT, b"expected /label, got another path\n"

    def answer(self, path: str, *, private: bool) -> HttpAnswer:
        """The answer to a request for ``path``; ``private``: whether the client may see and hear what is kept."""
        made = self._paths.get(path)
        try:
            if path == "/events" or path.startswith("/events/"):
                return self._kept.answer(path) if private else NOT_HERE
            if made is None:
                return HTTPStatus.NOT_FOUND, TEXT, b"expected /, /events, /healthz, /metrics or /state\n"
            return made()
        except (TimeoutError, RuntimeError):
            return HTTPStatus.SERVICE_UNAVAILABLE, TEXT, b"the server is busy or ending\n"

    def _health(self) -> HttpAnswer:
        """Healthy: the event loop answers, and there is something to listen for."""
        words, load = self._in_loop(lambda: (len(self._server.words.by_name), self._server.load))
        if not words:
            return HTTPStatus.SERVICE_UNAVAILABLE, TEXT, b"expected at least one model, got none\n"
        late = f", overload: streams wait {load:.1f} s for a second of audio" if load > 1 else ""
        return HTTPStatus.OK, TEXT, f"ok: {words} word(s){late}\n".encode()

    def _state(self) -> HttpAnswer:
        words = {name: word.phrase for name, word in self._server.words.by_name.items()}
        state = self._in_loop(lambda: self._server.telemetry.snapshot(words))
        return HTTPStatus.OK, "application/json", json.dumps(state).encode()

    def _in_loop(self, work: Callable[[], Any]) -> Any:
        """The result of ``work`` in the event loop's thread. ``TimeoutError`` if that does not answer."""

        async def run() -> Any:
            return work()

        future = asyncio.run_coroutine_threadsafe(run(), self._loop)
        try:
            return future.result(_LOOP_SECONDS)
        finally:
            future.cancel()


class _Handler(BoundedHandler):
    server: "_HttpServer"

    def __init__(self, pages: Pages, *rest: Any) -> None:
        self._pages = pages
        super().__init__(*rest)

    def answer(self) -> None:
        self._answer(self._pages.answer, self.path.partition("?")[0], known=self._is_own())

    def do_POST(self) -> None:  # noqa: N802
        # A browser names the page that sends a request: no page of another host tells labels.
        origins = [origin.partition("://")[2] for origin in self.headers.get_all("Origin") or []]
        foreign = any(origin != self.headers.get("Host") for origin in origins)
        self._answer(self._pages.tell, self.path, known=self._is_own() and not foreign)

    def _answer(self, ask: Callable[..., HttpAnswer], path: str, *, known: bool) -> None:
        status, kind, body = ask(path, private=self._hears()) if known else _OTHER_HOST
        self.send(status, {"Content-Type": kind}, body)

    def _hears(self) -> bool:
        """Whether recordings of the house are for this client: one of this machine, or one that its owner has named."""
        settings = self.server.settings
        # A proxy on this machine passes on requests of others.
        passed_on = any(name in self.headers for name in ("Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"))
        here = is_loopback(str(self.client_address[0])) and not passed_on
        return here or bool(settings.networks) or settings.ingress

    def _is_own(self) -> bool:
        # Browsers always name a host; programs may leave it out.
        hosts = self.headers.get_all("Host") or []
        settings = self.server.settings
        return settings.ingress or all(is_own_host(host.strip(), settings.names) for host in hosts)

    def log_message(self, format: str, *args: object) -> None:
        logger.debug("%s", format % args, extra=_logged(self.client_address))


class _HttpServer(BoundedHttpServer):
    def __init__(
        self,
        listening: socket.socket,
        settings: WebSettings,
        handler: Callable[..., _Handler],
        *,
        tls: ssl.SSLContext | None,
        doors: Doors,
    ) -> None:
        self.settings = settings
        self._tls = tls
        policy = _POLICY.format(frames="'self'" if settings.ingress else "'none'")
        headers = {"Cache-Control": "no-store", "Content-Security-Policy": policy}
        super().__init__(listening.getsockname()[:2], handler, headers=headers, doors=doors, listen=False)
        self.socket.close()
        self.socket = listening
        self.server_address = listening.getsockname()

    def get_request(self) -> tuple[Any, Any]:
        request, client_address = super().get_request()
        if self._tls is not None:
            request = self._tls.wrap_socket(request, server_side=True, do_handshake_on_connect=False)
        return request, client_address

    def verify_request(self, request: Any, client_address: Any) -> bool:
        return is_allowed(str(client_address[0]), self.settings.networks)

    def finish_request(self, request: Any, client_address: Any) -> None:
        if self._tls is not None:
            # Here and not at accept: a client that delays the handshake delays only its own thread.
            request.do_handshake()
        super().finish_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        logger.debug("a request ended early", exc_info=True, extra=_logged(client_address))


def _logged(client_address: Any) -> dict[str, str]:
    """What a line of the log says of a client."""
    return {"event": "http", "peer": str(client_address[0])}


class Web:
    """The HTTP side of a server, in threads of its own. A context manager, inside the event loop of ``server``.

    Raises ``ConfigError`` if the address or the certificate cannot be used.
    """

    def __init__(self, server: Server, settings: WebSettings, keeper: Keeper | None = None) -> None:
        tls = _tls(settings)
        handler = partial(_Handler, Pages(server, asyncio.get_running_loop(), keeper))
        doors = Doors()
        self.sockets: list[socket.socket] = tcp_sockets(settings.host, settings.port)
        """Those it listens on, one for each address of the host."""
        self._servers = [_HttpServer(one, settings, handler, tls=tls, doors=doors) for one in self.sockets]
        host, port = self.sockets[0].getsockname()[:2]
        self.url = f"http{'s' if tls else ''}://{f'[{host!s}]' if ':' in str(host) else host!s}:{port}/"
        """Where it listens, at the first of them."""

    def __enter__(self) -> "Web":
        for one in self._servers:
            threading.Thread(target=one.serve_forever, args=(0.1,), name="wakeword-http", daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        for one in self._servers:
            # Not shutdown(), which waits: the thread ends with its socket or with the process.
            threading.Thread(target=one.shutdown, daemon=True).start()
            one.server_close()


def _tls(settings: WebSettings) -> ssl.SSLContext | None:
    if settings.certificate is None and settings.key is None:
        return None
    if settings.certificate is None or settings.key is None:
        raise ConfigError("give --http-cert and --http-key together")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(settings.certificate, settings.key)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(
            f"expected a certificate and its key in PEM, could not use {settings.certificate} and {settings.key}: "
            f"{error.strerror or error}"
        ) from error
    return context
