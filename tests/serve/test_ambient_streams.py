"""``--ambient``: the hours of each stream."""

import asyncio
import itertools
from pathlib import Path

import numpy as np
import pytest
from support.builders import bursts

pytest.importorskip("wyoming", reason="needs the packages of pip install '.[serve]'")

from support.served import int16, serving

from wakeword.saving.ambient_keeper import AmbientKeeper
from wakeword.saving.ambient_segment import segments_of

TEN_SECONDS = bursts(60, {20: "low", 40: "low"})[:160_000]


def test_a_server_keeps_the_hours_of_each_stream_if_asked(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A clock that leaves time for all that is sent.
    monkeypatch.setattr("wakeword_serve.fair_share.monotonic", itertools.count(step=60).__next__)

    async def speak(keeper: AmbientKeeper) -> None:
        async with serving(models / "low.onnx", windows=keeper.stream) as served:
            for stop in (True, False):
                client = await served.client()
                await client.speak(int16(TEN_SECONDS), stop=stop)
                await client.close()

    keeper = AmbientKeeper(tmp_path)
    asyncio.run(speak(keeper))
    keeper.close()
    found = []
    for path in tmp_path.glob("*.npz"):
        with np.load(path) as arrays:
            found += segments_of(arrays)
    ended, left = sorted(found, key=lambda one: one.length or 0, reverse=True)
    assert ended.samples == 160_000
    assert left.length is None
    np.testing.assert_array_equal(left.logits, ended.logits[: len(left.logits)])
