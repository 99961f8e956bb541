"""Events of the Wyoming protocol as bytes, with limits on their size.

An event is a line of JSON, ``{"type", "data", "data_length", "payload_length"}``, then ``data_length`` bytes of JSON, which
are added to ``data``, then ``payload_length`` bytes. The package's own reader has no limits and takes any JSON for an
event; this one is for a network that cannot be trusted.
"""

import asyncio
import json
from collections.abc import Coroutine, Iterable
from typing import Any, SupportsIndex, TypeVar

from wyoming.event import Event
from wyoming.version import __version__ as protocol_version

from wakeword.base.checks import integer, shown
from wakeword.base.errors import WakewordError

MAX_HEADER = 64 * 2**10
MAX_DATA = 64 * 2**10
MAX_PAYLOAD = 2**20
_MAX_TYPE = 64

_T = TypeVar("_T")


class WireError(WakewordError):
    """What a client sent is no event, or one that the server does not take. ``code`` is for programs."""

    def __init__(self, message: str, *, code: str = "malformed-event") -> None:
        super().__init__(message)
        self.code = code


class TimedReader(asyncio.StreamReader):
    """Knows when the newest bytes came, which on a busy machine is long before they are asked for."""

    def __init__(self) -> None:
        super().__init__(limit=MAX_HEADER - 1)  # without the first byte, which ``read_event`` waits for alone
        self.came = 0.0
        """When the newest bytes came, by the clock of the event loop."""
        self.waiting = 0
        """Bytes that have come and were not read: if there are any, those that were read last may have come earlier."""

    def feed_data(self, data: Iterable[SupportsIndex]) -> None:
        """The event loop has more bytes."""
        self.came, part = asyncio.get_running_loop().time(), bytes(data)
        self.waiting += len(part)
        super().feed_data(part)

    async def readexactly(self, n: int) -> bytes:
        """As any stream reads."""
        data = await super().readexactly(n)
        self.waiting -= len(data)
        return data

    async def readuntil(self, separator: Any = b"\n") -> bytes:
        """As any stream reads."""
        data = await super().readuntil(separator)
        self.waiting -= len(data)
        return data


async def read_event(reader: asyncio.StreamReader, idle: float, whole: float) -> Event | None:
    """The next event; ``None`` at the end, in the middle of an event too. The limit of ``reader`` is ``MAX_HEADER - 1``.

    ``idle``: seconds until the first byte of it; ``whole``: from then on until its last. Raises ``WireError`` for what is
    no event and for one that takes longer, and ``OSError`` as the connection does.
    """
    try:
        begin = await _within(idle, "an event", reader.readexactly(1))
        return await _within(whole, "the rest of an event", _rest_of_event(reader, begin))
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError:
        raise WireError(f"expected a header of at most {MAX_HEADER} bytes, got a longer line") from None


async def _within(seconds: float, what: str, reading: Coroutine[Any, Any, _T]) -> _T:
    try:
        async with asyncio.timeout(seconds) as limit:
            return await reading
    except TimeoutError:
        if not limit.expired():  # the network's own: no answer comes any more
            raise
        message = f"expected {what} within {seconds:g} s, got none; the connection is closed"
        raise WireError(message, code="timeout") from None


async def _rest_of_event(reader: asyncio.StreamReader, begin: bytes) -> Event:
    line = begin if begin == b"\n" else begin + await reader.readuntil()
    kind, content, data_length, payload_length = _header_of(_object(line, "the header of an event"))
    if data_length:
        content.update(_object(await reader.readexactly(data_length), "the data of an event"))
    return Event(kind, content, await reader.readexactly(payload_length) or None)


def encode(event: Event) -> bytes:
    """The bytes of an event."""
    # In ASCII: half a surrogate pair, which a client may send to get it back, has no bytes of its own.
    data = json.dumps(event.data).encode() if event.data else b""
    payload = event.payload or b""
    header: dict[str, object] = {"type": event.type, "version": protocol_version}
    if data:
        header["data_length"] = len(data)
    if payload:
        header["payload_length"] = len(payload)
    return json.dumps(header).encode() + b"\n" + data + payload


def _header_of(content: dict[str, Any]) -> tuple[str, dict[str, Any], int, int]:
    """Type, data, and the lengths of further data and of the payload."""
    kind, data = content.get("type"), content.get("data")
    if not isinstance(kind, str) or not 0 < len(kind) <= _MAX_TYPE:
        raise WireError(f"expected an event with a type, got the type {shown(kind)}")
    if data is not None and not isinstance(data, dict):
        raise WireError(f"expected the data of {shown(kind)} to be an object, got {shown(data)}")
    lengths = []
    for name, most in (("data_length", MAX_DATA), ("payload_length", MAX_PAYLOAD)):
        length = content.get(name)
        lengths.append(0 if length is None else integer(length, f"the {name}", 0, most, unit=" bytes", error=WireError))
    return kind, data or {}, lengths[0], lengths[1]


def _object(text: bytes, what: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise WireError(f"expected {what} in JSON, got {shown(text)}") from None
    if not isinstance(content, dict):
        raise WireError(f"expected {what} to be an object, got {shown(content)}")
    return content
