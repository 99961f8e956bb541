"""Wake words in an asyncio program with other tasks.

    python examples/asyncio_listener.py                                      # the default microphone, until Ctrl-C
    python examples/asyncio_listener.py --input assets/audio/sentences.flac  # a recording instead

``Detector.stream`` works in a separate thread; the event loop only gets the detections. A second task shows that the loop
is free: it repeatedly sleeps for 10 ms and reports the longest delay of its wake-ups.
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


async def listen_with_heartbeat(source: AudioSource) -> None:
    """Listen, with a heartbeat at the same time."""
    heartbeat = Heartbeat()
    beating = asyncio.create_task(heartbeat.run())
    try:
        await listen(Detector("jarvis"), source)
    finally:
        beating.cancel()
        print(f"{heartbeat.beats} heartbeats meanwhile, the latest {1_000 * heartbeat.latest:.1f} ms late", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Listens in an asyncio program.")
    parser.add_argument("--input", metavar="FILE", help="a recording instead of the microphone")
    file = parser.parse_args().input
    source = Microphone(reconnect=True) if file is None else FileSource(file)
    with source, suppress(KeyboardInterrupt):
        asyncio.run(listen_with_heartbeat(source))


if __name__ == "__main__":
    try:
        main()
    except WakewordError as error:  # for instance no microphone or file: one line that says what to do
        raise SystemExit(str(error)) from error
