"""``wakeword serve`` as a whole: its place, its end, its log, and what it says without the extra."""

import inspect
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
import soundfile

pytest.importorskip("wyoming", reason="needs the packages of pip install '.[serve]'")

from support.served import LOW, int16
from wyoming.audio import AudioChunk
from wyoming.event import Event, read_event
from wyoming.info import Describe

from wakeword.cli.app import COMMANDS
from wakeword_serve.wire import encode

LIMIT_SECONDS = 8.0
"""One second on an idle machine; tests may run on one that is not."""


class Running:
    """A server in a process of its own."""

    def __init__(self, process: "subprocess.Popen[bytes]", ready: str) -> None:
        self.process, self.ready = process, ready

    def port(self) -> int:
        found = re.search(r"tcp://127\.0\.0\.1:(\d+)", self.ready)
        assert found is not None, self.ready
        return int(found[1])

    def end(self, number: int = signal.SIGTERM) -> tuple[int, float, str]:
        """Exit status, seconds until the end, and the rest of the log."""
        assert self.process.stderr is not None
        began = time.monotonic()
        self.process.send_signal(number)
        status = self.process.wait(timeout=30)
        return status, time.monotonic() - began, self.process.stderr.read().decode()


@contextmanager
def running(*arguments: str | Path) -> Iterator[Running]:
    command = [sys.executable, "-m", "wakeword", "serve", *map(str, arguments)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ)
    ) as process:
        try:
            assert process.stderr is not None
            lines = []
            for line in process.stderr:
                lines.append(line.decode())
                if "serving " in lines[-1]:
                    break
            yield Running(process, "".join(lines))
        finally:
            process.kill()


def test_a_folder_without_a_model_is_served_with_a_warning_that_says_what_to_do(tmp_path: Path) -> None:
    with running("--models", tmp_path, "--uri", "tcp://127.0.0.1:0") as served:
        assert "serving nothing yet at tcp://" in served.ready
        _, _, rest = served.end()
    assert f"{tmp_path}: expected a model that can be used, found none; copy a model file there" in rest


def answers(connection: socket.socket, *events: Event, last: str) -> list[Event]:
    """The answers to events, up to one of this type."""
    connection.settimeout(30)
    connection.sendall(b"".join(map(encode, events)))
    found = list[Event]()
    with connection.makefile("rb") as file:
        while not found or found[-1].type != last:
            event = read_event(file)
            assert event is not None, "the connection was closed"
            found.append(event)
    return found


def chunks() -> list[Event]:
    audio = int16(LOW).tobytes()
    return [AudioChunk(16_000, 2, 1, audio[at : at + 2_560]).event() for at in range(0, len(audio), 2_560)]


