"""The HTTP side: health, figures and the live page; no other path, no other client, and no harm by a slow one."""

import asyncio
import json
import shutil
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import numpy as np
import pytest

pytest.importorskip("prometheus_client", reason="needs the packages of pip install '.[serve]'")

from prometheus_client.parser import text_string_to_metric_families
from support.served import BOTH, Served, int16
from support.served_web import get, run

from wakeword import Detection, Keeper
from wakeword.browser.bounded_http import MAX_CONNECTIONS, Doors
from wakeword.saving.saved_pairs import SavedPairs
from wakeword.saving.sorting import Answer, file_pair, read_pair
from wakeword_serve.addresses import networks_of
from wakeword_serve.client_stream import Found
from wakeword_serve.status_pages import Web

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def test_health_is_that_there_is_something_to_listen_for(models: Path) -> None:
    async def scenario(served: Served, web: Web) -> tuple[int, str, Any]:
        return await get(f"{web.url}healthz")

    assert run(scenario, models / "low.onnx")[:2] == (200, "ok: 1 word\n")
    assert run(scenario)[0] == 503


def test_figures_are_what_prometheus_reads(models: Path) -> None:
    async def scenario(served: Served, web: Web) -> str:
        client = await served.client()
        await client.speak(int16(BOTH))
        return (await get(f"{web.url}metrics"))[1]

    text = run(scenario, models / "low.onnx", models / "high.onnx")
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert samples["wakeword_detections_total", "low"] == samples["wakeword_detections_total", "high"] == 1
    assert samples["wakeword_audio_seconds_total",] == pytest.approx(len(BOTH) / 16_000)
    assert samples["wakeword_models",] == 2
    assert samples["wakeword_connections",] == 1
    assert samples["wakeword_processing_seconds_bucket", "+Inf"] > 0


def test_the_state_is_that_of_the_streams(models: Path) -> None:
    async def scenario(served: Served, web: Web) -> tuple[Any, Any]:
        client = await served.client()
        await client.speak(int16(BOTH), stop=False)
        during = json.loads((await get(f"{web.url}state"))[1])
        await client.close()
        while served.count("wakeword_connections"):
            await asyncio.sleep(0.01)
        return during, json.loads((await get(f"{web.url}state"))[1])

    during, after = run(scenario, models / "low.onnx", models / "high.onnx")
    (stream,) = during["streams"]
    assert stream["seconds"] == pytest.approx(len(BOTH) / 16_000, abs=0.01)
    assert stream["detections"] == 2
    assert [(word["name"], word["threshold"]) for word in stream["words"]] == [("low", 0.5), ("high", 0.5)]
    low, high = (word["score"] for word in stream["words"])
    assert high > 0.5 > low  # "low" was said more than a second ago
    assert [one["word"] for one in during["detections"]] == ["high", "low"]
    assert after["streams"] == []
    assert after["detections"] == during["detections"]
    assert after["words"] == {"low": "low", "high": "hey high"}


def test_two_pages_see_the_same_scores(models: Path) -> None:
    async def scenario(served: Served, web: Web) -> list[Any]:
        client = await served.client()
        await client.speak(int16(BOTH), stop=False)
        states = [json.loads((await get(f"{web.url}state"))[1]) for _ in range(3)]
        return [state["streams"][0]["words"] for state in states]

    first, second, third = run(scenario, models / "low.onnx", models / "high.onnx")
    assert first == second == third
    assert max(word["score"] for word in first) > 0.5


@pytest.mark.parametrize("path", ["page.html", "../page.html", "%2e%2e/", "metrics/", "etc/passwd", "state/x?y"])
def test_a_request_names_no_file(models: Path, path: str) -> None:
    async def scenario(served: Served, web: Web) -> tuple[int, str, Any]:
        return await get(web.url + path)

    status, text, _ = run(scenario, models / "low.onnx")
    assert status == 404
    assert path not in text


def test_only_reading_is_answered(models: Path) -> None:
    async def scenario(served: Served, web: Web) -> list[bytes]:
        host, port = web.url.split("/")[2].split(":")
        answers = []
        requests = (
            *(b"PUT / HTTP/1.1\r\n\r\n", b"GET /" + b"x" * 70_000),
            *(b"\xff\xfe\r\n\r\n", b"HEAD / HTTP/1.0\r\n\r\n"),
        )
        for request in requests:
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(request)
            writer.write_eof()
            try:
                answers.append((await asyncio.wait_for(reader.read(), 20)).split(b"\r\n", 1)[0])
            except ConnectionError:
                answers.append(b"")
            writer.close()
        return answers

    put, long, garbage, head = run(scenario, models / "low.onnx")
    assert put.startswith(b"HTTP/1.1 501")
    assert b"200" not in long + garbage
    assert b"200" in head


