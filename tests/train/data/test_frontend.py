"""The training front end is the runtime's, in torch."""

import numpy as np
import pytest
import torch

from wakeword.audio.features import FeatureConfig, mfcc
from wakeword_train.data.augment import import_torchaudio
from wakeword_train.data.frontend import Frontend


@pytest.fixture
def speech_like() -> np.ndarray:
    random = np.random.default_rng(0)
    t = np.arange(16_000) / 16_000
    voice = sum(np.sin(2 * np.pi * 130 * k * t) / k for k in range(1, 20)) * (1 + np.sin(2 * np.pi * 4 * t))
    return (0.1 * voice + 0.003 * random.standard_normal(len(t))).astype(np.float32)


def test_front_end_equals_the_runtime(speech_like: np.ndarray) -> None:
    ours = Frontend()(torch.from_numpy(speech_like)[None])[0].numpy()
    expected = mfcc(speech_like)
    assert ours.shape == expected.shape == (98, 32)
    np.testing.assert_allclose(ours, expected, atol=1e-4)


def test_front_end_equals_torchaudio(speech_like: np.ndarray) -> None:
    config = FeatureConfig()
    transform = import_torchaudio().transforms.MFCC(
        sample_rate=config.sample_rate,
        n_mfcc=config.n_mfcc,
        log_mels=True,
        melkwargs={
            "n_fft": config.n_fft,
            "hop_length": config.hop_length,
            "n_mels": config.n_mels,
            "f_min": config.f_min,
            "f_max": config.f_max,
            "center": False,
            "norm": None,
            "mel_scale": "htk",
        },
    )
    waves = torch.from_numpy(speech_like)[None]
    torch.testing.assert_close(Frontend()(waves), transform(waves).transpose(1, 2), rtol=0, atol=1e-3)


def test_rows_of_a_batch_do_not_mix(speech_like: np.ndarray) -> None:
    one = torch.from_numpy(speech_like)
    batch = Frontend()(torch.stack([one, torch.zeros_like(one), 0.5 * one]))
    torch.testing.assert_close(batch[0], Frontend()(one[None])[0], rtol=0, atol=1e-4)
