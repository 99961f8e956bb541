"""What one connection may take: never more than a clock allows, and no other one's turn."""

import asyncio
import logging
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.builders import bursts

pytest.importorskip("wyoming", reason="needs the packages of pip install '.[serve]'")

from support.served import LOW, Served, int16, serving, until
from support.served_web import get, run
from wyoming.event import Event

from wakeword.cli.options import PointOptions
from wakeword_serve import fair_share
from wakeword_serve.client_stream import ListeningStream, StreamSettings
from wakeword_serve.connection import Connection, TimeLimits
from wakeword_serve.fair_share import AHEAD, FLUSH_SECONDS, PACE, ClientBudget, ScoringThreads
from wakeword_serve.status_pages import Web
from wakeword_serve.wire import encode
from wakeword_serve.wire_audio import PcmFormat
from wakeword_serve.words import load_word


class Clock:
    """Seconds that pass when a test lets them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        monkeypatch.setattr("wakeword_serve.fair_share.monotonic", lambda: self.now)

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_taken_is_never_more_than_the_clock_allows(clock: Clock, seed: int) -> None:
    random = np.random.default_rng(seed)
    budget, began, taken = ClientBudget(ScoringThreads()), clock.now, 0.0
    for _ in range(500):
        clock.now += float(random.exponential(1))
        wanted = float(random.exponential(2))
        lacking = budget._take(wanted)
        assert 0 <= lacking <= wanted
        taken += wanted - lacking
        assert taken <= AHEAD + PACE * (clock.now - began) + 1e-6
    clock.now += 3_600
    assert budget._take(3 * AHEAD) == pytest.approx(2 * AHEAD)  # what an hour brought, but for a part, is not saved


@pytest.mark.parametrize(("is_paced", "expected"), [(True, (3_600 - AHEAD) / PACE), (False, 0)])
def test_a_client_of_another_machine_waits_once_it_is_half_a_minute_ahead(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, is_paced: bool, expected: float
) -> None:
    monkeypatch.setattr(fair_share.asyncio, "sleep", clock.sleep)
    share = ClientBudget(ScoringThreads(), "192.0.2.1:5000", is_paced=is_paced)
    began = clock.now

    async def hour() -> None:
        for _ in range(7_200):
            await share.turn(0.5)

    asyncio.run(hour())
    assert clock.now - began == pytest.approx(expected, abs=1)


def test_a_client_in_real_time_never_waits(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_share.asyncio, "sleep", clock.sleep)
    share = ClientBudget(ScoringThreads(), "192.0.2.1:5000", is_paced=True)
    began = clock.now

    async def listen() -> None:
        for _ in range(10_000):
            clock.now += 0.01
            await share.turn()
            await share.turn(0.01)

    asyncio.run(listen())
    assert clock.now - began == pytest.approx(100)


def test_the_threads_take_connections_in_turn() -> None:
    """However many work in them, another one waits for a piece of each at most."""
    order = list[str]()

    async def work(threads: ScoringThreads, name: str, times: int) -> None:
        for _ in range(times):
            await threads.run(lambda: order.append(name))

    async def contend(executor: ThreadPoolExecutor) -> None:
        threads = ScoringThreads(executor)
        flood = [asyncio.create_task(work(threads, "flood", 10**6)) for _ in range(40)]
        await asyncio.sleep(0.05)
        before = len(order)
        await work(threads, "good", 10)
        for one in flood:
            one.cancel()
        await asyncio.gather(*flood, return_exceptions=True)
        places = [number for number, one in enumerate(order) if one == "good"]
        assert len(places) == 10
        assert max(np.diff([before, *places])) <= 3 * 40

    with ThreadPoolExecutor(1) as executor:
        asyncio.run(contend(executor))


KINDS = {
    "unknown": Event("nonsense"),
    "describe": Event("describe"),
    "tiny": Event("audio-chunk", {"rate": 16_000, "width": 2, "channels": 1}, b"\0\0"),
    "stop": Event("audio-stop"),
    "ping": Event("ping"),
    "detect": Event("detect", {"names": ["low"]}),
}


@pytest.mark.skipif(sys.platform != "linux", reason="needs a second address of this machine")
@pytest.mark.parametrize("kind", KINDS)
def test_a_flood_of_events_of_any_kind_holds_up_no_other_connection(
    models: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    answered = Counter[str]()
    answer = Connection._answer

    async def counted(connection: Connection, event: Event) -> None:
        answered[connection.share.address] += 1
        await answer(connection, event)

    monkeypatch.setattr(Connection, "_answer", counted)

    async def scenario() -> int:
        async with serving(models / "low.onnx") as served:
            flood = [await served.client("127.0.0.9") for _ in range(40)]
            for one in flood:
                one.writer.write(encode(KINDS[kind]) * 3_000)
            await until(lambda: answered["127.0.0.9"] > 100)
            client = await served.client("127.0.0.2")
            before = answered["127.0.0.9"]
            for _ in range(20):
                await client.describe()
            for one in flood:
                one.reset()
            return answered["127.0.0.9"] - before

    assert asyncio.run(scenario()) < 30_000


def test_an_overload_is_logged_and_told(
    models: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ScoringThreads, "load", lambda threads: 2.5)

    async def scenario(served: Served, web: Web) -> tuple[Any, Any]:
        await until(lambda: served.server.load)
        return await get(f"{web.url}healthz"), await get(f"{web.url}metrics")

    with caplog.at_level(logging.WARNING, "wakeword.serve"):
        health, metrics = run(scenario, models / "low.onnx")
    assert health[:2] == (200, "ok: 1 word, overload: streams wait 2.5 s for a second of audio\n")
    assert "wakeword_load 2.5\n" in metrics[1]
    assert 1 <= len([line for line in caplog.messages if line.startswith("overload of all streams")]) <= 5


def test_the_load_is_waiting_and_work_for_a_second_of_audio(clock: Clock) -> None:
    class Slow(Executor):
        def submit(self, work: Callable[..., Any], *arguments: Any, **named: Any) -> "Future[Any]":
            clock.now += 3.0
            done = Future[Any]()
            done.set_result(work(*arguments, **named))
            return done

    async def listen() -> tuple[int, list[float | None]]:
        threads = ScoringThreads(Slow())
        shares = [ClientBudget(threads, f"10.0.0.{number}:5000") for number in range(2)]
        loads = [threads.load()]
        for share in shares:
            await share.turn(2.0)
            found = await threads.run(lambda: 7)
        loads += [threads.load(), threads.load()]
        clock.now += 5.0
        return found, [*loads, threads.load()]

    assert asyncio.run(listen()) == (7, [None, pytest.approx(6.0 / 4.0), None, 0.0])


def test_the_end_of_a_stream_is_work_for_as_much_audio(models: Path) -> None:
    word = load_word(models / "low.onnx", PointOptions())

    async def listen() -> float:
        threads = ScoringThreads()
        stream = ListeningStream([word], PcmFormat(16_000, 1), StreamSettings(100, 0.5), ClientBudget(threads))
        for _ in range(10):
            await stream.finish()
        return threads.heard

    assert asyncio.run(listen()) == pytest.approx(10 * FLUSH_SECONDS)


def test_a_chunk_has_a_minute_at_most(models: Path) -> None:
    """It waits as a whole: of a longer one the slot would be held for long after the client has left."""

    async def scenario() -> list[Event]:
        async with serving(models / "low.onnx") as served:
            client = await served.client()
            await client.send(Event("audio-chunk", {"rate": 8_000, "width": 2, "channels": 1}, bytes(61 * 16_000)))
            return await client.rest()

    (error,) = asyncio.run(scenario())
    assert error.data["text"] == "expected up to 60 s in a chunk, got 61 s"


def test_a_client_that_sends_no_more_gets_its_answers(models: Path) -> None:
    async def scenario() -> list[Event]:
        async with serving(models / "low.onnx", times=TimeLimits(event=5)) as served:
            client = await served.client()
            await client.chunks(int16(LOW))
            await client.send(Event("audio-stop"))
            client.writer.write_eof()
            return await client.rest()

    assert [one.type for one in asyncio.run(scenario())] == ["detection"]


def test_a_server_paces_who_comes_from_another_machine(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wakeword_serve.fair_share.AHEAD", 1.0)

    async def scenario() -> float:
        async with serving(models / "low.onnx") as served:
            client = await served.client()
            began = time.monotonic()
            await client.speak(int16(bursts(2.5, {})))
            return time.monotonic() - began

    assert asyncio.run(scenario()) < 0.9
    monkeypatch.setattr("wakeword_serve.server.is_loopback", lambda address: False)
    assert asyncio.run(scenario()) > 0.9
