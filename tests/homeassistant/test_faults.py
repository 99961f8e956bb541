"""Servers and clients that go away, and models that come while everything runs."""

import asyncio
import shutil
import socket
import struct
from datetime import timedelta
from pathlib import Path

from assist import RATE, blocks
from conftest import ROOT, add
from homeassistant.core import HomeAssistant
from homeassistant.util.dt import utcnow
from pytest_homeassistant_custom_component.common import async_fire_time_changed
from pytest_homeassistant_custom_component.typing import WebSocketGenerator
from servers import WakeServer
from test_wake_words import detect
from wyoming.audio import AudioChunk, AudioStart
from wyoming.event import async_read_event, async_write_event
from wyoming.wake import Detect, Detection


async def test_words_are_found_again_after_the_server_came_back(
    home: HomeAssistant, wake_word: str, server: WakeServer, demo: bytes
) -> None:
    """Without a reload: Home Assistant connects anew for each run."""
    assert await detect(home, wake_word, demo, "marvin") is not None
    for go_away in (server.stop, server.kill):
        await asyncio.to_thread(go_away)
        assert await detect(home, wake_word, demo, "marvin") is None
        await asyncio.to_thread(server.start)
        found = await detect(home, wake_word, demo, "marvin")
        assert found is not None
        assert found.wake_word_id == "marvin"


async def test_a_server_that_dies_ends_the_run(
    home: HomeAssistant, wake_word: str, server: WakeServer, demo: bytes
) -> None:
    """And does not leave the satellite waiting."""
    silence = asyncio.create_task(detect(home, wake_word, bytes(len(demo) * 50), "marvin"))
    await asyncio.sleep(0.5)
    await asyncio.to_thread(server.kill)
    assert await asyncio.wait_for(silence, 30) is None
    await asyncio.to_thread(server.start)


async def test_clients_that_break_off_disturb_nobody(
    home: HomeAssistant, wake_word: str, server: WakeServer, demo: bytes
) -> None:
    """They reset the connection in the middle of the audio, of a header and of a payload, also while one is served."""
    for cut in (1, 40, 400, 30_000, 70_000):
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        for event in (Detect(["marvin"]).event(), AudioStart(RATE, 2, 1).event()):
            await async_write_event(event, writer)
        header = b'{"type":"audio-chunk","data":{"rate":16000,"width":2,"channels":1},"payload_length":%d}\n' % len(
            demo
        )
        writer.write((header + demo)[:cut])
        await writer.drain()
        # With this option the system resets the connection instead of ending it.
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.close()
        assert await detect(home, wake_word, demo, "marvin") is not None


async def test_home_assistant_leaves_after_a_detection_and_others_go_on(
    home: HomeAssistant, wake_word: str, server: WakeServer, demo: bytes
) -> None:
    """A client of our own gets every detection on one connection, while Home Assistant comes and goes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    await async_write_event(Detect(["marvin"]).event(), writer)
    for _ in range(3):
        async for block in blocks(demo[: 3 * RATE * 2], real_time=False):
            await async_write_event(AudioChunk(RATE, 2, 1, block).event(), writer)
        event = await asyncio.wait_for(async_read_event(reader), 10)
        assert event is not None
        assert Detection.from_event(event).name == "marvin"
        assert await detect(home, wake_word, demo, "marvin") is not None
    writer.close()


async def test_a_model_that_is_put_into_the_folder_is_offered_without_a_restart(
    home: HomeAssistant, tmp_path: Path, server: WakeServer, hass_ws_client: WebSocketGenerator
) -> None:
    models = tmp_path / "models"
    models.mkdir()
    shutil.copy(ROOT / "assets/models/marvin.onnx", models)
    with WakeServer(server.python, ["--models", str(models)], log=tmp_path / "folder.log") as watching:
        await add(home, watching.port)
        (entity,) = home.states.async_entity_ids("wake_word")
        websocket = await hass_ws_client(home)

        async def words() -> set[str]:
            await websocket.send_json_auto_id({"type": "wake_word/info", "entity_id": entity})
            answer = await websocket.receive_json()
            return {word["id"] for word in answer["result"]["wake_words"]}

        assert await words() == {"marvin"}
        (models / "part.tmp").write_bytes((ROOT / "assets/models/seven.onnx").read_bytes())
        (models / "part.tmp").rename(models / "seven.onnx")
        for _ in range(50):
            if await words() == {"marvin", "seven"}:
                break
            # Older versions ask the server when they are asked themselves, newer ones every 30 s.
            async_fire_time_changed(home, utcnow() + timedelta(seconds=60))
            await asyncio.sleep(0.2)
        assert await words() == {"marvin", "seven"}
