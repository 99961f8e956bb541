"""Events as bytes: all of them come through however they are cut, and nothing else does."""

import asyncio
import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("wyoming", reason="needs the packages of pip install '.[serve]'")

from wyoming.event import Event, async_read_event

from wakeword_serve.wire import MAX_DATA, MAX_HEADER, MAX_PAYLOAD, EventReader, TimedReader, WireError, encode

# Also half a surrogate pair, which JSON can name and UTF-8 cannot.
TEXTS = st.text(max_size=20) | st.text(st.characters(categories=["Cs"]), max_size=1)
VALUES = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS
EVENTS = st.builds(
    Event,
    st.text(st.characters(codec="ascii", categories=["Ll"]), min_size=1, max_size=20),
    st.dictionaries(st.text(max_size=8), VALUES | st.lists(VALUES, max_size=2), max_size=3),
    st.none() | st.binary(min_size=1, max_size=60),
)


def read(data: bytes, cuts: list[int] | None = None) -> list[Event]:
    """The events in ``data``, fed in parts of these sizes, over and over."""
    reader, events, at, turn = EventReader(), [], 0, 0
    while at < len(data):
        size = len(data) if not cuts else cuts[turn % len(cuts)]
        reader.feed(data[at : at + size])
        at, turn = at + size, turn + 1
        while (event := reader.next()) is not None:
            events.append(event)
    return events


@settings(max_examples=30)
@given(st.lists(EVENTS, max_size=3), st.lists(st.integers(1, 40), min_size=1, max_size=4))
def test_events_come_through_however_they_are_cut(events: list[Event], cuts: list[int]) -> None:
    assert read(b"".join(map(encode, events)), cuts) == events


@given(EVENTS)
def test_the_package_reads_what_is_written(event: Event) -> None:
    async def scenario() -> Event | None:
        reader = asyncio.StreamReader()
        reader.feed_data(encode(event))
        reader.feed_eof()
        return await async_read_event(reader)

    assert asyncio.run(scenario()) == event


@given(st.lists(st.integers(1, 50), min_size=1, max_size=50), st.integers(1, 60))
def test_bytes_are_as_old_as_when_they_came_whenever_they_are_asked_for(sizes: list[int], most: int) -> None:
    async def scenario() -> None:
        loop, now = asyncio.get_running_loop(), 0.0
        loop.time = lambda: now  # type: ignore[method-assign]
        reader = TimedReader()
        for number, size in enumerate(sizes):
            now = float(number)
            reader.feed_data(bytes([number]) * size)
        now, left = 1e6, sum(sizes)
        while left:
            data = await reader.read(most)
            assert set(data) == {int(reader.came)}
            left -= len(data)

    asyncio.run(scenario())


def test_a_client_that_sends_one_byte_at_a_time_fills_no_memory_with_times() -> None:
    async def scenario() -> None:
        reader = TimedReader()
        for _ in range(10_000):
            reader.feed_data(b"x")
        assert len(reader._parts) <= 1_000
        left = 10_000
        while left:
            left -= len(await reader.read(7))

    asyncio.run(scenario())


def test_data_may_be_in_the_header_and_after_it() -> None:
    after = b'{"b": 2}'
    header = {"type": "detect", "data": {"a": 1, "b": 1}, "data_length": len(after), "payload_length": None}
    assert read(json.dumps(header).encode() + b"\n" + after) == [Event("detect", {"a": 1, "b": 2})]


@pytest.mark.parametrize(
    "data",
    [
        b"\n",
        b"hello\n",
        b"[1]\n",
        b"{}\n",
        b'{"type": 3}\n',
        b'{"type": ""}\n',
        b'{"type": "' + b"x" * 65 + b'"}\n',
        b'{"type": "ping", "data": [1]}\n',
        b'{"type": "\\ud800\\u001b[31m", "data": 1}\n',
        b'{"type": "ping", "data_length": -1}\n',
        b'{"type": "ping", "data_length": true}\n',
        b'{"type": "ping", "data_length": 1.5}\n',
        b'{"type": "ping", "data_length": "3"}\n',
        b'{"type": "ping", "payload_length": 2000000000}\n',
        b'{"type": "ping", "data_length": %d}\n' % (MAX_DATA + 1),
        b'{"type": "ping", "data_length": ' + b"9" * 5_000 + b"}\n",
        b'{"type": "ping", "data_length": 2}\n[]',
        b'{"type": "ping", "data_length": 3}\n{"a',
        b"[" * 60_000 + b"\n",
        b"\xff\xfe{}\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"x" * (MAX_HEADER + 1),
    ],
)
def test_what_is_no_event_is_refused_in_a_short_line(data: bytes) -> None:
    with pytest.raises(WireError) as refused:
        read(data)
    message = str(refused.value)
    assert message.startswith("expected ")
    assert message.isprintable()
    assert len(message) < 200


@given(st.binary(max_size=200), st.lists(st.integers(1, 30), min_size=1, max_size=3))
def test_no_bytes_do_harm(data: bytes, cuts: list[int]) -> None:
    with suppress(WireError):  # and nothing else
        read(data, cuts)


def test_what_is_held_is_limited() -> None:
    reader = EventReader()
    reader.feed(b'{"type": "audio-chunk", "payload_length": %d}\n' % MAX_PAYLOAD)
    assert reader.next() is None
    assert reader.is_inside
    reader.feed(bytes(MAX_PAYLOAD))
    event = reader.next()
    assert event is not None
    assert event.payload == bytes(MAX_PAYLOAD)
    assert not reader.is_inside
