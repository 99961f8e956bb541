"""Events of the Wyoming protocol as bytes, with limits on their size.

An event is a line of JSON, ``{"type", "data", "data_length", "payload_length"}``, then ``data_length`` bytes of JSON, which
are added to ``data``, then ``payload_length`` bytes. The package's own reader has no limits and takes any JSON for an
event; this one is for a network that cannot be trusted.
"""

import asyncio
import json
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, SupportsIndex

from wyoming.event import Event
from wyoming.version import __version__ as protocol_version

from wakeword.base.errors import WakewordError

MAX_HEADER = 64 * 2**10
MAX_DATA = 64 * 2**10
MAX_PAYLOAD = 2**20
_MAX_TYPE = 64
_MOST_WAITING, _MOST_PARTS = 128 * 2**10, 1_000


class WireError(WakewordError):
    """What a client sent is no event, or one that the server does not take. ``code`` is for programs."""

    def __init__(self, message: str, *, code: str = "malformed-event") -> None:
        super().__init__(message)
        self.code = code


class TimedReader(asyncio.StreamReader):
    """Knows when the bytes came that it gives, which on a busy machine is long before they are asked for."""

    def __init__(self) -> None:
        super().__init__(limit=_MOST_WAITING // 2)
        self.came = 0.0
        """When the newest of the bytes came that were read last, by the clock of the event loop."""
        self.is_full = False
        """Whether they may have come long before that: so much waited that no more was taken from the socket."""
        self._parts: deque[tuple[float, int]] = deque()
        """When what waits has come, and how many bytes."""
        self._waiting = 0

    def feed_data(self, data: Iterable[SupportsIndex]) -> None:
        """The event loop has more bytes."""
        came, part = asyncio.get_running_loop().time(), bytes(data)
        size = len(part)
        self._waiting += size
        self.is_full |= self._waiting > _MOST_WAITING
        if len(self._parts) == _MOST_PARTS:  # a client that sends one byte at a time fills no memory
            size += self._parts.pop()[1]
        self._parts.append((came, size))
        super().feed_data(part)

    async def read(self, n: int = -1) -> bytes:
        """Up to ``n`` bytes as any stream gives them, but only bytes that came at once."""
        self.is_full &= self._waiting > 0
        data = await super().read(min(n, self._parts[0][1]) if self._parts else n)
        left = len(data)
        self._waiting -= left
        while left:
            self.came, size = self._parts.popleft()
            if size > left:
                self._parts.appendleft((self.came, size - left))
            left -= min(left, size)
        return data


@dataclass
class _Header:
    type: str
    data: dict[str, Any]
    data_length: int
    payload_length: int


@dataclass
class EventReader:
    """Bytes in, events out. How the bytes are cut does not matter. Holds at most one event and what was fed last."""

    _buffer: bytearray = field(default_factory=bytearray)
    _searched: int = 0
    _header: _Header | None = None

    @property
    def is_inside(self) -> bool:
        """Whether an event has begun that is not complete."""
        return bool(self._buffer) or self._header is not None

    def feed(self, data: bytes) -> None:
        """Append bytes; take the events with ``next`` before more are fed."""
        self._buffer += data

    def next(self) -> Event | None:
        """The next complete event; ``None`` if more bytes are needed. Raises ``WireError``, after which nothing is left."""
        try:
            return self._next()
        except WireError:
            self._buffer.clear()
            self._header, self._searched = None, 0
            raise

    def _next(self) -> Event | None:
        header = self._header
        if header is None:
            header = self._header = self._take_header()
            if header is None:
                return None
        length = header.data_length + header.payload_length
        if len(self._buffer) < length:
            return None
        body = bytes(self._buffer[:length])
        del self._buffer[:length]
        self._header = None
        if header.data_length:
            header.data.update(_object(body[: header.data_length], "the data of an event"))
        return Event(header.type, header.data, body[header.data_length :] or None)

    def _take_header(self) -> _Header | None:
        end = self._buffer.find(b"\n", self._searched)
        if (len(self._buffer) if end < 0 else end) > MAX_HEADER:
            raise WireError(f"expected a header of at most {MAX_HEADER} bytes, got a longer line")
        if end < 0:
            self._searched = len(self._buffer)
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._searched = 0
        return _header_of(_object(line, "the header of an event"))


def encode(event: Event) -> bytes:
    """The bytes of an event."""
    # In ASCII: half a surrogate pair, which a client may send to get it back, has no bytes of its own.
    data = json.dumps(event.data).encode() if event.data else b""
    payload = event.payload or b""
    header: dict[str, Any] = {"type": event.type, "version": protocol_version}
    if data:
        header["data_length"] = len(data)
    if payload:
        header["payload_length"] = len(payload)
    return json.dumps(header).encode() + b"\n" + data + payload


def _header_of(content: dict[str, Any]) -> _Header:
    kind, data = content.get("type"), content.get("data")
    if not isinstance(kind, str) or not 0 < len(kind) <= _MAX_TYPE:
        raise WireError(f"expected an event with a type, got the type {_short(kind)}")
    if data is not None and not isinstance(data, dict):
        raise WireError(f"expected the data of {_short(kind)} to be an object, got {_short(data)}")
    lengths = []
    for name, most in (("data_length", MAX_DATA), ("payload_length", MAX_PAYLOAD)):
        length = content.get(name)
        length = 0 if length is None else length
        if not isinstance(length, int) or isinstance(length, bool) or not 0 <= length <= most:
            raise WireError(f"expected a {name} of 0 to {most} bytes, got {_short(length)}")
        lengths.append(length)
    return _Header(kind, data or {}, *lengths)


def _object(text: bytes, what: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise WireError(f"expected {what} in JSON, got {_short(text)}") from None
    if not isinstance(content, dict):
        raise WireError(f"expected {what} to be an object, got {_short(content)}")
    return content


def _short(value: object) -> str:
    """A value for a message: printable and at most 60 characters."""
    try:
        text = ascii(value[:60] if isinstance(value, (str, bytes)) else value)
    except (ValueError, RecursionError):  # integers of thousands of digits cannot be printed
        text = type(value).__name__
    return text if len(text) <= 60 else f"{text[:57]}..."
