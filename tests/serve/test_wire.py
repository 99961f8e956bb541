"""Events as bytes: all of them come through however they are cut, and nothing else does."""

import asyncio
import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("wyoming", reason="needs the packages of pip install '.[serve]'")

from wyoming.event import Event, async_read_event

from wakeword_serve.wire import MAX_DATA, MAX_HEADER, MAX_PAYLOAD, TimedReader, WireError, encode, read_event

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
    """The events in ``data``, which comes in parts of these sizes, over and over."""

    async def whole() -> list[Event]:
        reader = TimedReader()

        async def feed() -> None:
            at, turn = 0, 0
            while at < len(data):
                size = len(data) if not cuts else cuts[turn % len(cuts)]
                reader.feed_data(data[at : at + size])
                at, turn = at + size, turn + 1
                await asyncio.sleep(0)
            reader.feed_eof()

        feeding, found = asyncio.create_task(feed()), list[Event]()
        while (event := await read_event(reader, 20, 20)) is not None:
            found.append(event)
        await feeding
        assert reader.waiting == 0 or len(b"".join(map(encode, found))) < len(data)
        return found

    return asyncio.run(whole())


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


def test_it_is_known_when_bytes_came_and_whether_more_wait() -> None:
    async def scenario() -> None:
        loop, now = asyncio.get_running_loop(), 5.0
        reader = TimedReader()
        event = encode(Event("ping", {"text": "x"}, b"abc"))
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(loop, "time", lambda: now)
            for _ in range(2):
                reader.feed_data(event)
                now += 1.0
            now = 1e6
            for left in (len(event), 0):
                assert await read_event(reader, 1e9, 1e9) is not None
                assert (reader.came, reader.waiting) == (6.0, left)

    asyncio.run(scenario())


def test_a_payload_may_be_as_long_as_its_limit() -> None:
    event = Event("audio-chunk", {}, bytes(MAX_PAYLOAD))
    assert read(encode(event), [60_000]) == [event]


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
        b'{"type": "ping"' + b" " * MAX_HEADER + b"}\n",
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
