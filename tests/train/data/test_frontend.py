"""The training front end is the runtime's, in torch."""

import numpy as np
import pytest
import torch

from wakeword.audio.features import mfcc
from wakeword_train.data.frontend import Frontend


@pytest.fixture
def speech_like() -> np.ndarray:
    rng = np.random.default_rng(0)
    t = np.arange(16_000) / 16_000
    voice = sum(np.sin(2 * np.pi * 130 * k * t) / k for k in range(1, 20)) * (1 + np.sin(2 * np.pi * 4 * t))
    return (0.1 * voice + 0.003 * rng.standard_normal(len(t))).astype(np.float32)


def test_front_end_equals_the_runtime(speech_like: np.ndarray) -> None:
    ours = Frontend()(torch.from_numpy(speech_like)[None])[0].numpy()
    expected = mfcc(speech_like)
    assert ours.shape == expected.shape == (98, 32)
    np.testing.assert_allclose(ours, expected, atol=1e-4)


def test_rows_of_a_batch_do_not_mix(speech_like: np.ndarray) -> None:
    one = torch.from_numpy(speech_like)
    batch = Frontend()(torch.stack([one, torch.zeros_like(one), 0.5 * one]))
    torch.testing.assert_close(batch[0], Frontend()(one[None])[0], rtol=0, atol=1e-4)
