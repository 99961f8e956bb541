"""Held-out clips in noise, and in rooms."""

import numpy as np
import pytest
import torch

from wakeword.audio import SAMPLE_RATE
from wakeword.errors import ConfigError
from wakeword.takes.word_region import Region
from wakeword_train.data.augment import AugmentationConfig
from wakeword_train.second_stage.config import SecondStageConfig
from wakeword_train.second_stage.hearing import NoisyCopies
from wakeword_train.second_stage.looks import LookCutter

_AUGMENTATION = AugmentationConfig(reverb_seconds=0.8, reverb_ratio=9.0, reverb_damping=0.5)
_WORD = Region(4_000, 8_000)


def _copies(distant: float, count: int = 20) -> np.ndarray:
    clip = np.zeros(SAMPLE_RATE, np.float32)
    clip[_WORD.start : _WORD.end] = 0.1 * np.sin(np.arange(_WORD.end - _WORD.start))
    cutter = LookCutter(_AUGMENTATION, noise=None, background=None, generator=torch.Generator().manual_seed(0))
    copies = NoisyCopies(cutter, _AUGMENTATION, distant, seed=0)
    return np.stack([copies.of(clip, _WORD) for _ in range(count)])


def test_distant_copies_ring_after_the_word_and_others_do_not() -> None:
    def ringing(copies: np.ndarray) -> np.ndarray:
        """Energy right after the word to that before it, where there is noise alone."""
        after, before = copies[:, 8_100:9_100], copies[:, 2_900:3_900]
        return np.square(after).sum(axis=1) / np.square(before).sum(axis=1)

    assert np.median(ringing(_copies(0.0))) == pytest.approx(1.0, abs=0.5)
    assert np.median(ringing(_copies(1.0))) > 2
    share = np.mean(ringing(_copies(0.5, 60)) > 2)
    assert 0.15 < share < 0.7


def test_copies_are_repeatable_and_without_rooms_nothing_is_drawn_for_them() -> None:
    assert np.array_equal(_copies(0.5), _copies(0.5))
    near, some = _copies(0.0), _copies(0.5)
    assert near.shape == some.shape
    assert not np.array_equal(near, some)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_is_a_share(share: float) -> None:
    with pytest.raises(ConfigError, match="distant"):
        SecondStageConfig(distant=share)
