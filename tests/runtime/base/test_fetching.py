"""Files from addresses: over https alone, with a certificate that is trusted, and never more than is wanted."""

import contextlib
import http.server
import ssl
import threading
from collections.abc import Iterator

import pytest
from support.certificates import certificate

from wakeword import ConfigError, ModelError
from wakeword.base.fetching import fetched

CONTENT = b"a file" * 1_000
_MOST = 2**20


class _Site(http.server.BaseHTTPRequestHandler):
    """A site with a file, one that is too long, and addresses that lead elsewhere."""

    def do_GET(self) -> None:
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/to/"))
            self.end_headers()
            return
        if self.path == "/none":
            self.send_error(404)
            return
        self.send_response(200)
        self.end_headers()
        with contextlib.suppress(OSError):  # enough was read
            self.wfile.write(bytes(_MOST + 2) if self.path == "/huge" else CONTENT)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site, whose certificate is trusted."""
    cert, key = certificate(tmp_path_factory.mktemp("site"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Site) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(cert))
        patch.setenv("no_proxy", "127.0.0.1")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"https://127.0.0.1:{server.server_port}"
        server.shutdown()


def fetch(address: str) -> bytes:
    return b"".join(fetched(address, most=_MOST, failure=ModelError))


def test_a_file_is_downloaded_over_https(site: str) -> None:
    assert fetch(f"{site}/to/{site}/mid.onnx") == CONTENT


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("{site}/none", "could not download .*Not Found"),
        ("{site}/huge", "expected at most"),
        ("{site}/to/http://127.0.0.1/x", "an https address, was sent on to http"),
        ("{site}/to/file:///etc/hostname", "could not download .*file:.* is not allowed"),
        ("http://127.0.0.1/x.onnx", "begins with https://"),
        ("ftp://127.0.0.1/x.onnx", "begins with https://"),
        ("https://127.0.0.1:1/x.onnx", "could not download"),
        ("https://", "begins with https://"),
        ("https://[x/a.onnx", "begins with https://"),
        ("https:///a.onnx", "begins with https://"),
        ("https://example.org/zoë.onnx", "begins with https://"),
    ],
)
def test_what_cannot_be_downloaded_safely_is_one_line(site: str, address: str, reason: str) -> None:
    with pytest.raises((ModelError, ConfigError), match=reason) as raised:
        fetch(address.format(site=site))
    assert "\n" not in str(raised.value)


def test_a_certificate_that_nobody_trusts_is_refused(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(ModelError, match="could not download"):
        fetch(f"{site}/mid.onnx")
