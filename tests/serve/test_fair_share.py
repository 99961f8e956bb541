"""What one client may take: never more than a clock allows, and no other address's turn."""

import asyncio
import logging
import sys
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.builders import bursts

pytest.importorskip("wyoming", reason="needs the packages of pip install '.[serve]'")

from support.served import LOW, Served, int16, serving, until
from support.served_web import get, run
from wyoming.event import Event

from wakeword_serve import fair_share
from wakeword_serve.client_stream import ListeningStream, StreamSettings
from wakeword_serve.connection import Connection, TimeLimits
from wakeword_serve.fair_share import AHEAD, FLUSH_SECONDS, PACE, ROOMS, Allowance, FairTurns, Share
from wakeword_serve.hours import HeardHours
from wakeword_serve.status_pages import Web
from wakeword_serve.wire import encode
from wakeword_serve.wire_audio import PcmFormat
from wakeword_serve.words import WordSettings, load_word


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
    held = list[float]()
    share = Share(FairTurns(), "192.0.2.1:5000", is_paced=is_paced, on_held=held.append)
    began = clock.now

    async def hour() -> None:
        for _ in range(7_200):
            await share.turn(0.5)

    asyncio.run(hour())
    assert sum(held) == pytest.approx(clock.now - began)
    assert clock.now - began == pytest.approx(expected, abs=1)


def test_a_client_in_real_time_never_waits(clock: Clock) -> None:
    held = list[float]()
    share = Share(FairTurns(), "192.0.2.1:5000", is_paced=True, on_held=held.append)

    async def listen() -> None:
        for _ in range(10_000):
            clock.now += 0.01
            await share.turn()
            await share.turn(0.01)

    asyncio.run(listen())
    assert held == []


