"""Clients of a Wyoming server, as they are and as they should not be, written with the package ``wyoming``."""

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.event import async_write_event
from wyoming.info import Describe
from wyoming.ping import Ping
from wyoming.wake import Detect, Detection

from fuzz.run_push import Pcm
from wakeword.audio.pcm import SAMPLE_RATE

_PING_SECONDS = 1.0
_GARBAGE = (
    b"hello\n",
    b"[]\n",
    b'{"type": "audio-chunk", "payload_length": 2000000000}\n',
    b'{"type": "audio-chunk", "payload_length": 320}\n' + bytes(320),
    b'{"type": "audio-chunk", "data": {"rate": 1, "width": 1, "channels": 1}}\n',
    b'{"type": "detect", "data": {"names": 3}}\n',
    b'{"type": "describe", "data_length": 5}\n{"a"',
    b'{"type": "describe"',
    b"\xff" * 70_000,
)


@dataclass
class Answers:
    """What a client that streams has received."""

    detections: list[tuple[str, int]] = field(default_factory=list)
    """Names and timestamps."""
    seconds: float = 0.0
    """Of audio sent."""
    delays: list[float] = field(default_factory=list)
    """Seconds from a ping, sent after a chunk, to its pong: the server answers in order, so all before it is scored."""
    behind: float = 0.0
    """The most seconds by which the client itself was late in sending a chunk."""
    closed: bool = False
    """Whether the server closed the connection."""


async def stream(
    host: str, port: int, word: str, audio: Pcm, *, chunk: int, pace: float, passes: int, heard: Answers
) -> None:
    """Stream 16 kHz audio ``passes`` times in chunks of ``chunk`` samples, each time as a stream of its own.

    ``pace`` is in times real time; 0: as fast as the server takes it.
    """
    client = AsyncTcpClient(host, port)
    await client.connect()
    asked: dict[str, float] = {}
    done = asyncio.Event()

    async def listen() -> None:
        heard.closed = True
        try:
            await read()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            done.set()

    async def read() -> None:
        while (event := await client.read_event()) is not None:
            if event.type == "pong":
                heard.delays.append(time.monotonic() - asked.pop(event.data["text"]))
            elif Detection.is_type(event.type):
                heard.detections.append((event.data["name"], event.data["timestamp"]))
            elif event.type == "info":
                heard.closed = False
                return

    listening = asyncio.create_task(listen())
    try:
        await client.write_event(Detect([word]).event())
        pinged = time.monotonic()
        for number in range(passes):
            await client.write_event(AudioStart(SAMPLE_RATE, 2, 1).event())
            began = time.monotonic()
            for at in range(0, len(audio), chunk):
                part = audio[at : at + chunk].tobytes()
                timestamp = 1_000 * at // SAMPLE_RATE
                await client.write_event(AudioChunk(SAMPLE_RATE, 2, 1, part, timestamp=timestamp).event())
                heard.seconds += len(audio[at : at + chunk]) / SAMPLE_RATE
                now = time.monotonic()
                if now - pinged >= _PING_SECONDS:
                    pinged = now
                    text = f"{number} {at}"
                    asked[text] = now
                    await client.write_event(Ping(text).event())
                if pace:
                    due = began + (at + chunk) / SAMPLE_RATE / pace
                    heard.behind = max(heard.behind, now - due)
                    await asyncio.sleep(max(0.0, due - now))
            await client.write_event(AudioStop().event())
        await client.write_event(Describe().event())
        await done.wait()
    except OSError:
        heard.closed = True
    finally:
        listening.cancel()
        with suppress(OSError):
            await client.disconnect()


async def broken(host: str, port: int, random: Random) -> None:
    """Connect, break the protocol, and connect again, for ever."""
    while True:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(random.choice(_GARBAGE))
            await writer.drain()
            if random.random() < 0.5:
                with suppress(TimeoutError):
                    async with asyncio.timeout(1):
                        await reader.read(1_000)
            writer.transport.abort() if random.random() < 0.5 else writer.close()
        await asyncio.sleep(random.uniform(0.05, 0.3))


async def slow(host: str, port: int, random: Random) -> None:
    """Send events a few bytes at a time, and read nothing, for ever."""
    while True:
        with suppress(OSError):
            _, writer = await asyncio.open_connection(host, port)
            event = (
                b'{"type": "audio-chunk", "data": {"rate": 16000, "width": 2, "channels": 1}, "payload_length": 320}\n'
            )
            data = (event + bytes(320)) * 20
            while data:
                size = random.randint(1, 40)
                writer.write(data[:size])
                data = data[size:]
                await writer.drain()
                await asyncio.sleep(random.uniform(0.05, 0.5))
            writer.close()
        await asyncio.sleep(0.1)


async def reconnecting(host: str, port: int, random: Random, word: str, audio: Pcm) -> None:
    """Connect, ask, stream a second or less at full speed, leave without a word, and connect again, for ever."""
    while True:
        with suppress(OSError):
            _, writer = await asyncio.open_connection(host, port)
            start = random.randrange(len(audio) - SAMPLE_RATE)
            for event in (
                *(Describe().event(), Detect([word]).event(), AudioStart(SAMPLE_RATE, 2, 1).event()),
                *(
                    AudioChunk(SAMPLE_RATE, 2, 1, audio[at : at + 160].tobytes()).event()
                    for at in range(start, start + random.randrange(SAMPLE_RATE), 160)
                ),
            ):
                await async_write_event(event, writer)
            writer.transport.abort()
        await asyncio.sleep(random.uniform(0.05, 0.5))
