"""A client that sends what its loudspeaker gets as a second channel."""

import asyncio
from pathlib import Path

import numpy as np
import pytest
from support.builders import bursts

pytest.importorskip("wyoming", reason="needs the packages of pip install '.[serve]'")

from wakeword.cli.options import PointOptions
from wakeword_serve.client_stream import ListeningStream, StreamSettings
from wakeword_serve.fair_share import ClientBudget, ScoringThreads
from wakeword_serve.wire_audio import PcmFormat
from wakeword_serve.words import PLAYBACK_TEXT, info_of, load_word


@pytest.mark.parametrize(("playback", "found"), [(False, 1), (True, 0)])
def test_a_word_of_the_second_channel_does_not_wake(models: Path, playback: bool, found: int) -> None:
    word = load_word(models / "low.onnx", PointOptions())
    sound = (32_767 * bursts(4, {1.5: "low"})).clip(-32_767, 32_767).astype("<i2")
    both = np.stack((np.concatenate((np.zeros(800, "<i2"), sound[:-800])), sound), axis=1)
    stream = ListeningStream(
        [word], PcmFormat(16_000, 2), StreamSettings(100, 0.5, playback), ClientBudget(ScoringThreads())
    )

    async def listened() -> int:
        events = [
            await stream.push(both[start : start + 1_000].tobytes(), None) for start in range(0, len(both), 1_000)
        ]
        return sum(len(event.found) for event in [*events, await stream.finish()])

    assert asyncio.run(listened()) == found
    assert (PLAYBACK_TEXT.encode() in info_of([word], playback=playback)) == playback
