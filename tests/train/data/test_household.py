"""Laws of the household sounds: repeatable, of one level, unlike each other, heard in training and learnt as no keyword."""

from pathlib import Path

import numpy as np
import pytest
import torch
from support.small_world import small_config, write_world

from wakeword.base.errors import ConfigError
from wakeword_tools.kinds import Kind, Split
from wakeword_train import DataFolders
from wakeword_train.data import household
from wakeword_train.data.augment import AugmentationConfig, root_mean_square
from wakeword_train.data.batches import BatchSampler, load_stores
from wakeword_train.data.household import HouseholdSounds, household_of
from wakeword_train.data.store import ClipStore
from wakeword_train.training import gather_clips


def voices(count: int = 3) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    return [random.standard_normal(4_000).astype(np.float32) for _ in range(count)]


@pytest.fixture(scope="module")
def sounds() -> HouseholdSounds:
    return HouseholdSounds.made(14, 1.0, speech=voices(), seed=3)


def test_the_same_arguments_give_the_same_sounds(sounds: HouseholdSounds) -> None:
    assert torch.equal(HouseholdSounds.made(14, 1.0, speech=voices(), seed=3).stretches, sounds.stretches)
    assert not torch.equal(HouseholdSounds.made(14, 1.0, speech=voices(), seed=4).stretches, sounds.stretches)


def test_every_stretch_is_finite_and_of_the_same_level(sounds: HouseholdSounds) -> None:
    assert sounds.stretches.shape == (14, 16_000)
    torch.testing.assert_close(root_mean_square(sounds.stretches), torch.ones(14), atol=1e-3, rtol=0)


def test_the_sounds_differ_in_spectrum_and_in_time(sounds: HouseholdSounds) -> None:
    """Noise of one colour has the same centre of its spectrum everywhere, and no louder and quieter moments."""
    power = torch.fft.rfft(sounds.stretches).abs().square()
    centre = (power * torch.linspace(0, 8_000, power.shape[1])).sum(dim=1) / power.sum(dim=1)
    assert float(centre.max() / centre.min()) > 3
    moments = sounds.stretches.unfold(1, 800, 800).square().mean(dim=2).sqrt()
    swing = moments.std(dim=1) / moments.mean(dim=1)
    assert float(swing.max()) > 0.5 > 0.1 > float(swing.min())


def test_without_speech_there_are_sounds_too_and_others() -> None:
    alone = HouseholdSounds.made(5, 0.5, speech=(), seed=0)
    assert alone.stretches.isfinite().all()
    assert not torch.equal(alone.stretches, HouseholdSounds.made(5, 0.5, speech=voices(), seed=0).stretches)


def test_pieces_may_be_longer_than_a_stretch(sounds: HouseholdSounds) -> None:
    pieces = sounds.cut(6, 40_000, torch.Generator().manual_seed(0))
    assert pieces.shape == (6, 40_000)
    assert torch.equal(pieces[:, :24_000], pieces[:, 16_000:])
    assert sounds.cut(0, 100, torch.Generator()).shape == (0, 100)


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_share_is_a_share(share: float) -> None:
    with pytest.raises(ConfigError, match="household"):
        AugmentationConfig(household=share)


def sampler(folder: Path, **augmentation: float) -> BatchSampler:
    config = small_config()
    stores = load_stores(gather_clips(config, DataFolders(folder)), Split.TRAIN)
    stores.pop(Kind.NOISE, None)
    return BatchSampler(
        stores,
        mix=config.mix,
        augmentation=AugmentationConfig(noise_probability=1.0, **augmentation),
        window=config.network.window,
        batch_size=64,
        generator=torch.Generator().manual_seed(0),
    )


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(household, "STRETCHES", 7)
    monkeypatch.setattr(household, "SECONDS", 1.0)


@pytest.mark.usefixtures("few")
def test_voices_are_those_of_the_train_split(tmp_path: Path) -> None:
    clips = gather_clips(small_config(), DataFolders(write_world(tmp_path / "words", speakers=6)))
    negatives = [clip for clip in clips if clip.kind is Kind.NEGATIVE]
    train = [clip for clip in negatives if clip.split is Split.TRAIN]
    assert 0 < len(train) < len(negatives)
    found = [household_of(ClipStore(some), seed=0).stretches for some in (negatives, train)]
    assert torch.equal(*found)
    assert not torch.equal(household_of(None, seed=0).stretches, found[0])


@pytest.mark.usefixtures("few")
def test_batches_hold_household_sounds_as_negatives_only_where_they_are_asked_for(tmp_path: Path) -> None:
    folder = write_world(tmp_path / "words", speakers=6)
    with_sounds, without = sampler(folder, household=0.75), sampler(folder)
    batch, plain = with_sounds.next(), without.next()
    assert batch.frames.isfinite().all()
    assert 0 < float(batch.labels.sum()) < float(plain.labels.sum()) < 64
    again = sampler(folder, household=0.75).next()
    assert torch.equal(again.frames, batch.frames)
