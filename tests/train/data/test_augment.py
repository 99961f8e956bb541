"""Augmentation keeps shapes and finite values, follows its settings, and is repeatable by seed."""

import dataclasses
import math

import pytest
import torch

from wakeword.base.errors import ConfigError
from wakeword_train.data.augment import (
    AugmentationConfig,
    augment_log_mel,
    augment_waves,
    narrow_log_mel,
    root_mean_square,
)
from wakeword_train.data.frontend import Frontend
from wakeword_train.data.mixed_sounds import coloured_noise

OFF = AugmentationConfig(
    speed=0.0, noise_probability=0.0, reverb_probability=0.0, tilt=0.0, warp=0.0, mask_probability=0.0
)


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.fixture
def waves() -> torch.Tensor:
    return 0.1 * torch.randn(32, 15_920, generator=generator())


def test_the_same_seed_gives_the_same_batch(waves: torch.Tensor) -> None:
    noise = torch.randn(waves.shape, generator=generator())
    config = AugmentationConfig()
    assert torch.equal(
        augment_waves(waves, noise, config, generator()), augment_waves(waves, noise, config, generator())
    )


def test_levels_are_in_their_range(waves: torch.Tensor) -> None:
    config = dataclasses.replace(OFF, level_low=-40.0, level_high=-30.0)
    decibels = 20 * root_mean_square(augment_waves(waves, torch.zeros_like(waves), config, generator())).log10()
    assert decibels.min() > -40.1
    assert decibels.max() < -29.9


def test_noise_comes_at_its_ratio(waves: torch.Tensor) -> None:
    config = dataclasses.replace(
        OFF, noise_probability=1.0, snr_low=10.0, snr_high=10.0, level_low=-20.0, level_high=-20.0
    )
    noise = torch.randn(waves.shape, generator=torch.Generator().manual_seed(1))
    noisy = augment_waves(waves, noise, config, generator())
    # Without the part along the clean wave, only the noise is left.
    share = (noisy * waves).sum(dim=1, keepdim=True) / waves.square().sum(dim=1, keepdim=True)
    ratio = 20 * (root_mean_square(share * waves) / root_mean_square(noisy - share * waves)).log10()
    assert ratio.mean().item() == pytest.approx(10.0, abs=0.5)


def test_silence_and_full_scale_stay_finite_and_unclipped() -> None:
    waves = torch.stack([torch.zeros(15_920), torch.ones(15_920)])
    result = augment_waves(waves, torch.zeros_like(waves), AugmentationConfig(), generator())
    assert torch.isfinite(result).all()
    assert result.abs().max() <= 1


def test_a_room_rings_after_the_sound_and_not_before() -> None:
    click = torch.zeros(64, 15_920)
    click[:, 5_000] = 1
    config = dataclasses.replace(OFF, reverb_probability=1.0, level_low=-20.0, level_high=-20.0)
    wet = augment_waves(click, torch.zeros_like(click), config, generator())
    wet = wet / wet[:, 5_000:5_001]
    assert wet[:, :4_990].abs().max() < 1e-3
    assert (wet[:, 5_010:6_000].square().sum(dim=1) > 1e-3).all()


def _in_rooms(**settings: float) -> torch.Tensor:
    """A click in 256 rooms, from the click on and relative to it, ``(256, 8000)``."""
    click = torch.zeros(256, 15_920)
    click[:, 5_000] = 1
    off = dataclasses.replace(OFF, level_low=-60.0, level_high=-60.0)
    config = dataclasses.replace(off, reverb_probability=1.0, reverb_seconds=0.8, **settings)
    wet = augment_waves(click, torch.zeros_like(click), config, generator())[:, 5_000:13_000]
    return wet / wet[:, :1]


def test_a_higher_ratio_puts_the_speaker_farther_away() -> None:
    ratios = [10 * _in_rooms(reverb_ratio=ratio)[:, 1:].square().sum(dim=1).log10() for ratio in (3.0, 12.0)]
    assert [float(ratio.max().round()) for ratio in ratios] == [3.0, 12.0]
    assert [float(ratio.min().round()) for ratio in ratios] == [-15.0, -15.0]


def test_damping_takes_high_frequencies_first_and_leaves_low_ones() -> None:
    def late(damping: float) -> tuple[float, float]:
        spectra = torch.fft.rfft(_in_rooms(reverb_damping=damping)[:, 3_000:]).abs().square().mean(dim=0)
        # Below and above all frequencies from which rooms may damp: 800 to 3,000 Hz, in steps of 3.2 Hz.
        return float(spectra[:200].mean()), float(spectra[1_000:].mean())

    (low, high), (damped_low, damped_high) = late(0.0), late(0.6)
    assert high == pytest.approx(low, rel=0.3)
    assert damped_low > 0.8 * low
    assert damped_high < 0.5 * damped_low