def test_the_event_loop_goes_round_by_address_too() -> None:
    """However many connections work in it, another address waits for one of them at a time, and loses no turn for it."""
    order = list[str]()

    async def work(turns: FairTurns, address: str, times: int) -> None:
        share = Share(turns, f"{address}:5000")
        for _ in range(times):
            await share.turn()
            order.append(address)
            share._until = 0.0  # the slice is over

    async def contend() -> None:
        turns = FairTurns()
        flood = [asyncio.create_task(work(turns, f"192.0.2.{9 + one % 3}", 20)) for one in range(120)]
        await asyncio.sleep(0.001)
        await work(turns, "192.0.2.1", 20)
        for one in flood:
            one.cancel()

    asyncio.run(contend())
    places = [number for number, one in enumerate(order) if one == "192.0.2.1"]
    assert len(places) == 20
    assert places[-1] - places[0] <= 4 * 20 + 4
    assert len([one for one in order[: places[0]] if one != "192.0.2.1"]) < 120


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
def test_a_flood_of_events_of_any_kind_holds_up_no_other_address(
    models: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    answered = Counter[str]()
    answer = Connection._answer

    async def counted(connection: Connection, event: Event) -> None:
        answered[connection._share.address] += 1
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

    # A turn is a millisecond; by connections it would be 16 kB of each of the forty.
    assert asyncio.run(scenario()) < 30_000


@pytest.mark.parametrize(
    ("peer", "client"), [("2001:db8::7:5000", "2001:db8::/64"), ("::ffff:10.0.0.7:5000", "10.0.0.7")]
)
def test_one_client_has_one_share_whatever_addresses_it_gives_itself(peer: str, client: str) -> None:
    turns = FairTurns()
    for one in (peer, peer, "10.0.0.9:5000"):
        Share(turns, one)
    assert turns.connections == {client: 2, "10.0.0.9": 1}


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
    """Audio may be sent much faster than it was recorded."""
    word = load_word(models / "low.onnx", WordSettings())
    hours = HeardHours(tmp_path, print)
    settings = StreamSettings(100, 0.5, hours=hours)
    stream = ListeningStream([word], PcmFormat(16_000, 2, 1), settings, Share(FairTurns()))
    sound = int16(bursts(180, {}))
    began = clock.now

    async def listen() -> None:
        for start in range(0, len(sound), 8_000):
            clock.now += len(sound[start : start + 8_000]) / 16_000 / speed
            await stream.push(sound[start : start + 8_000].tobytes(), None)
        await stream.finish()

    asyncio.run(listen())
    hours.close()
    passed = clock.now - began
    (heard,) = hours.totals().values()
    assert heard.seconds <= passed + 1e-6
    if speed <= 1:
        assert heard.seconds == pytest.approx(180, abs=1)


def test_the_streams_of_one_address_are_no_more_rooms_than_a_house_has(
    models: Path, tmp_path: Path, clock: Clock
) -> None:
    """Silence on many connections makes no more; where something woke, none are of a client that nothing woke."""
    word = load_word(models / "low.onnx", WordSettings())
    hours = HeardHours(tmp_path, print)
    settings, turns = StreamSettings(100, 0.5, hours=hours), FairTurns()
    pcm = PcmFormat(16_000, 2, 1)
    shares = [Share(turns, f"192.0.2.9:{port}") for port in range(3 * ROOMS)]
    streams = [ListeningStream([word], pcm, settings, share) for share in shares]

    async def listen(streams: list[ListeningStream], seconds: int) -> None:
        for _ in range(2 * seconds):
            clock.now += 0.5
            for stream in streams:
                await stream.push(bytes(16_000), None)

    asyncio.run(listen(streams, 20))
    assert sum(one.seconds for one in hours.totals().values()) == pytest.approx(20 * ROOMS, abs=ROOMS)
    # A place that is left is free for another.
    shares[0].close()
    asyncio.run(listen(streams[-1:], 20))
    assert sum(one.seconds for one in hours.totals().values()) == pytest.approx(20 * ROOMS + 20, abs=ROOMS)
    hours.add("low", word.threshold, 60.0, wakes=1, client="10.0.0.1")
    (heard,) = hours.totals().values()
    assert (heard.seconds, heard.wakes) == (60.0, 1)
    hours.close()


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


@pytest.mark.parametrize(
    ("streams", "faster", "expected"),
    [
        ({"10.0.0.1": 2}, 1, 2.0),
        ({"10.0.0.1": ROOMS + 1}, 1, 2.0),  # where there is no other, it is a house of many rooms
        ({"10.0.0.1": 2, "10.0.0.2": ROOMS + 1}, 1, 0.1),
        ({"10.0.0.1": 2, "10.0.0.2": 2}, 9, 0.1),
    ],
)
def test_the_load_is_what_streams_in_real_time_feel(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, streams: dict[str, int], faster: int, expected: float
) -> None:
    """Waiting and work for a second of audio, where the last of the clients waits long."""

    async def listen() -> float | None:
        turns = FairTurns()
        for address, number in streams.items():
            slow = address == list(streams)[-1]
            for _ in range(number):
                share = Share(turns, f"{address}:5000")
                share._until = clock.now + 9
                seconds = 5.0 * (faster if slow and len(streams) > 1 else 1)
                await share.turn(seconds)
                turns._worked[share.client] += seconds * (2.0 if slow else 0.1)
        clock.now += 5
        return turns.load()

    assert asyncio.run(listen()) == pytest.approx(expected)


def test_the_end_of_a_stream_is_work_for_as_much_audio(models: Path) -> None:
    word = load_word(models / "low.onnx", WordSettings())

    async def listen() -> float:
        turns = FairTurns()
        stream = ListeningStream([word], PcmFormat(16_000, 2, 1), StreamSettings(100, 0.5), Share(turns))
        for _ in range(10):
            await stream.finish()
        return turns.heard[""]

    assert asyncio.run(listen()) == pytest.approx(10 * FLUSH_SECONDS)


@pytest.mark.skipif(sys.platform != "linux", reason="needs to know that a client has left")
def test_a_client_that_has_left_holds_no_connection_while_it_is_ahead(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wakeword_serve.server.is_loopback", lambda address: False)

    async def scenario() -> None:
        async with serving(models / "low.onnx", times=TimeLimits(event=0.2)) as served:
            client = await served.client()
            minute = Event("audio-chunk", {"rate": 8_000, "width": 1, "channels": 1}, bytes(60 * 8_000))
            await client.send_raw(encode(minute) + encode(minute)[:-1])
            await until(lambda: served.count("wakeword_connections") == 1)
            client.reset()
            await until(lambda: served.count("wakeword_connections") == 0)

    asyncio.run(scenario())


def test_a_chunk_has_a_minute_at_most(models: Path) -> None:
    """It waits as a whole: of a longer one the slot would be held for long after the client has left."""

    async def scenario() -> list[Event]:
        async with serving(models / "low.onnx") as served:
            client = await served.client()
            await client.send(Event("audio-chunk", {"rate": 8_000, "width": 1, "channels": 1}, bytes(61 * 8_000)))
            return await client.rest()

    (error,) = asyncio.run(scenario())
    assert error.data["text"] == "expected up to 60 s in a chunk, got 61 s"


@pytest.mark.skipif(sys.platform != "linux", reason="needs to know that a client has left")
def test_a_client_that_sends_no_more_gets_its_answers(models: Path) -> None:
    async def scenario() -> list[Event]:
        async with serving(models / "low.onnx", times=TimeLimits(event=5)) as served:
            client = await served.client()
            await client.chunks(int16(LOW))
            await client.send(Event("audio-stop"))
            client.writer.write_eof()
            return await client.rest()

    assert [one.type for one in asyncio.run(scenario())] == ["detection"]


def test_what_clients_wait_for_is_counted(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server takes who comes from another machine for one that may have to wait."""
    monkeypatch.setattr("wakeword_serve.server.is_loopback", lambda address: False)
    monkeypatch.setattr("wakeword_serve.fair_share.AHEAD", 1.0)

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
            turn = turns._threads._waiting[0][-1]
            gate.set()
            while not turn.done():
                await asyncio.sleep(0)
            given_up.cancel()
            found = await asyncio.wait_for(last, 5)
            await first
            return found

    assert asyncio.run(scene()) == "worked"
