"""A server of a fixed set of files, for a browser on this machine."""

import json
from collections.abc import Mapping
from email.utils import formatdate
from http import HTTPStatus
from pathlib import Path
from urllib.parse import unquote, urlsplit

from wakeword.base.errors import ConfigError, raising
from wakeword.browser.bounded_http import TEXT, BoundedHandler, BoundedHttpServer
from wakeword.browser.own_host import is_own_host
from wakeword.model.installed import assets_folder
from wakeword.verify.shared import PHONEMES_FILE, QUICK_FILE, recogniser_folders

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".flac": "audio/flac",
    ".onnx": "application/octet-stream",
}
"""The system may know other types, and a browser runs no script of another type."""
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; worker-src 'self'; "
    "img-src 'self' data:; media-src 'self' blob:; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'"
)
"""Nothing is loaded from another host, or sent to one."""
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Permissions-Policy": "microphone=(self)",
    # Pages of other sites can keep no handle of its window.
    "Cross-Origin-Opener-Policy": "same-origin",
    # Each time the browser asks whether a file has changed.
    "Cache-Control": "no-cache",
}


class PageServer(BoundedHttpServer):
    """Serves files by their paths, and nothing else. Only this machine can connect. A context manager."""

    def __init__(self, files: Mapping[str, Path], *, home: str, port: int) -> None:
        """``files``: path, without the slash in front, -> file. ``home``: the path to which ``/`` leads.

        ``port`` 0 is a free one. Raises ``ConfigError`` if the port cannot be listened on.
        """
        self.files = {f"/{path}": file for path, file in files.items()}
        self.home = f"/{home}"
        with raising(
            ConfigError, f"expected a free port, got {port}", OSError, OverflowError, hint="; give another --port"
        ):
            super().__init__(("127.0.0.1", port), _Handler, headers=_HEADERS)

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.server_port}{self.home}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing: a browser that goes away in the middle of a file is no error."""


class _Handler(BoundedHandler):
    server: PageServer

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: stdout and stderr are the command's."""

    def answer(self) -> None:
        # A web site with a name that leads here (DNS rebinding) gets nothing.
        if not all(is_own_host(host.strip()) for host in self.headers.get_all("Host") or []):
            text = b"expected an address or localhost as the host, got another name\n"
            self.send(HTTPStatus.MISDIRECTED_REQUEST, {"Content-Type": TEXT}, text)
            return
        path = unquote(urlsplit(self.path).path)
        if path == "/":
            self.send(HTTPStatus.FOUND, {"Location": self.server.home})
            return
        file = self.server.files.get(f"{path}index.html" if path.endswith("/") else path)
        if file is None:
            self.send(HTTPStatus.NOT_FOUND, {"Content-Type": TEXT}, b"no such file\n")
            return
        try:
            with file.open("rb") as opened:
                data, changed = opened.read(), file.stat()
        except OSError:
            self.send(HTTPStatus.NOT_FOUND, {"Content-Type": TEXT}, b"the file is gone\n")
            return
        tag = f'"{changed.st_mtime_ns:x}-{len(data):x}"'
        headers = {"ETag": tag, "Last-Modified": formatdate(changed.st_mtime, usegmt=True)}
        if self.headers.get("If-None-Match") == tag:
            self.send(HTTPStatus.NOT_MODIFIED, headers)
            return
        headers["Content-Type"] = _TYPES.get(file.suffix, "application/octet-stream")
        self.send(HTTPStatus.OK, headers, data)


PAGE = "web/demo/"
_OF_WORKER = ("web/files.json", "web/sw.js")
"""The list itself, and the service worker that reads it."""
RUNTIME = "web/node_modules/onnxruntime-web/dist/"
"""Where npm installs ONNX Runtime in a checkout."""


def web_folder() -> Path:
    """The folder of the page and its library: inside the package, or next to it in a checkout."""
    return assets_folder().with_name("web")


def site_files(runtime: Path) -> dict[str, Path]:
    """The file behind each path, of the page, the models and ``runtime``, the folder of ONNX Runtime.

    The paths are those in a checkout: a static server at its root serves the same page. They are in a list, and a
    service worker keeps them all for use without a network. Raises ``ConfigError`` if it, or one of them, is missing.
    """
    with raising(ConfigError, "expected the page's files.json, got", OSError, ValueError, hint="; install it again"):
        listed: list[str] = json.loads((web_folder() / "files.json").read_text("utf-8"))
    folders = {RUNTIME: runtime, "web/": web_folder(), "assets/": assets_folder()}
    files = {}
    for path in (*listed, *_OF_WORKER):
        prefix = next(prefix for prefix in folders if path.startswith(prefix))
        files[path] = folders[prefix] / path.removeprefix(prefix)
    for extra, folder in recogniser_folders().items():
        files[f"assets/encoders/{extra}.onnx"] = folder / PHONEMES_FILE
        if (quick := folder / QUICK_FILE).is_file():
            files[f"assets/encoders/{extra}-{QUICK_FILE}"] = quick
    missing = [path for path, file in files.items() if not file.is_file()]
    if missing:
        raise ConfigError(f"expected {', '.join(missing)}, found nothing there; install wakeword again")
    return files
