"""What one client may take: never more than a clock allows, and no other address's turn."""

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.builders import bursts

pytest.importorskip("wyoming", reason="needs the packages of pip install '.[serve]'")

from support.served import Served, int16, serving, until
from support.served_web import get, run

from wakeword.saving.ambient_keeper import AmbientKeeper
from wakeword.saving.ambient_segment import segments_of
from wakeword.saving.hours import HeardHours
from wakeword.serve import fair_share
from wakeword.serve.client_stream import ListeningStream, StreamSettings
from wakeword.serve.fair_share import AHEAD, PACE, Allowance, FairTurns, Share
from wakeword.serve.status_pages import Web
from wakeword.serve.wire_audio import PcmFormat
from wakeword.serve.words import WordSettings, load_word


class Clock:
    """Seconds that pass when a test lets them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        monkeypatch.setattr("wakeword.serve.fair_share.monotonic", lambda: self.now)

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_taken_is_never_more_than_the_clock_allows(clock: Clock, seed: int) -> None:
    rng = np.random.default_rng(seed)
    allowance, began, taken = Allowance(1.5, 10, saved=4), clock.now, 0.0
    for _ in range(500):
        clock.now += float(rng.exponential(1))
        wanted = float(rng.exponential(2))
        lacking = allowance.take(wanted)
        assert 0 <= lacking <= wanted
        taken += wanted - lacking
        assert taken <= 4 + 1.5 * (clock.now - began) + 1e-6
        assert 0 <= allowance.saved <= 10


@pytest.mark.parametrize(("is_paced", "expected"), [(True, (3_600 - AHEAD) / PACE), (False, 0)])
def test_a_client_of_another_machine_waits_once_it_is_half_a_minute_ahead(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, is_paced: bool, expected: float
) -> None:
    monkeypatch.setattr(fair_share.asyncio, "sleep", clock.sleep)
    share = Share(FairTurns(), "192.0.2.1:5000", is_paced=is_paced)
    began = clock.now

    async def hour() -> float:
        return sum([await share.wait(0.5) for _ in range(7_200)])

    assert asyncio.run(hour()) == pytest.approx(clock.now - began)
    assert clock.now - began == pytest.approx(expected, abs=1)


def test_a_client_in_real_time_never_waits(clock: Clock) -> None:
    share = Share(FairTurns(), "192.0.2.1:5000", is_paced=True)

    async def listen() -> None:
        for _ in range(10_000):
            clock.now += 0.064
            assert await share.wait(0.064) == 0

    asyncio.run(listen())


def test_many_connections_of_one_address_take_no_turn_of_another() -> None:
    """Whoever came later and asks for less waits for what has begun alone."""
    release, order = threading.Event(), list[str]()

    def work(address: str) -> Callable[[], None]:
        def done() -> None:
            assert release.wait(20)
            order.append(address)

        return done

    async def contend(executor: ThreadPoolExecutor) -> None:
        turns = FairTurns(executor, 1)
        flood = [asyncio.create_task(turns.run(work("flood"), 0.16, "192.0.2.9")) for _ in range(100)]
        await asyncio.sleep(0.05)
        good = [asyncio.create_task(turns.run(work("good"), 0.16, "192.0.2.1")) for _ in range(3)]
        await asyncio.sleep(0.05)
        release.set()
        await asyncio.gather(*flood, *good)

    with ThreadPoolExecutor(1) as executor:
        asyncio.run(contend(executor))
    assert len(order) == 103
    places = [number for number, one in enumerate(order) if one == "good"]
    assert places[0] <= 3
    assert places[2] <= 8


def test_turns_outlive_work_that_fails_and_clients_that_leave() -> None:
    def fail() -> None:
        raise OSError("expected")

    async def contend(executor: ThreadPoolExecutor) -> int:
        turns = FairTurns(executor, 1)
        tasks = [asyncio.create_task(turns.run(fail, 1.0, str(number))) for number in range(20)]
        await asyncio.sleep(0)
        for task in tasks[5:10]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return await asyncio.wait_for(turns.run(lambda: 7, 1.0, "x"), 20)

    with ThreadPoolExecutor(1) as executor:
        assert asyncio.run(contend(executor)) == 7


@pytest.mark.parametrize("speed", [0.5, 1.0, 1.5, 1_000.0])
def test_no_more_hours_are_counted_than_have_passed(models: Path, tmp_path: Path, clock: Clock, speed: float) -> None:
    """Neither those of a promise, nor those of a room: audio may be sent much faster than it was recorded."""
    word = load_word(models / "low.onnx", WordSettings())
    hours, ambient = HeardHours(tmp_path, print), AmbientKeeper(tmp_path / "ambient")
    settings = StreamSettings(100, 0.5, hours=hours, windows=ambient.stream)
    stream = ListeningStream([word], PcmFormat(16_000, 2, 1), settings, Share(FairTurns()))
    sound = int16(bursts(180, {}))
    began = clock.now

    async def listen() -> None:
        for start in range(0, len(sound), 8_000):
            clock.now += len(sound[start : start + 8_000]) / 16_000 / speed
            await stream.push(sound[start : start + 8_000].tobytes(), None)
        await stream.finish()

    asyncio.run(listen())
    ambient.close()
    hours.close()
    passed = clock.now - began
    (heard,) = hours.totals().values()
    kept = 0.0
    for path in (tmp_path / "ambient").glob("*.npz"):
        with np.load(path) as arrays:
            kept += sum(one.samples for one in segments_of(arrays)) / 16_000
    assert heard.seconds <= passed + 1e-6
    assert kept <= passed + 1e-6
    if speed <= 1:
        assert heard.seconds == pytest.approx(180, abs=1)
        assert kept == pytest.approx(180, abs=1)


def test_an_overload_is_logged_counted_and_told(
    models: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(FairTurns, "load", lambda turns: 2.5)

    async def scenario(served: Served, web: Web) -> tuple[Any, Any]:
        await until(lambda: served.count("wakeword_overload_total") >= 2)
        return await get(f"{web.url}healthz"), await get(f"{web.url}metrics")

    with caplog.at_level(logging.WARNING, "wakeword.serve"):
        health, metrics = run(scenario, models / "low.onnx")
    assert health[:2] == (200, "ok: 1 word(s), overload: streams wait 2.5 s for a second of audio\n")
    assert "wakeword_load 2.5\n" in metrics[1]
    assert 1 <= len([one for one in caplog.records if getattr(one, "code", "") == "overload"]) <= 5


def test_the_load_is_waiting_and_work_for_a_second_of_audio(clock: Clock) -> None:
    turns = FairTurns()
    share = Share(turns)

    def work() -> None:
        clock.now += 0.32

    async def listen() -> list[float | None]:
        found = []
        for _ in range(40):
            await share.wait(0.16)
            await share.run(work, 0.16)
            found.append(turns.load())
        return found

    measured = [one for one in asyncio.run(listen()) if one is not None]
    assert measured == pytest.approx([2.0, 2.0])


def test_what_clients_wait_for_is_counted(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server takes who comes from another machine for one that may have to wait."""
    monkeypatch.setattr("wakeword.serve.server.is_loopback", lambda address: False)
    monkeypatch.setattr("wakeword.serve.fair_share.AHEAD", 1.0)

    async def scenario() -> float:
        async with serving(models / "low.onnx") as served:
            client = await served.client()
            await client.speak(int16(bursts(2.5, {})))
            return served.count("wakeword_held_seconds_total")

    assert 0.5 < asyncio.run(scenario()) < 5


def test_a_turn_that_was_cancelled_as_it_came_is_the_next_ones() -> None:
    async def scene() -> str:
        with ThreadPoolExecutor(1) as executor:
            turns, gate = FairTurns(executor, threads=0), threading.Event()
            first = asyncio.create_task(turns.run(gate.wait, 1.0, "a"))
            await asyncio.sleep(0)
            given_up = asyncio.create_task(turns.run(lambda: "", 1.0, "b"))
            await asyncio.sleep(0)
            last = asyncio.create_task(turns.run(lambda: "worked", 1.0, "c"))
            await asyncio.sleep(0)
            turn = turns._waiting[0][-1]
            gate.set()
            while not turn.done():
                await asyncio.sleep(0)
            given_up.cancel()
            found = await asyncio.wait_for(last, 5)
            await first
            return found

    assert asyncio.run(scene()) == "worked"
