"""The HTTP side: ``/healthz``, ``/metrics`` for Prometheus, and a live page. No path is ever looked up."""

import asyncio
import json
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from wakeword.base.text import counted
from wakeword.browser.bounded_http import TEXT, BoundedHandler, BoundedHttpServer, HttpAnswer
from wakeword.browser.own_host import is_own_host
from wakeword.saving.keeper import Keeper
from wakeword_serve.addresses import Network, is_allowed, is_loopback, tcp_socket
from wakeword_serve.kept_pages import NOT_HERE, KeptPages
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
        figures = partial(generate_latest, server.telemetry.registry)
        self._paths: dict[str, Callable[[], HttpAnswer]] = {
            "/": lambda: (HTTPStatus.OK, "text/html; charset=utf-8", self._page),
            "/healthz": self._health,
            "/metrics": lambda: (HTTPStatus.OK, CONTENT_TYPE_LATEST, self._in_loop(figures)),
            "/state": self._state,
        }

    def tell(self, path: str, *, private: bool) -> HttpAnswer:
        """The answer to what a client tells, ``/label?id=ID&label=no``."""
        address = urlsplit(path)
        query = {name: values[-1] for name, values in parse_qs(address.query, keep_blank_values=True).items()}
        if address.path == "/label":
            return self._kept.label(query) if private else NOT_HERE
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
        return HTTPStatus.OK, TEXT, f"ok: {counted(words, 'word')}{late}\n".encode()

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
        origins = [site.partition("://")[2] for site in self.headers.get_all("Origin") or []]
        foreign = any(site != self.headers.get("Host") for site in origins)
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
        logger.debug("%s: %s", self.client_address[0], format % args)


class _HttpServer(BoundedHttpServer):
    def __init__(self, settings: WebSettings, handler: Callable[..., _Handler]) -> None:
        self.settings = settings
        policy = _POLICY.format(frames="'self'" if settings.ingress else "'none'")
        headers = {"Cache-Control": "no-store", "Content-Security-Policy": policy}
        listening = tcp_socket(settings.host, settings.port)
        super().__init__(listening.getsockname()[:2], handler, headers=headers, listen=False)
        self.socket.close()
        self.socket = listening

    def verify_request(self, request: Any, client_address: Any) -> bool:
        return is_allowed(str(client_address[0]), self.settings.networks)

    def handle_error(self, request: Any, client_address: Any) -> None:
        logger.debug("%s: a request ended early", client_address[0], exc_info=True)


class Web:
    """The HTTP side of a server, in threads of its own. A context manager, inside the event loop of ``server``.

    Raises ``ConfigError`` if the address cannot be used.
    """

    def __init__(self, server: Server, settings: WebSettings, keeper: Keeper | None) -> None:
        handler = partial(_Handler, Pages(server, asyncio.get_running_loop(), keeper))
        self._server = _HttpServer(settings, handler)
        host, port = self._server.socket.getsockname()[:2]
        self.is_open = not is_loopback(host)
        """Whether other machines can reach it."""
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        """Where it listens."""

    def __enter__(self) -> "Web":
        threading.Thread(target=self._server.serve_forever, args=(0.1,), name="wakeword-http", daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        # Not shutdown(), which waits: the thread ends with its socket or with the process.
        threading.Thread(target=self._server.shutdown, daemon=True).start()
        self._server.server_close()
