"""A server of wyoming-openwakeword with models of a folder, and a client that asks it about recordings."""

import asyncio
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from wyoming.audio import AudioChunk, AudioStart
from wyoming.event import async_read_event, async_write_event
from wyoming.wake import Detect, Detection

from wakeword.audio.audio_file import read_audio

_HISS = np.random.default_rng(0).normal(0, 10, 40_000).astype(np.int16)
"""Quiet, before and after: a stream of this server begins without the audio that a window needs."""
_PATIENCE = 5.0
"""Seconds for which the server may work at what it was given, in threads of its own."""


def detections(python: str, models: Path, name: str, clips: Sequence[Path]) -> list[bool]:
    """Whether the server reports the word of that name in each clip."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [python, "-m", "wyoming_openwakeword", "--uri", f"tcp://127.0.0.1:{port}"]
    quiet = subprocess.DEVNULL
    server = subprocess.Popen([*command, "--custom-model-dir", str(models)], stdout=quiet, stderr=quiet)
    try:
        return [asyncio.run(_asked(port, name, clip)) for clip in clips]
    finally:
        server.kill()
        server.wait()


async def _asked(port: int, name: str, clip: Path) -> bool:
    pcm = np.concatenate([_HISS, (32_767 * read_audio(clip)).astype(np.int16), _HISS])
    for _ in range(600):
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            break
        except OSError:  # it has not begun to listen
            await asyncio.sleep(0.1)
    blocks = [pcm[start : start + 1_280].tobytes() for start in range(0, len(pcm), 1_280)]
    form = {"rate": 16_000, "width": 2, "channels": 1}
    events = [Detect(names=[name]), AudioStart(**form), *(AudioChunk(**form, audio=block) for block in blocks)]
    try:
        for one in events:
            await async_write_event(one.event(), writer)
        event = await asyncio.wait_for(async_read_event(reader), _PATIENCE)
        return event is not None and Detection.is_type(event.type) and Detection.from_event(event).name == name
    except TimeoutError:
        return False
    finally:
        writer.close()
