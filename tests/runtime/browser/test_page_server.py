"""The server of the page: its files and no others, to this machine alone."""

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from wakeword import ConfigError
from wakeword.browser.bounded_http import MAX_CONNECTIONS
from wakeword.browser.page_server import PageServer

SECRET = "not for the page"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[PageServer]:
    folder = tmp_path / "page"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text(SECRET)
    (folder / "unlisted.txt").write_text(SECRET)
    for name in ("index.html", "code.js", "code.mjs", "network.wasm", "model.onnx"):
        (folder / name).write_text(f"content of {name}")
    names = ("index.html", "code.js", "code.mjs", "network.wasm", "model.onnx", "gone.js")
    with PageServer({f"page/{name}": folder / name for name in names}, home="page/", port=0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(server: PageServer, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], str]:
    """Status, headers and body of the answer; the path is sent as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    try:
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()
    finally:
        connection.close()


def test_the_address_leads_to_the_page(server: PageServer) -> None:
    status, headers, _ = ask(server, "/")
    assert (status, headers["Location"]) == (302, "/page/")
    assert server.url.endswith("/page/")
    assert ask(server, "/page/")[2] == "content of index.html"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("index.html", "text/html; charset=utf-8"),
        ("code.js", "text/javascript; charset=utf-8"),
        ("code.mjs", "text/javascript; charset=utf-8"),
        ("network.wasm", "application/wasm"),
        ("model.onnx", "application/octet-stream"),
    ],
)
def test_files_have_the_type_that_browsers_ask_for(name: str, kind: str, server: PageServer) -> None:
    status, headers, body = ask(server, f"/page/{name}?version=1")
    assert (status, headers["Content-Type"], body) == (200, kind, f"content of {name}")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "http" not in headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "path",
    [
        *("/page", "/secret.txt", "/page/unlisted.txt", "/page/../secret.txt", "/page/..%2fsecret.txt"),
        *("//etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/page/code.js/", "/page//code.js", "/page/gone.js", "/%00"),
    ],
)
def test_nothing_else_is_served(path: str, server: PageServer) -> None:
    status, _, body = ask(server, path)
    assert status == 404
    assert SECRET not in body


def test_a_file_that_has_not_changed_is_not_sent_again(server: PageServer) -> None:
    tag = ask(server, "/page/code.js")[1]["ETag"]
    assert ask(server, "/page/code.js", If_None_Match=tag)[::2] == (304, "")
    server.files["/page/code.js"].write_text("other content")
    assert ask(server, "/page/code.js", If_None_Match=tag)[::2] == (200, "other content")


def test_only_reading_is_answered(server: PageServer) -> None:
    status, headers, body = ask(server, "/page/code.js", "HEAD")
    assert (status, headers["Content-Length"], body) == (200, str(len("content of code.js")), "")
    for method in ("POST", "DELETE"):
        status, headers, _ = ask(server, "/page/code.js", method)
        assert (status, headers["X-Content-Type-Options"]) == (501, "nosniff")
        assert headers["Content-Type"].startswith("text/plain")  # not the page of Python's server


def test_idle_connections_shut_nobody_out(server: PageServer) -> None:
    before, began = threading.active_count(), time.monotonic()
    idle = [socket.create_connection(("127.0.0.1", server.server_port), timeout=20) for _ in range(100)]
    assert time.monotonic() - began < 5
    assert ask(server, "/page/code.js")[0] == 200
    assert idle[0].recv(1) == b""  # closed for another
    assert threading.active_count() - before <= 2 * MAX_CONNECTIONS
    for one in idle:
        one.close()


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "localhost@evil.example", "127.0.0.1.evil.example"]
)
def test_a_site_whose_name_leads_here_gets_nothing(host: str, server: PageServer) -> None:
    for path in ("/", "/page/", "/page/code.js", "/page/none.js"):
        status, headers, body = ask(server, path, Host=host)
        assert status == 421
        assert "content of" not in body
        assert "Location" not in headers


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8765", "localhost:8765", "LOCALHOST", "[::1]:8765"])
def test_names_of_this_machine_are_answered(host: str, server: PageServer) -> None:
    assert ask(server, "/page/code.js", Host=host)[::2] == (200, "content of code.js")


def test_other_sites_can_use_none_of_it(server: PageServer) -> None:
    headers = ask(server, "/page/code.js")[1]
    assert headers["Cross-Origin-Resource-Policy"] == headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in headers
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]


def test_only_this_machine_can_connect(server: PageServer) -> None:
    assert server.server_address[0] == "127.0.0.1"


def test_a_port_in_use_is_one_line(server: PageServer) -> None:
    with pytest.raises(ConfigError, match="give another --port"):
        PageServer({}, home="", port=server.server_port)


def test_a_signal_that_comes_as_a_thread_begins_ends_the_server(
    server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the request has been answered by then: its thread has left the doors, and nobody leaves them twice."""
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        thread.join()
        raise SystemExit(143)

    one, other = socket.socketpair()
    with one, other, monkeypatch.context() as patched:
        other.close()
        patched.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(SystemExit):
            server.process_request(one, ("127.0.0.1", 1))
