"""Satellites of one home in several rooms, all of which hear the word: with ``--group`` one of them goes on."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from assist import RATE, create_assistant, run_assistant
from conftest import ROOT
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.typing import WebSocketGenerator
from servers import Recogniser, WakeServer

ROOMS = {"kitchen": (1.5, 1.0), "hall": (4.0, 0.7), "living room": (5.5, 0.9), "bedroom": (8.0, 0.4)}
"""Of each satellite: metres from the speaker, and a gain of its own."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WakeServer]:
    """A server to which Home Assistant, from its one address, is one home."""
    python = os.environ.get("WAKEWORD_PYTHON", str(ROOT / ".venv/bin/python"))
    command = ["--keyword", "marvin", "--keyword", "seven", "--group", "home=127.0.0.1"]
    with WakeServer(python, command, log=tmp_path / "log") as running:
        yield running
    assert "Traceback" not in running.log.read_text()


def heard_in(room: str, audio: bytes) -> bytes:
    """16-bit PCM as it arrives at the satellite of a room: later, fainter, and with echoes of that room."""
    metres, gain = ROOMS[room]
    random = np.random.default_rng(len(room))
    response = np.zeros(RATE // 5)
    delay = round(metres / 343 * RATE)
    echoes = random.normal(0, 0.02, len(response) - delay) * np.exp(-np.arange(len(response) - delay) / (0.05 * RATE))
    response[delay:] = echoes
    response[delay] = 1 / metres
    sound = np.convolve(np.frombuffer(audio, "<i2"), gain * response)[: len(audio) // 2]
    return np.clip(sound + random.normal(0, 3, len(sound)), -32_768, 32_767).astype("<i2").tobytes()


async def test_of_four_rooms_exactly_one_goes_on_at_each_word(
    home: HomeAssistant,
    wake_word: str,
    stt: str,
    recogniser: Recogniser,
    hass_ws_client: WebSocketGenerator,
    demo: bytes,
) -> None:
    """Home Assistant has nothing to refuse: the others are not told of a word, and go on listening."""
    pipeline = await create_assistant(
        home, hass_ws_client, "Marvin", stt_entity=stt, wake_word=wake_word, word="marvin"
    )

    heard = {room: heard_in(room, demo[: 4 * RATE * 2]) for room in ROOMS}

    for _ in range(5):
        runs = await asyncio.gather(*(run_assistant(home, pipeline, sound) for sound in heard.values()))
        # Which of them cannot be told: they begin up to 80 ms apart, as if they were 27 m apart.
        assert sum("stt-start" in run.kinds for run in runs) == 1
        assert not any("error" in run.kinds for run in runs)


async def test_satellites_of_a_group_that_wait_for_other_words_are_not_held_back(
    home: HomeAssistant,
    wake_word: str,
    stt: str,
    hass_ws_client: WebSocketGenerator,
    server: WakeServer,
    demo: bytes,
) -> None:
    pipelines = [
        await create_assistant(home, hass_ws_client, word, stt_entity=stt, wake_word=wake_word, word=word)
        for word in ("marvin", "seven")
    ]
    audio = demo[: 6 * RATE * 2]
    first, second = await asyncio.gather(*(run_assistant(home, pipeline, audio) for pipeline in pipelines))
    assert first.data("wake_word-end")["wake_word_output"]["wake_word_id"] == "marvin"
    assert second.data("wake_word-end")["wake_word_output"] == {}