def test_the_page_asks_nothing_of_other_hosts(models: Path) -> None:
    async def scenario(served: Served, web: Web) -> tuple[int, str, Any]:
        return await get(web.url)

    status, page, headers = run(scenario, models / "low.onnx")
    assert status == 200
    assert "http:" not in page
    assert "https:" not in page
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


def dom(url: str, profile: Path) -> str:
    """The document that Chromium makes of a page in three seconds."""
    command = [
        *(CHROMIUM or "", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        *(f"--user-data-dir={profile}", "--virtual-time-budget=3000", "--dump-dom", url),
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_the_page_shows_streams_and_detections_in_a_browser(models: Path, tmp_path: Path) -> None:
    async def scenario(served: Served, web: Web) -> str:
        client = await served.client()
        await client.speak(int16(BOTH), stop=False)
        return await asyncio.to_thread(dom, web.url, tmp_path)

    page = run(scenario, models / "low.onnx", models / "high.onnx")
    assert "listening for low, high, at 1 microphone(s)" in page
    streams, found = page.split('<tbody id="streams">')[1].split('<tbody id="detections">')
    assert streams.count('class="meter') == 3  # the level and two words
    assert "3.5 s" in streams
    assert found.count("<td>low</td>") == found.count("<td>high</td>") == 1


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_rooms_who_answered_voices_and_labels_are_on_one_page(models: Path, tmp_path: Path) -> None:
    pairs = SavedPairs(tmp_path / "kept", 10**9)
    saved = pairs.save(Detection("low", 0.9, 1, 2, np.zeros(160)), datetime.now(UTC))
    pair = read_pair(saved.with_suffix(".json"))
    assert pair is not None
    file_pair(pair, Answer.NO, tmp_path / "kept")

    async def scenario(served: Served, web: Web) -> str:
        client = await served.client()
        await client.speak(int16(BOTH), stop=False)
        found = Found(
            served.server.words.by_name["low"], 0, Detection("low", 0.9, 1, 2, np.zeros(1), speaker="grandmother")
        )
        served.server.telemetry.found("kitchen", found)
        served.server.telemetry.found("hall", found, answered_by="kitchen")
        return await asyncio.to_thread(dom, web.url, tmp_path / "profile")

    page = run(scenario, models / "low.onnx", keeper=Keeper(tmp_path / "kept"), groups=["home=127.0.0.1"])
    for shown in (
        "(home)</td>",
        "<td>kitchen answered</td><td>grandmother</td>",
        "<td>hall, held back: kitchen answered</td>",
        "<td>not the word</td>",
    ):
        assert shown in page, shown


def test_other_networks_get_nothing(models: Path) -> None:
    async def scenario(served: Served, web: Web) -> None:
        with pytest.raises((urllib.error.URLError, ConnectionError)):
            await get(f"{web.url}healthz")

    run(scenario, models / "low.onnx", networks=tuple(networks_of(["192.0.2.0/24"])))


@pytest.mark.parametrize("path", ["", "state", "metrics", "healthz"])
def test_a_name_that_a_web_site_could_have_is_not_answered(models: Path, path: str) -> None:
    """A site whose name was made to lead to this machine is told nothing that its scripts could read."""

    async def scenario(served: Served, web: Web) -> dict[str, int]:
        answers = {
            host: await get(web.url + path, headers={"Host": host})
            for host in ("localhost:10401", "wake.example", "evil.example:10401")
        }
        assert answers["evil.example:10401"][1].startswith("expected ")
        assert len(answers["evil.example:10401"][1].splitlines()) == 1
        return {host: status for host, (status, *_) in answers.items()}

    statuses = run(scenario, models / "low.onnx", names=("wake.example",))
    assert statuses == {"localhost:10401": 200, "wake.example": 200, "evil.example:10401": 421}


@pytest.mark.parametrize(("ingress", "status", "frames"), [(False, 421, "'none'"), (True, 200, "'self'")])
def test_only_the_ingress_may_name_any_host_and_frame_the_page(
    models: Path, ingress: bool, status: int, frames: str
) -> None:
    async def scenario(served: Served, web: Web) -> tuple[int, str, Any]:
        return await get(web.url, headers={"Host": "home.example", "X-Ingress-Path": "/api/hassio_ingress/token"})

    answered, _, headers = run(scenario, models / "low.onnx", ingress=ingress)
    assert answered == status
    assert f"frame-ancestors {frames};" in headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in headers  # it would say no to every frame, or yes to what the policy forbids


class Ingress(ThreadingHTTPServer):
    """Home Assistant with an add-on: a page with a frame of the same origin, behind which is ``url``, headers and all."""

    PATH = "/api/hassio_ingress/token/"
    PAGE = f"""<!doctype html><iframe src="{PATH}"></iframe><p id="seen"></p><script>
    setInterval(() => {{
      const page = document.querySelector("iframe").contentDocument;
      document.getElementById("seen").textContent = page?.getElementById("status")?.textContent ?? "nothing";
    }}, 100);</script>"""

    KEYS = f"""<!doctype html><iframe src="{PATH}"></iframe><p id="seen"></p><script>
    const pause = () => new Promise((go) => setTimeout(go, 100));
    (async () => {{
      const frame = document.querySelector("iframe"), rows = "#events tr[data-id]";
      while (!frame.contentDocument?.querySelectorAll(rows).length) await pause();
      for (const key of decodeURIComponent(location.hash.slice(1))) {{
        frame.contentDocument.dispatchEvent(new frame.contentWindow.KeyboardEvent("keydown", {{ key }}));
        await pause();
      }}
      const found = [...frame.contentDocument.querySelectorAll(rows)];
      document.getElementById("seen").textContent = found.map((row) => row.lastChild.textContent || "-").join(", ");
    }})();</script>"""

    def __init__(self, url: str, page: str = PAGE) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if not self.path.startswith(Ingress.PATH):
                    return self.answer(200, {"Content-Type": "text/html"}, page.encode())
                where = url + self.path.removeprefix(Ingress.PATH)
                data = b"" if self.command == "POST" else None
                request = urllib.request.Request(where, data=data, headers=dict(self.headers))
                try:
                    with urllib.request.urlopen(request, timeout=20) as answer:
                        return self.answer(answer.status, dict(answer.headers), answer.read())
                except urllib.error.HTTPError as error:
                    return self.answer(error.code, dict(error.headers), error.read())

            do_POST = do_GET  # noqa: N815

            def answer(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize("ingress", [True, False])
def test_a_browser_shows_the_page_inside_home_assistant_only_behind_its_ingress(
    models: Path, tmp_path: Path, ingress: bool
) -> None:
    async def scenario(served: Served, web: Web) -> str:
        with Ingress(web.url) as home:
            threading.Thread(target=home.serve_forever, args=(0.05,), daemon=True).start()
            page = await asyncio.to_thread(dom, f"http://127.0.0.1:{home.server_port}/lovelace", tmp_path)
            home.shutdown()
        return page

    seen = run(scenario, models / "low.onnx", ingress=ingress).split('<p id="seen">')[1].split("</p>")[0]
    assert seen == ("listening for low, at 0 microphone(s)" if ingress else "nothing")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_keys_on_the_page_label_what_is_kept(models: Path, tmp_path: Path) -> None:
    """The word, not the word, skip, again, back over the skip, back over "not", and then the word."""
    pairs = SavedPairs(tmp_path / "kept", 10**9)
    now = datetime.now(UTC)
    kept = [pairs.save(Detection("low", 0.9, 1, 2, np.zeros(160)), now + timedelta(seconds=one)) for one in range(4)]

    async def scenario(served: Served, web: Web) -> str:
        with Ingress(web.url, Ingress.KEYS) as home:
            threading.Thread(target=home.serve_forever, args=(0.05,), daemon=True).start()
            page = f"http://127.0.0.1:{home.server_port}/lovelace#{quote('yns bby')}"
            seen = await asyncio.to_thread(dom, page, tmp_path / "profile")
            home.shutdown()
        return seen

    page = run(scenario, models / "low.onnx", keeper=Keeper(tmp_path / "kept"), ingress=True)
    assert page.split('<p id="seen">')[1].split("</p>")[0] == "the word, the word, -, -"
    assert sorted(path.name for path in (tmp_path / "kept" / "yes").glob("*.wav")) == [one.name for one in kept[2:]]
    assert sorted((tmp_path / "kept").glob("*.wav")) == kept[:2]
    assert list((tmp_path / "kept" / "no").iterdir()) == []


def test_two_hosts_must_both_be_own(models: Path) -> None:
    async def scenario(served: Served, web: Web) -> bytes:
        host, port = web.url.split("/")[2].split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET /state HTTP/1.0\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")
        answer = await asyncio.wait_for(reader.read(), 20)
        writer.close()
        return answer

    assert b" 421 " in run(scenario, models / "low.onnx").split(b"\r\n", 1)[0]


def test_those_that_say_nothing_keep_nobody_out_for_long(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wakeword.browser.bounded_http.REQUEST_SECONDS", 0.3)

    async def scenario(served: Served, web: Web) -> None:
        host, port = web.url.split("/")[2].split(":")
        silent = [socket.create_connection((host, int(port))) for _ in range(40)]
        try:
            async with asyncio.timeout(20):
                while True:
                    try:
                        if (await get(f"{web.url}healthz"))[0] == 200:
                            return
                    except (urllib.error.URLError, ConnectionError):
                        await asyncio.sleep(0.05)
        finally:
            for one in silent:
                one.close()

    run(scenario, models / "low.onnx")


def test_kept_connections_of_one_client_shut_nobody_out(models: Path) -> None:
    def hold(web: Web) -> list[socket.socket]:
        """Connections that stay, but for those that the server closes at once for the next ones."""
        place = urlsplit(web.url)
        held = [socket.create_connection((place.hostname or "", place.port or 0), timeout=20) for _ in range(40)]
        for one in held:
            with suppress(OSError):  # already closed for another
                one.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
                one.recv(65_536)
        return held

    async def scenario(served: Served, web: Web) -> list[int]:
        held = await asyncio.to_thread(hold, web)
        answers = [(await get(f"{web.url}{path}"))[0] for path in ("healthz", "metrics", "") * 3]
        for one in held:
            one.close()
        return answers

    assert run(scenario, models / "low.onnx") == [200] * 9


def test_a_door_is_made_by_the_client_that_has_most() -> None:
    doors = Doors()
    pairs = [socket.socketpair() for _ in range(MAX_CONNECTIONS + 1)]
    mine, guest, *others = [server for server, _ in pairs]
    assert doors.enter(mine, "192.0.2.1")
    for one in others:
        assert doors.enter(one, "192.0.2.2")
    doors.answered(others[0])
    assert doors.enter(guest, "127.0.0.1")
    closed = []
    for index, (_, client) in enumerate(pairs):
        client.setblocking(False)
        with suppress(BlockingIOError):
            assert client.recv(1) == b""
            closed.append(index)
    assert closed == [3]  # of 192.0.2.2, the longest without an answer
    for ends in pairs:
        for one in ends:
            one.close()


def test_those_that_trickle_a_request_are_left(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wakeword.browser.bounded_http.REQUEST_SECONDS", 0.5)

    async def scenario(served: Served, web: Web) -> None:
        host, port = web.url.split("/")[2].split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET / HTTP/1.1\r\nX: ")
        left = asyncio.ensure_future(reader.read())
        async with asyncio.timeout(20):
            while not left.done():
                writer.write(b"x")  # far fewer bytes than a header may have
                await asyncio.sleep(0.02)
        with suppress(ConnectionError):
            assert await left == b""
        writer.close()

    run(scenario, models / "low.onnx")


def test_a_body_is_not_taken_for_a_request(models: Path) -> None:
    async def scenario(served: Served, web: Web) -> bytes:
        host, port = web.url.split("/")[2].split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        body = b"GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n"
        writer.write(b"GET /healthz HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        answered = b""
        with suppress(ConnectionError):  # the end of a connection of which not everything was read
            while data := await asyncio.wait_for(reader.read(65_536), 20):
                answered += data
        writer.close()
        return answered

    assert run(scenario, models / "low.onnx").count(b"HTTP/1.1 ") == 1


def test_a_loop_that_hangs_is_not_healthy(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wakeword_serve.status_pages._LOOP_SECONDS", 0.1)

    async def scenario(served: Served, web: Web) -> None:
        asked = asyncio.ensure_future(get(f"{web.url}healthz"))
        await asyncio.sleep(0)
        # The loop is busy, as with a network that hangs.
        time.sleep(1.5)
        assert (await asked)[0] == 503

    run(scenario, models / "low.onnx")
