"""How often two satellites answer one word where their server is starved of CPU.

    WAKEWORD_DATA=FOLDER python -m scripts.measure_busy_house --words 60 --loops 2 --cpu 1 --out busy-house.json

`wakeword serve --group` in a process of its own, two satellites that stream real words of ``wake_words`` in real time, as
heard 9 ms apart, and ``--rooms`` more of another group that stream speech, all on one CPU, where ``--loops`` processes do
nothing but work. The satellites themselves go before all others, as they have processors of their own. A word is said every
``--every`` seconds; detections with timestamps from then on, until the next one, are answers to it.
"""

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from wyoming.audio import AudioChunk
from wyoming.event import async_read_event

from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword_serve.wire import encode

_CHUNK = 480
_LATE = 0.009
_FIRST = 3.0


def _signal(words: list[Array], every: float, late: float, gain: float, seed: int) -> Array:
    """The words as one satellite has them, with noise of its own."""
    random = np.random.default_rng(seed)
    sound = 1e-3 * random.standard_normal(round((_FIRST + every * len(words)) * SAMPLE_RATE))
    for number, word in enumerate(words):
        at = round((_FIRST + every * number + late) * SAMPLE_RATE)
        sound[at : at + len(word)] += gain * word[: len(sound) - at]
    return np.round(32_767 * np.clip(sound, -1, 1)).astype("<i2")


async def _satellite(
    port: int, address: str, signal: Array, began: float, heard: list[float], behind: list[float]
) -> None:
    """Stream in real time; ``heard`` gets the seconds of detections in the stream, ``behind`` how late chunks are sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))

    async def listen() -> None:
        while (event := await async_read_event(reader)) is not None:
            if event.type == "detection":
                heard.append(event.data["timestamp"] / 1_000)

    listening = asyncio.create_task(listen())
    for at in range(0, len(signal) - _CHUNK, _CHUNK):
        due = began + (at + _CHUNK) / SAMPLE_RATE
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        behind.append(time.monotonic() - due)
        chunk = AudioChunk(SAMPLE_RATE, 2, 1, signal[at : at + _CHUNK].tobytes(), timestamp=round(at / 16))
        writer.write(encode(chunk.event()))
        await writer.drain()
    await asyncio.sleep(10)
    listening.cancel()
    writer.close()


async def _house(port: int, words: list[Array], every: float, rooms: list[Array]) -> dict[str, Any]:
    began = time.monotonic() + 1.0
    heard: list[list[float]] = [[], []]
    behind = list[float]()
    signals = [_signal(words, every, _LATE * number, 1.0 - 0.4 * number, number) for number in range(2)]
    tasks = [_satellite(port, "127.0.0.1", one, began, its, behind) for one, its in zip(signals, heard, strict=True)]
    tasks += [_satellite(port, "127.0.0.2", np.resize(one, len(signals[0])), began, [], []) for one in rooms]
    await asyncio.gather(*tasks)
    numbers = [[int((one - _FIRST) // every) for one in its] for its in heard]
    answered = [[its.count(number) for its in numbers] for number in range(len(words))]
    return {
        "words": len(words),
        "answered_once": sum(sum(one) == 1 for one in answered),
        "answered_by_both": sum(all(one) for one in answered),
        "answered_by_none": sum(not any(one) for one in answered),
        "answered_twice_by_one": sum(max(one) > 1 for one in answered),
        "nearer_alone": sum(one[0] == 1 and not one[1] for one in answered),
        "satellites_late_ms": {name: round(1_000 * float(np.quantile(behind, at))) for name, at in _SHARES.items()},
    }


_SHARES = {"median": 0.5, "99 %": 0.99, "most": 1.0}


def _words(audio: Path, count: int) -> list[Array]:
    files = sorted(path for word in ("jarvis", "computer") for path in (audio / "wake_words" / word).glob("*.flac"))
    chosen = np.random.default_rng(0).permutation(len(files))[:count]
    found = [read_audio(files[number]) for number in chosen]
    return [0.1 * one / float(np.sqrt(np.square(one).mean())) for one in found]


def _wait_for(port: int) -> None:
    for _ in range(300):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError(f"expected a server at port {port} within 30 s, got none")


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=60)
    parser.add_argument("--every", type=float, default=4.0)
    parser.add_argument("--loops", type=int, default=2)
    parser.add_argument("--rooms", type=int, default=0)
    parser.add_argument("--cpu", type=int, default=1)
    parser.add_argument("--port", type=int, default=10_455)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    audio = Path(os.environ["WAKEWORD_DATA"])
    words = _words(audio, options.words)
    speech = [read_audio(path) for path in sorted((audio / "long_speech").glob("*.opus"))[: options.rooms]]
    rooms = [np.round(32_767 * np.clip(one, -1, 1)).astype("<i2") for one in speech]
    os.sched_setaffinity(0, {options.cpu})
    groups = ["--group", "home=127.0.0.1", "--group", "other=127.0.0.2"]
    place = ["--uri", f"tcp://127.0.0.1:{options.port}"]
    server = subprocess.Popen([sys.executable, "-m", "wakeword", "serve", *place, *groups])
    loops = list[subprocess.Popen[bytes]]()
    try:
        _wait_for(options.port)
        loops += [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.loops)]
        with suppress(PermissionError):  # satellites have processors of their own
            os.setpriority(os.PRIO_PROCESS, 0, -15)
        found = asyncio.run(_house(options.port, words, options.every, rooms))
    finally:
        for one in (server, *loops):
            one.terminate()
            one.wait()
    told = {"loops": options.loops, "rooms": options.rooms, "cpus": 1, **found}
    options.out.write_text(json.dumps(told, indent=1) + "\n")
    sys.stderr.write(f"{json.dumps(told)}\n")


if __name__ == "__main__":
    main()