def test_detections_over_tcp_are_saved_whole_when_it_is_ended(models: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    with (
        running("--uri", "tcp://127.0.0.1:0", "--models", models, "--save", saved) as server,
        socket.create_connection(("127.0.0.1", server.port())) as connection,
    ):
        *_, found = answers(connection, *chunks(), last="detection")
        assert found.data["name"] == "low"
        status, seconds, log = server.end()
    assert status == 0
    assert seconds < LIMIT_SECONDS
    (data,) = saved.glob("*.json")
    content = json.loads(data.read_text())
    assert content["keyword"] == "low"
    # The pre-roll would begin before the stream.
    assert soundfile.info(saved / content["audio"]).duration == pytest.approx(content["end"])
    (line,) = [line for line in log.splitlines() if "detected" in line]
    assert re.search(r"^[^a-z]+ detected 'low' at \d\.\d+ s, score \d\.\d+, from 127\.0\.0\.1:\d+$", line)
    assert len(list(saved.iterdir())) == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_in_the_middle_of_streams(models: Path, number: int) -> None:
    with running("--uri", "tcp://127.0.0.1:0", "--model", models / "low.onnx", "--http", "127.0.0.1:0") as server:
        connections = [socket.create_connection(("127.0.0.1", server.port())) for _ in range(5)]
        for connection in connections:
            answers(connection, *chunks(), Describe().event(), last="info")
            connection.sendall(encode(chunks()[0])[:-5])
        status, seconds, log = server.end(number)
        for connection in connections:
            connection.close()
    assert status == 0
    assert seconds < LIMIT_SECONDS
    assert "Traceback" not in log


def test_a_model_that_is_dropped_into_the_folder_appears(models: Path, tmp_path: Path) -> None:
    folder = tmp_path / "words"
    folder.mkdir()
    (folder / "damaged.onnx").write_bytes(b"no model")
    with running("--uri", "tcp://127.0.0.1:0", "--models", folder) as server:
        assert "damaged.onnx" in server.ready
        with socket.create_connection(("127.0.0.1", server.port())) as connection:
            (folder / "low.onnx").write_bytes((models / "low.onnx").read_bytes())
            deadline, names = time.monotonic() + 30, list[str]()
            while names != ["low"] and time.monotonic() < deadline:
                *_, info = answers(connection, Describe().event(), last="info")
                names = [model["name"] for model in info.data["wake"][0]["models"]]
                time.sleep(0.1)
            assert names == ["low"]
            *_, found = answers(connection, *chunks(), last="detection")
            assert found.data["name"] == "low"


@pytest.mark.parametrize(
    ("options", "open_to"), [(("--allow", "192.0.2.0/24"), "http"), (("--http-allow", "192.0.2.0/24"), "tcp")]
)
def test_each_side_is_narrowed_by_its_own_option(models: Path, options: tuple[str, ...], open_to: str) -> None:
    with running(
        "--uri", "tcp://127.0.0.1:0", "--http", "0.0.0.0:0", "--model", models / "low.onnx", *options
    ) as server:
        found = re.search(r"http://0\.0\.0\.0:(\d+)/", server.ready)
        assert found is not None
        with socket.create_connection(("127.0.0.1", int(found[1]))) as connection:
            connection.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
            with suppress(ConnectionError):
                assert connection.recv(100).startswith(b"HTTP/1.1 200") == (open_to == "http")
        with socket.create_connection(("127.0.0.1", server.port())) as connection:
            last = "info" if open_to == "tcp" else "error"
            assert answers(connection, Describe().event(), last=last)[-1].type == last
        log = server.end()[2]
    # Who narrows only the side of words is told what the page shows.
    assert ("--http-allow" in log) == (open_to == "http")


def test_behind_an_ingress_nobody_else_is_answered(models: Path) -> None:
    with running(
        "--uri", "tcp://127.0.0.1:0", "--http", "127.0.0.1:0", "--http-ingress", "--model", models / "low.onnx"
    ) as server:
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", server.ready)
        assert found is not None
        with socket.create_connection(("127.0.0.1", int(found[1]))) as connection, suppress(ConnectionError):
            connection.settimeout(30)
            connection.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
            assert connection.recv(100) == b""
        assert server.end()[0] == 0


def test_only_this_machine_can_connect_by_default() -> None:
    options = inspect.signature(COMMANDS["serve"].load()).parameters
    assert options["uri"].default == "tcp://127.0.0.1:10400"
    assert options["http"].default is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *((("--uri", uri), "expected --uri tcp://HOST:PORT") for uri in ("", "http://a:1", "tcp://:1", "tcp://a:x")),
        (("--uri", "unix:///run/wake.sock"), "expected --uri tcp://HOST:PORT"),
        (("--http", "10401"), "expected --http"),
        (("--http", "127.0.0.1:0", "--http-name", "a.example:80"), "expected --http-name"),
        (("--allow", "home"), "expected --allow"),
        (("--group", "kitchen"), "expected --group NAME=ADDRESS"),
        (("--group", "a=10.0.0.1", "--group", "b=10.0.0.0/8"), "expected each address in one --group"),
        (("--http", "127.0.0.1:0", "--http-allow", "home"), "expected --http-allow"),
        (("--keyword", "marvellous"), "no model"),
        (("--models", "no-such-folder"), "expected a folder"),
        (("--zeroconf", "--uri", "tcp://127.0.0.1:0"), "others can reach"),
    ],
)
def test_wrong_options_are_one_line_and_status_1(cli, models: Path, arguments: tuple[str, ...], message: str) -> None:
    shown = cli("serve", "--model", models / "low.onnx", *arguments)
    assert shown.status == 1
    (line,) = [line for line in shown.err.splitlines() if "warning" not in line and "serving" not in line]
    assert message in line


@pytest.mark.parametrize(
    "arguments",
    [
        ("--threshold", "0.5", "--point", "fpr=0.03"),
        ("--http-name", "a.example"),
        ("--http-allow", "192.168.1.0/24"),
        ("--http-ingress",),
        ("--http", "0.0.0.0:0", "--http-ingress", "--http-allow", "192.168.1.0/24"),
        ("--http", "0.0.0.0:0", "--http-ingress", "--http-name", "a.example"),
        ("--zeroconf-name", "a"),
        ("--threads", "-1"),
    ],
)
def test_options_that_contradict_each_other_are_refused(cli, arguments: tuple[str, ...]) -> None:
    assert cli("serve", *arguments).status == 2


def test_without_the_extra_it_says_what_to_install(cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "wyoming" else find_spec(name))
    shown = cli("serve")
    assert shown.status == 1
    (line,) = shown.err.splitlines()
    assert 'pip install "wakeword[serve]"' in line
