"""The rooms in which the answers of groups are measured."""

import numpy as np
import pytest

pytest.importorskip("wyoming", reason="needs the packages of pip install '.[serve]'")
pytest.importorskip("scipy")

from scripts.measure_arbitration import response


@pytest.mark.parametrize("metres", [1.0, 3.0, 6.0])
def test_sound_takes_its_time_and_loses_its_level(metres: float) -> None:
    random = np.random.default_rng(3)
    room = np.concatenate(
        (np.zeros(32), [1.0], 0.05 * random.standard_normal(8_000) * np.exp(-np.arange(8_000) / 1_000))
    )
    found = response(room.astype(np.float32), metres)
    peak = int(np.argmax(np.abs(found)))
    assert peak == pytest.approx(16 + metres / 343 * 16_000, abs=1)
    assert np.sqrt(np.square(found[: peak + 40]).sum()) == pytest.approx(1 / metres, rel=0.05)
    assert not found[: peak - 16].any()