def test_without_damping_a_room_is_drawn_as_before_there_was_any() -> None:
    waves = torch.randn(4, 4_000, generator=generator())
    config = dataclasses.replace(OFF, reverb_probability=1.0, reverb_seconds=0.2, level_low=-30.0, level_high=-30.0)
    found = augment_waves(waves, torch.zeros_like(waves), config, generator())

    drawn = generator()
    torch.rand(4, generator=drawn)
    time = torch.arange(3_200) / 16_000
    duration = 0.1 + 0.1 * torch.rand(4, generator=drawn)[:, None]
    tail = torch.randn(4, 3_200, generator=drawn) * torch.exp(-time * math.log(1000) / duration)
    ratio = 10 ** ((-15 + 18 * torch.rand(4, generator=drawn)) / 20)
    response = tail * (ratio / tail.square().sum(dim=1).sqrt())[:, None]
    response[:, 0] = 1
    size = waves.shape[1] + 3_200
    wet = torch.fft.irfft(torch.fft.rfft(waves, size) * torch.fft.rfft(response, size), size)[:, : waves.shape[1]]
    wet = wet * (10**-1.5 / wet.square().mean(dim=1, keepdim=True).sqrt())
    torch.testing.assert_close(found, wet, atol=1e-4, rtol=1e-3)


def test_log_mel_is_untouched_when_everything_is_off() -> None:
    log_mel = torch.randn(4, 98, 32, generator=generator())
    torch.testing.assert_close(augment_log_mel(log_mel, OFF, generator()), log_mel)


def test_masks_are_no_wider_than_allowed() -> None:
    config = dataclasses.replace(OFF, mask_probability=1.0, mask_bands=4, mask_frames=7)
    log_mel = torch.randn(64, 98, 32, generator=generator())
    changed = augment_log_mel(log_mel, config, generator()) != log_mel
    assert changed.any()
    assert changed.all(dim=1).sum(dim=1).max() <= 4
    assert changed.all(dim=2).sum(dim=1).max() <= 7


def test_coloured_noise_falls_as_its_colour_says() -> None:
    noise = coloured_noise(2**16, generator())
    power = torch.fft.rfft(noise).abs().square()
    low, high = power[:, 100:200].mean(dim=1), power[:, 10_000:20_000].mean(dim=1)
    octaves_of_ten = torch.log10(low / high) / 2
    torch.testing.assert_close(octaves_of_ten, torch.tensor([0.0, 1.0, 2.0]), atol=0.15, rtol=0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"noise_probability": 1.5},
        {"narrow_probability": -0.1},
        {"talk_probability": 2.0},
        {"speed": 0.7},
        {"snr_low": 40.0},
    ],
)
def test_settings_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        AugmentationConfig(**wrong)


def test_a_narrow_window_has_nothing_above_its_band_and_all_below(waves: torch.Tensor) -> None:
    config = dataclasses.replace(OFF, narrow_probability=1.0, level_low=-20.0, level_high=-20.0)
    narrow = torch.fft.rfft(augment_waves(waves, torch.zeros_like(waves), config, generator())).abs()
    wide = torch.fft.rfft(waves).abs()
    frequencies = torch.linspace(0, 8_000, wide.shape[1])
    assert narrow[:, frequencies > 4_000].max() < 1e-3 * narrow.max()
    gain = (narrow / wide)[:, frequencies < 3_300]
    torch.testing.assert_close(gain, gain.mean(dim=1, keepdim=True).expand_as(gain), atol=1e-3, rtol=1e-2)


def test_features_are_narrowed_as_their_windows_would_be() -> None:
    """Bands that lie above the limit are silent, bands below it as they were."""
    frontend, config = Frontend(), dataclasses.replace(OFF, narrow_probability=1.0)
    log_mel = torch.zeros(64, 9, len(frontend.centres))
    narrow = narrow_log_mel(log_mel, frontend.centres, frontend.silence, config, generator())
    assert (narrow[:, :, frontend.centres >= 4_000] == frontend.silence).all()
    assert (narrow[:, :, frontend.centres < 3_300] == 0).all()
    assert frontend.log_mel(torch.zeros(1, 16_000)).max() == pytest.approx(frontend.silence)


def test_nothing_is_drawn_for_what_is_off(waves: torch.Tensor) -> None:
    """So that a recipe without narrow windows gives the model that it gave before there were any."""
    drawing = generator()
    before = drawing.get_state()
    centres = torch.linspace(0, 8_000, 32)
    narrow_log_mel(torch.zeros(4, 9, 32), centres, -14.0, OFF, drawing)
    assert torch.equal(drawing.get_state(), before)
