"""A real Home Assistant, `wakeword serve` in a process of its own, and speech recognition that repeats what it heard.

The server runs with another interpreter, that of ``WAKEWORD_PYTHON``, as Home Assistant pins older packages.
"""

import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import imageio_ffmpeg
import pytest
from homeassistant.config_entries import SOURCE_USER
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.setup import async_setup_component
from servers import Recogniser, WakeServer

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def demo() -> bytes:
    """The demo recording: 16-bit PCM, mono, 16 kHz. "marvin" is said at 1.4 s for the first time."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", ROOT / "assets/audio/demo.flac", "-f", "s16le", "-"]
    return subprocess.run(command, capture_output=True, check=True).stdout


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WakeServer]:
    """A server with "marvin" and "seven". At the end it must stop when asked to, without having failed anywhere."""
    python = os.environ.get("WAKEWORD_PYTHON", str(ROOT / ".venv/bin/python"))
    with WakeServer(python, ["--keyword", "marvin", "--keyword", "seven"], log=tmp_path / "log") as running:
        yield running
    assert "Traceback" not in running.log.read_text()
    assert "never retrieved" not in running.log.read_text()


@pytest.fixture
async def recogniser(socket_enabled: None) -> AsyncIterator[Recogniser]:
    """Speech recognition as a Wyoming server, which keeps the audio that it gets."""
    async with Recogniser() as running:
        yield running


@pytest.fixture
async def home(hass: HomeAssistant, socket_enabled: None, enable_custom_integrations: None) -> HomeAssistant:
    """Home Assistant with what its pipelines need."""
    # Its part for speech synthesis wants to know the version of ffmpeg, which needs not be installed for that.
    assert await async_setup_component(hass, "ffmpeg", {"ffmpeg": {"ffmpeg_bin": imageio_ffmpeg.get_ffmpeg_exe()}})
    for part in ("homeassistant", "assist_pipeline"):
        assert await async_setup_component(hass, part, {})
    return hass


@pytest.fixture
async def wake_word(home: HomeAssistant, server: WakeServer) -> str:
    """The entity of the server, added as a user adds it: by host and port."""
    await add(home, server.port)
    (entity,) = home.states.async_entity_ids("wake_word")
    return entity


@pytest.fixture
async def stt(home: HomeAssistant, recogniser: Recogniser) -> str:
    """The entity of the speech recognition."""
    await add(home, recogniser.port)
    (entity,) = home.states.async_entity_ids("stt")
    return entity


async def add(home: HomeAssistant, port: int) -> None:
    """Go through the dialog "Wyoming Protocol"."""
    flow = await home.config_entries.flow.async_init("wyoming", context={"source": SOURCE_USER})
    done = await home.config_entries.flow.async_configure(flow["flow_id"], {"host": "127.0.0.1", "port": port})
    assert done["type"] is FlowResultType.CREATE_ENTRY, done
    await home.async_block_till_done()
