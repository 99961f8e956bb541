"""What became of a wake: the blueprint tells the server, which writes it next to the event that it kept."""

import asyncio
import json
import os
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import add
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from servers import WakeServer
from test_wake_words import detect

ROOT = Path(__file__).resolve().parents[2]
SATELLITE = "assist_satellite.kitchen"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WAKEWORD_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "kept"


@pytest.fixture
def keeping(kept: Path, tmp_path: Path) -> Iterator[tuple[WakeServer, int]]:
    """A server that keeps events, and the port of its page."""
    python = os.environ.get("WAKEWORD_PYTHON", str(ROOT / ".venv/bin/python"))
    port = free_port()
    arguments = ["--keyword", "marvin", "--keep", "audio", "--http", f"127.0.0.1:{port}"]
    with WakeServer(python, arguments, log=tmp_path / "log") as running:
        yield running, port


async def outcomes(kept: Path, wanted: list[str]) -> list[str]:
    """The outcomes that are written, oldest event first, once there are as many as wanted; at the latest after 10 s."""
    latest = time.monotonic() + 10
    while True:
        paths = await asyncio.to_thread(lambda: sorted(kept.glob("*.json")))
        told = [str(json.loads(path.read_text()).get("outcome", "")) for path in paths]
        if told == wanted or time.monotonic() > latest:
            return told
        await asyncio.sleep(0.1)


async def test_the_blueprint_tells_what_became_of_each_wake(
    home: HomeAssistant, keeping: tuple[WakeServer, int], kept: Path, demo: bytes
) -> None:
    server, port = keeping
    target = Path(home.config.path("blueprints/automation/wakeword/wake_outcome.yaml"))
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "deploy/home-assistant/wake_outcome.yaml", target)
    await add(home, server.port)
    (entity,) = home.states.async_entity_ids("wake_word")
    url = f"http://127.0.0.1:{port}/outcome?outcome={{{{ outcome }}}}"
    assert await async_setup_component(
        home, "rest_command", {"rest_command": {"wakeword_outcome": {"url": url, "method": "post"}}}
    )
    home.services.async_register("light", "turn_on", lambda call: None)
    used = {"path": "wakeword/wake_outcome.yaml", "input": {"satellite": SATELLITE}}
    assert await async_setup_component(home, "automation", {"automation": [{"use_blueprint": used}]})
    await home.async_block_till_done()
    home.states.async_set(SATELLITE, "idle")

    async def wake(*states: str) -> None:
        found = await detect(home, entity, demo[: 4 * 32_000], "marvin")
        assert found is not None
        for state in states:
            home.states.async_set(SATELLITE, state)
            await home.async_block_till_done()

    await wake("listening", "idle")
    assert await outcomes(kept, ["false"]) == ["false"]
    # A command that calls an action; the same action at another time says nothing.
    await wake("listening", "processing")
    await home.services.async_call("light", "turn_on", blocking=True)
    await home.async_block_till_done()
    home.states.async_set(SATELLITE, "responding")
    home.states.async_set(SATELLITE, "idle")
    await home.async_block_till_done()
    assert await outcomes(kept, ["false", "true"]) == ["false", "true"]
    # An answer without an action.
    await wake("listening", "processing", "responding", "idle")
    await home.services.async_call("light", "turn_on", blocking=True)
    await home.async_block_till_done()
    await asyncio.sleep(1)
    assert await outcomes(kept, ["false", "true", ""]) == ["false", "true", ""]
