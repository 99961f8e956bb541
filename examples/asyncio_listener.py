"""Wake words in an asyncio program, beside its other tasks.

    python examples/asyncio_listener.py                                  # the default microphone, until Ctrl-C
    python examples/asyncio_listener.py --input assets/audio/demo.flac   # a recording in its place

``Detector.stream`` works in a thread of its own; the event loop only gets the detections. A second task shows that the
loop is free: it sleeps for 10 ms again and again and reports the longest time by which it woke too late.
"""

import argparse
import asyncio
from contextlib import suppress

from wakeword import AudioSource, Detector, FileSource, Microphone, WakewordError

TICK = 0.01


class Heartbeat:
    """Something else that the program does."""

    def __init__(self) -> None:
        self.beats = 0
        self.latest = 0.0

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + TICK
            await asyncio.sleep(TICK)
            self.beats += 1
            self.latest = max(self.latest, loop.time() - due)


async def listen(detector: Detector, source: AudioSource) -> None:
    """Report wake words until the source ends."""
    async for detection in detector.stream(source):
        print(f"{detection.end:.2f} s: {detection.keyword}, score {detection.score:.3f}", flush=True)


async def listen_beside(source: AudioSource) -> None:
    """Listen, with a heartbeat in the meantime."""
    heartbeat = Heartbeat()
    beating = asyncio.create_task(heartbeat.run())
    try:
        await listen(Detector("marvin"), source)
    finally:
        beating.cancel()
        print(f"{heartbeat.beats} heartbeats meanwhile, the latest {1_000 * heartbeat.latest:.1f} ms late", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Listens in an asyncio program.")
    parser.add_argument("--input", metavar="FILE", help="a recording in place of the microphone")
    file = parser.parse_args().input
    source = Microphone(reconnect=True) if file is None else FileSource(file)
    with source, suppress(KeyboardInterrupt):
        asyncio.run(listen_beside(source))


if __name__ == "__main__":
    try:
        main()
    except WakewordError as error:  # no microphone, no such file or model: one line that says what to do
        raise SystemExit(str(error)) from error
