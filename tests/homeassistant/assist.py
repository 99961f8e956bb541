"""Pipelines of Assist and satellites that stream into them."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from homeassistant.components import stt
from homeassistant.components.assist_pipeline import (
    AudioSettings,
    PipelineEvent,
    WakeWordSettings,
    async_pipeline_from_audio_stream,
)
from homeassistant.components.assist_pipeline.pipeline import PipelineStage
from homeassistant.core import Context, HomeAssistant
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

RATE = 16_000
BLOCK = 0.02
"""Seconds of audio that a satellite sends at a time."""


async def blocks(audio: bytes, *, real_time: bool) -> AsyncIterator[bytes]:
    """16-bit PCM in blocks, each at the time when a microphone would have it, or as fast as it is taken."""
    size = round(BLOCK * RATE) * 2
    start = time.monotonic()
    for number, offset in enumerate(range(0, len(audio), size), 1):
        if real_time:
            await asyncio.sleep(max(0, start + number * BLOCK - time.monotonic()))
        yield audio[offset : offset + size]


async def create_assistant(
    home: HomeAssistant, client: WebSocketGenerator, name: str, *, stt_entity: str, wake_word: str, word: str | None
) -> str:
    """A pipeline as the dialog "Add assistant" makes it; returns its id."""
    websocket = await client(home)
    await websocket.send_json_auto_id(
        {
            "type": "assist_pipeline/pipeline/create",
            "name": name,
            "language": "en",
            "conversation_engine": "conversation.home_assistant",
            "conversation_language": "en",
            "stt_engine": stt_entity,
            "stt_language": "en",
            "tts_engine": None,
            "tts_language": None,
            "tts_voice": None,
            "wake_word_entity": wake_word,
            "wake_word_id": word,
        }
    )
    answer = await websocket.receive_json()
    assert answer["success"], answer
    return str(answer["result"]["id"])


@dataclass
class Run:
    """What a pipeline reported: each event with the seconds since the run began."""

    events: list[tuple[float, PipelineEvent]] = field(default_factory=list)

    def data(self, kind: str) -> dict[str, Any]:
        """The data of the only event of a kind."""
        (found,) = [event.data for _, event in self.events if event.type == kind]
        return found

    def seconds(self, kind: str) -> float:
        """When the only event of a kind came."""
        (found,) = [seconds for seconds, event in self.events if event.type == kind]
        return found

    @property
    def kinds(self) -> list[str]:
        return [str(event.type) for _, event in self.events]


async def run_assistant(home: HomeAssistant, pipeline: str, audio: bytes) -> Run:
    """A satellite that streams in real time, from wake word to text. All that follows the word is the command."""
    run = Run()
    start = time.monotonic()
    await async_pipeline_from_audio_stream(
        home,
        context=Context(),
        event_callback=lambda event: run.events.append((time.monotonic() - start, event)),
        stt_metadata=stt.SpeechMetadata(
            language="en",
            format=stt.AudioFormats.WAV,
            codec=stt.AudioCodecs.PCM,
            bit_rate=stt.AudioBitRates.BITRATE_16,
            sample_rate=stt.AudioSampleRates.SAMPLERATE_16000,
            channel=stt.AudioChannels.CHANNEL_MONO,
        ),
        stt_stream=blocks(audio, real_time=True),
        pipeline_id=pipeline,
        wake_word_settings=WakeWordSettings(timeout=None),
        audio_settings=AudioSettings(is_vad_enabled=False),
        start_stage=PipelineStage.WAKE_WORD,
        end_stage=PipelineStage.STT,
    )
    return run
