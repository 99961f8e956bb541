"""Random sequences of events for a server: right ones, wrong ones, and what is left of them after some damage."""

import json
from collections.abc import Callable
from random import Random

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.event import Event
from wyoming.info import Describe
from wyoming.ping import Ping
from wyoming.wake import Detect

from wakeword_serve.wire import encode

_ODD: tuple[object, ...] = (
    None,
    True,
    -1,
    0,
    1,
    2.5,
    10**12,
    10**400,
    "",
    "x",
    "marvin",
    "\ud800",
    "\x1b[31m\n",
    [],
    [1],
    {},
    {"a": 1},
    {"a": "\udfff"},
    1e308,
    -0.0,
)
_KEYS = ("rate", "width", "channels", "timestamp", "names", "context", "text", "data", "type")
_TYPES = (
    "audio-chunk",
    "audio-start",
    "audio-stop",
    "detect",
    "describe",
    "ping",
    "detection",
    "info",
    "",
    "\ud800\x1b",
    "x" * 70,
)


def session(random: Random, audio: bytes, word: str) -> bytes:
    """The bytes of one connection: some events, often with a word in their audio, and mostly damaged somewhere."""
    events = [_event(random, audio, word) for _ in range(random.randint(1, 12))]
    parts = [_odd_event(random) if random.random() < 0.15 else encode(event) for event in events]
    data = b"".join(parts)
    for _ in range(random.choice((0, 0, 1, 1, 2, 5))):
        data = random.choice(_DAMAGE)(data, random)
    return data


def _event(random: Random, audio: bytes, word: str) -> Event:
    rate = random.choice((16_000, 16_000, 16_000, 8_000, 44_100, 48_000, 192_000))
    width, channels = random.choice((1, 2, 2, 2, 3, 4)), random.choice((1, 1, 1, 2, 7, 32))
    timestamp = random.choice((None, 0, random.randrange(10**6)))
    match random.randrange(10):
        case 0:
            return Describe().event()
        case 1:
            return Detect(random.choice((None, [], [word], [word, "other"], ["other"], [word] * 50))).event()
        case 2:
            return AudioStart(rate, width, channels, timestamp).event()
        case 3:
            return AudioStop().event()
        case 4:
            return Ping(random.choice((None, "", "here", "x" * 5_000))).event()
        case _:
            start = random.randrange(len(audio)) & ~1
            size = random.choice((0, 1, 320, 321, 2_560, 64_000, random.randrange(200_000)))
            return AudioChunk(rate, width, channels, audio[start : start + size], timestamp=timestamp).event()


def _odd_event(random: Random) -> bytes:
    """An event whose parts have values of any kind."""
    data = {random.choice(_KEYS): random.choice(_ODD) for _ in range(random.randint(0, 5))}
    header: dict[str, object] = {"type": random.choice(_TYPES), "data": data}
    for name in ("data_length", "payload_length"):
        if random.random() < 0.3:
            header[name] = random.choice((*_ODD, 3, 1_000, 2**20, 2**20 + 1))
    return json.dumps(header).encode() + b"\n"


def _flip(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.randint(1, 8)):
        changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def _cut(data: bytes, random: Random) -> bytes:
    start = random.randrange(len(data))
    return data[:start] + data[start + random.randint(1, 400) :]


def _repeat(data: bytes, random: Random) -> bytes:
    start = random.randrange(len(data))
    return data[:start] + data[start : start + 300] * random.randint(1, 5) + data[start:]


def _insert(data: bytes, random: Random) -> bytes:
    start = random.randrange(len(data))
    noise = random.choice((b"\n", b"{", b'"', b"[" * 3_000, b"\xff\x00", random.randbytes(40), b"9" * 5_000))
    return data[:start] + noise + data[start:]


def _truncate(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data)) + 1]


def _safe(change: Callable[[bytes, Random], bytes]) -> Callable[[bytes, Random], bytes]:
    return lambda data, random: change(data, random) if data else data


_DAMAGE = tuple(_safe(change) for change in (_flip, _cut, _repeat, _insert, _truncate))
