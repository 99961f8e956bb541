"""A server that listens to many callers: one pool, one network, work at regular intervals outside the event loop.

    python examples/many_streams.py --input assets/audio/sentences.flac --callers 20

Each caller is a task that reads the recording and pushes it block by block, as a connection would. A single task has the
pool process the new audio, in a thread, 25 times a second, and reports which caller said the wake word.
"""

import argparse
import asyncio

from wakeword import DetectorPool, FileSource, WakewordError

TICK = 0.04


async def call(pool: DetectorPool, name: str, file: str) -> float:
    """One caller, from beginning to end; returns the seconds of audio."""
    source = FileSource(file)
    stream = pool.open(sample_rate=source.sample_rate, name=name)
    for block in source.blocks():
        stream.push(block)
        await asyncio.sleep(0)  # a socket would be awaited here
    seconds = stream.seconds
    stream.flush()
    while stream.waiting:  # so that the last words are processed too
        await asyncio.sleep(TICK)
    stream.close()
    return seconds


async def work(pool: DetectorPool, ended: asyncio.Event) -> None:
    """Print detections until all callers have ended."""
    last = False
    while not last:
        last = ended.is_set()
        for stream, detection in await asyncio.to_thread(pool.process):
            print(f"{stream.name}, {detection.end:.2f} s: {detection.keyword}, score {detection.score:.3f}", flush=True)
        await asyncio.sleep(TICK)


async def serve(file: str, callers: int) -> None:
    """Serve all callers at the same time."""
    with DetectorPool("jarvis") as pool:
        ended = asyncio.Event()
        working = asyncio.create_task(work(pool, ended))
        seconds = await asyncio.gather(*(call(pool, f"caller {number + 1}", file) for number in range(callers)))
        ended.set()
        await working
    print(f"{callers} callers, {sum(seconds):.1f} s of audio", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Listens to many streams in one program.")
    parser.add_argument("--input", metavar="FILE", required=True, help="the recording of every caller")
    parser.add_argument("--callers", type=int, default=4, help="number of callers")
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.input, arguments.callers))


if __name__ == "__main__":
    try:
        main()
    except WakewordError as error:  # for instance no such file or model: one line that says what to do
        raise SystemExit(str(error)) from error
