"""What a user of Home Assistant sees and hears: the words to choose from, and a command that follows one of them."""

import asyncio

import pytest
from assist import RATE, blocks, create_assistant, run_assistant
from homeassistant.components.wake_word import DetectionResult, async_get_wake_word_detection_entity
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.typing import WebSocketGenerator
from servers import Recogniser

SPOKEN, FOUND = 1.4, 2.6
"""Seconds: the first "marvin" of the demo begins, and has been found."""


async def detect(home: HomeAssistant, entity: str, audio: bytes, word: str | None) -> DetectionResult | None:
    """What the entity finds first in audio that comes as fast as it takes it."""
    found = async_get_wake_word_detection_entity(home, entity)
    assert found is not None

    async def timed():
        offset = 0
        async for block in blocks(audio, real_time=False):
            yield block, offset * 500 // RATE
            offset += len(block)

    return await found.async_process_audio_stream(timed(), word)


async def test_the_words_of_the_server_can_be_chosen(
    home: HomeAssistant, wake_word: str, hass_ws_client: WebSocketGenerator
) -> None:
    websocket = await hass_ws_client(home)
    await websocket.send_json_auto_id({"type": "wake_word/info", "entity_id": wake_word})
    answer = await websocket.receive_json()
    assert answer["success"], answer
    offered = {word["id"]: word["phrase"] for word in answer["result"]["wake_words"]}
    assert offered == {"marvin": "marvin", "seven": "seven"}


async def test_the_first_word_that_is_said_is_found_with_its_time(
    home: HomeAssistant, wake_word: str, demo: bytes
) -> None:
    found = await detect(home, wake_word, demo, "marvin")
    assert found is not None
    assert (found.wake_word_id, found.wake_word_phrase) == ("marvin", "marvin")
    assert found.timestamp is not None
    assert SPOKEN < found.timestamp / 1000 < FOUND


async def test_without_a_choice_every_word_wakes(home: HomeAssistant, wake_word: str, demo: bytes) -> None:
    found = await detect(home, wake_word, demo, None)
    assert found is not None
    assert found.wake_word_id == "marvin"


async def test_nothing_is_found_in_silence_and_before_the_word(
    home: HomeAssistant, wake_word: str, demo: bytes
) -> None:
    assert await detect(home, wake_word, bytes(10 * RATE * 2), "marvin") is None
    assert await detect(home, wake_word, demo[: round(SPOKEN * RATE) * 2], "marvin") is None


async def test_a_command_follows_the_word_in_real_time_without_a_gap(
    home: HomeAssistant,
    wake_word: str,
    stt: str,
    recogniser: Recogniser,
    hass_ws_client: WebSocketGenerator,
    demo: bytes,
) -> None:
    pipeline = await create_assistant(
        home, hass_ws_client, "Marvin", stt_entity=stt, wake_word=wake_word, word="marvin"
    )
    audio = demo[: 10 * RATE * 2]
    run = await run_assistant(home, pipeline, audio)
    assert run.kinds == ["run-start", "wake_word-start", "wake_word-end", "stt-start", "stt-end", "run-end"]
    found = run.data("wake_word-end")["wake_word_output"]
    assert found["wake_word_id"] == "marvin"
    assert run.data("stt-end")["stt_output"]["text"] == Recogniser.TEXT
    # The recogniser hears everything after the word: the end of what was sent, not a sample missing.
    heard = bytes(recogniser.heard)
    assert heard
    assert audio.endswith(heard)
    begin = 10 - len(heard) / 2 / RATE
    assert SPOKEN < found["timestamp"] / 1000 <= begin
    print(
        f"found at {found['timestamp']} ms; known after {run.seconds('wake_word-end'):.3f} s; STT from {begin:.3f} s on"
    )


async def test_two_assistants_have_two_words(
    home: HomeAssistant,
    wake_word: str,
    stt: str,
    hass_ws_client: WebSocketGenerator,
    demo: bytes,
) -> None:
    """Both hear the same audio at the same time: the assistant that waits for "seven" lets "marvin" pass."""
    pipelines = [
        await create_assistant(home, hass_ws_client, word, stt_entity=stt, wake_word=wake_word, word=word)
        for word in ("marvin", "seven")
    ]
    audio = demo[: 6 * RATE * 2]
    first, second = await asyncio.gather(*(run_assistant(home, pipeline, audio) for pipeline in pipelines))
    assert first.data("wake_word-end")["wake_word_output"]["wake_word_id"] == "marvin"
    assert second.data("wake_word-end")["wake_word_output"] == {}

    found = await asyncio.gather(*(detect(home, wake_word, demo, word) for word in ("marvin", "seven")))
    assert [one and one.wake_word_id for one in found] == ["marvin", "seven"]


async def test_of_two_satellites_in_one_room_one_wakes(
    home: HomeAssistant,
    wake_word: str,
    stt: str,
    hass_ws_client: WebSocketGenerator,
    demo: bytes,
) -> None:
    """Both find the word. Home Assistant then lets only the first one go on, by the phrase that we name."""
    pipeline = await create_assistant(
        home, hass_ws_client, "Marvin", stt_entity=stt, wake_word=wake_word, word="marvin"
    )
    audio = demo[: 4 * RATE * 2]
    runs = await asyncio.gather(*(run_assistant(home, pipeline, audio) for _ in range(2)))
    assert sorted("stt-end" in run.kinds for run in runs) == [False, True]
    (refused,) = [run for run in runs if "stt-end" not in run.kinds]
    assert refused.data("error")["code"] == "duplicate_wake_up_detected"


async def test_ten_satellites_at_once_all_find_it(home: HomeAssistant, wake_word: str, demo: bytes) -> None:
    audio = demo[: 4 * RATE * 2]
    found = await asyncio.gather(*(detect(home, wake_word, audio, "marvin") for _ in range(10)))
    times = {one and one.timestamp for one in found}
    assert len(times) == 1
    assert times != {None}


@pytest.mark.parametrize("word", ["alexa", "no such word"])
async def test_a_word_that_the_server_lacks_is_never_replaced(
    home: HomeAssistant, wake_word: str, demo: bytes, word: str
) -> None:
    assert await detect(home, wake_word, demo, word) is None
