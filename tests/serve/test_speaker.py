"""The known voice that said a word, as a client is told."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("wyoming", reason="needs the packages of pip install '.[serve]'")

from support.served import LOW, int16, serving

from wakeword.base.files import file_sha256
from wakeword.verify import known_voices
from wakeword.verify.known_voices import KnownVoice, Voices


@pytest.mark.parametrize(("heard", "speakers"), [(0, ["me"]), (1, [None])])
def test_a_client_is_told_whose_voice_it_was(
    heard: int, speakers: list[str | None], models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = tmp_path / "speakers.onnx"
    network.write_bytes(b"network")
    directions = np.eye(192, dtype=np.float32)
    monkeypatch.setattr(known_voices, "direction_of", lambda network, samples: directions[heard])
    voice = KnownVoice("me", tuple(directions[0].tolist()), 0.8, 10, file_sha256(network))

    async def listened() -> list[str | None]:
        async with serving(models / "low.onnx", voices=Voices((voice,), network)) as served:
            events = await (await served.client()).speak(int16(LOW))
            (seen,) = served.server.telemetry.snapshot({})["detections"]
            assert [seen["speaker"]] == speakers
            return [event.data["speaker"] for event in events if event.type == "detection"]

    assert asyncio.run(listened()) == speakers
