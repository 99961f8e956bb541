"""Measurements of recordings with known properties, and the findings about them."""

import math
import os
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr
from hypothesis import given
from hypothesis import strategies as st

from wakeword.checkup.findings import CheckRecording, Finding, diagnose
from wakeword.checkup.levels import (
    bandwidth,
    clipping,
    dc_offset,
    dropouts,
    levels,
    mixdown,
    timing,
)
from wakeword.microphone.clock import Stamp

RATE = 48_000
RATES = (8_000, 16_000, 44_100, 48_000)


def noise(seconds: float, level: float, *, rate: int = RATE, seed: int = 0) -> np.ndarray:
    """White noise at an RMS ``level`` in dBFS."""
    return 10 ** (level / 20) * np.random.default_rng(seed).standard_normal(round(seconds * rate))


def sine(seconds: float, frequency: float, amplitude: float, *, rate: int = RATE) -> np.ndarray:
    return amplitude * np.sin(2 * np.pi * frequency * np.arange(round(seconds * rate)) / rate)


def spoken(level: float = -25.0, *, floor: float = -70.0, rate: int = RATE) -> np.ndarray:
    """3 s of a quiet floor, then 2 s of louder noise instead of a voice."""
    signal = noise(5, floor, rate=rate)
    signal[3 * rate :] += noise(2, level, rate=rate, seed=1)
    return signal


def sixteen_bits(signal: np.ndarray) -> np.ndarray:
    return (np.clip(np.round(signal * 2**15), -(2**15), 2**15 - 1) / 2**15).astype(np.float32)


def findings(*channels: np.ndarray, rate: int = RATE, **more) -> dict[str, Finding]:
    recording = CheckRecording(sixteen_bits(np.stack(channels, axis=1)), rate, **more)
    return {finding.name: finding for finding in diagnose(recording)}


def stamps(seconds: float, *, nominal: int = RATE, real: float = RATE, jitter: float = 0.0) -> list[Stamp]:
    """Blocks of 20 ms from a device whose clock runs at ``real``; callbacks come up to ``jitter`` seconds late."""
    frames = nominal // 50
    late = np.random.default_rng(0).uniform(0, jitter, round(seconds * 50))
    return [
        Stamp(i * frames, frames, 100 + i * frames / real + late[i], 7 + i * frames / real) for i in range(len(late))
    ]


def test_levels_of_a_sine_are_those_of_mathematics() -> None:
    measured = levels(sine(2, 1_000, 0.5), RATE)
    for level in (measured.rms, measured.noise, measured.speech):
        assert level == pytest.approx(10 * math.log10(0.5**2 / 2), abs=0.01)
    assert measured.peak == pytest.approx(20 * math.log10(0.5), abs=0.01)


@given(gain=st.floats(-60, 20), offset=st.floats(-0.2, 0.2))
def test_a_gain_changes_all_levels_equally_and_an_offset_changes_none(gain: float, offset: float) -> None:
    signal = spoken(rate=8_000)
    before = levels(signal, 8_000)
    after = levels(10 ** (gain / 20) * signal + offset, 8_000)
    np.testing.assert_allclose(np.subtract(after, before), gain, atol=1e-6)


@pytest.mark.parametrize("rate", RATES)
def test_the_noise_floor_is_found_under_speech(rate: int) -> None:
    measured = levels(spoken(-25, floor=-70, rate=rate), rate)
    assert measured.noise == pytest.approx(-70, abs=0.6)
    assert measured.speech == pytest.approx(-25, abs=0.6)


def test_zeros_have_no_level_and_do_not_count_as_noise_floor() -> None:
    assert set(levels(np.zeros(RATE), RATE)) == {-math.inf}
    assert set(levels(np.zeros(0), RATE)) == {-math.inf}
    half_muted = np.concatenate([np.zeros(RATE), noise(1, -50)])
    assert levels(half_muted, RATE).noise == pytest.approx(-50, abs=0.6)


@pytest.mark.parametrize("offset", [-0.25, 0.0, 0.01])
def test_the_offset_is_found_under_sound(offset: float) -> None:
    assert dc_offset(sine(1, 440, 0.1) + offset) == pytest.approx(offset, abs=1e-6)


@pytest.mark.parametrize("over", [0.5, 3.0, 12.0])
@pytest.mark.parametrize("volume", [1.0, 0.4])
def test_a_clipped_sine_is_clipped_as_often_as_geometry_says(over: float, volume: float) -> None:
    """Even if it was made quieter afterwards."""
    limit = 10 ** (-over / 20)
    clipped = sixteen_bits(volume * np.clip(sine(1, 997, 1 / limit), -1, 1))
    measured = clipping(clipped)
    assert measured.share == pytest.approx(2 * math.acos(limit) / math.pi, rel=0.15)
    assert measured.ceiling == pytest.approx(20 * math.log10(volume), abs=0.01)
    assert measured.longest_run == pytest.approx(math.acos(limit) / math.pi * RATE / 997, abs=1.5)


@pytest.mark.parametrize("frequency", [100, 440, 1_000, 3_000])
@pytest.mark.parametrize("rate", RATES)
def test_an_unclipped_sine_is_not_clipped(frequency: float, rate: int) -> None:
    assert clipping(sixteen_bits(sine(1, frequency - 0.3, 0.99, rate=rate))).share == 0


def test_a_single_sample_at_full_scale_counts() -> None:
    signal = noise(1, -40)
    signal[100], signal[200] = 1, -1
    assert clipping(sixteen_bits(signal)).share == 2 / RATE


def test_the_peaks_of_quiet_sound_are_not_clipping() -> None:
    assert clipping(sixteen_bits(noise(1, -90))).share == 0


@given(st.lists(st.integers(0, 45), unique=True), st.sampled_from(RATES))
def test_every_gap_in_the_sound_is_found(places: list[int], rate: int) -> None:
    signal = sixteen_bits(noise(5, -40, rate=rate))
    hole = rate // 100
    for place in places:
        signal[(place + 1) * rate // 10 :][:hole] = 0
    measured = dropouts(signal, rate)
    assert measured.number == len(places)
    # Noise can have a zero of its own next to the hole.
    assert measured.seconds == pytest.approx(len(places) * hole / rate, abs=len(places) * 5 / rate)


def test_silence_after_fading_sound_is_not_a_dropout() -> None:
    fading = sine(1, 300, 0.5) * np.repeat([1, 0.1, 0.01, 3e-4, 0, 0, 3e-4, 0.01, 0.1, 1], RATE // 10)
    assert dropouts(sixteen_bits(fading), RATE).number == 0
    assert dropouts(sixteen_bits(noise(2, -95)), RATE).number == 0
    muted = noise(2, -30)
    muted[RATE // 2 : RATE + RATE // 10] = 0
    assert dropouts(muted, RATE).number == 0
    assert dropouts(np.concatenate([np.zeros(RATE), noise(1, -30), np.zeros(RATE)]), RATE).number == 0


@pytest.mark.parametrize("level", [-20, -75])
@pytest.mark.parametrize(("narrow", "rate"), [(8_000, 16_000), (8_000, 44_100), (8_000, 48_000), (16_000, 48_000)])
def test_resampling_from_a_lower_rate_shows(narrow: int, rate: int, level: float) -> None:
    upsampled = sixteen_bits(soxr.resample(noise(3, level, rate=narrow), narrow, rate))
    assert bandwidth(upsampled, rate) == pytest.approx(narrow / 2, abs=500)


@pytest.mark.parametrize("rate", RATES)
def test_sound_over_the_whole_band_has_no_edge(rate: int) -> None:
    assert bandwidth(sixteen_bits(noise(3, -50, rate=rate)), rate) == rate / 2
    brown = np.cumsum(noise(3, -50, rate=rate))
    assert bandwidth(sixteen_bits(0.1 * brown / np.abs(brown).max()), rate) == rate / 2


def test_dead_and_cancelling_channels_are_found() -> None:
    one, other = noise(1, -30), noise(1, -30, seed=1)
    checked = mixdown(np.stack([one, other, one, 0 * one], axis=1))
    assert checked.dead == (3,)
    assert mixdown(np.stack([one, one], axis=1)).mixing_loss == pytest.approx(0, abs=1e-9)
    assert mixdown(np.stack([one, other], axis=1)).mixing_loss == pytest.approx(-3, abs=0.2)
    assert mixdown(np.stack([one, 0 * one], axis=1)).mixing_loss == pytest.approx(-3.01, abs=0.01)
    assert mixdown(np.stack([one, -0.9 * one], axis=1)).mixing_loss < -20


@pytest.mark.parametrize("real", [RATE, 48_010.0, 44_100.0])
@pytest.mark.parametrize("jitter", [0.0, 0.01])
def test_the_real_rate_is_found_within_its_uncertainty(real: float, jitter: float) -> None:
    measured = timing(stamps(5, real=real, jitter=jitter), RATE)
    assert measured.measured_rate is not None
    assert measured.uncertainty is not None
    assert measured.uncertainty < 0.003 * RATE
    assert abs(measured.measured_rate - real) <= measured.uncertainty + 0.1
    assert measured.missing_seconds == 0


def test_missing_blocks_and_pauses_do_not_change_the_rate() -> None:
    given = stamps(6)
    del given[50:60]
    # Blocks that a driver lost have no numbers; the clocks continue.
    later = [s._replace(captured=s.captured + 0.5, driver=s.driver + 0.5) for s in given[150:]]
    measured = timing(given[:150] + later, RATE)
    assert measured.missing_seconds == pytest.approx(0.2 + 0.5, abs=0.01)
    assert measured.measured_rate == pytest.approx(RATE, rel=1e-3)


def test_a_short_stream_has_no_measured_rate() -> None:
    assert timing(stamps(1.5), RATE) == (None, None, 0)
    assert timing([], RATE) == (None, None, 0)


def test_a_good_recording_needs_no_change() -> None:
    found = findings(spoken(), stamps=stamps(5))
    assert {(finding.verdict, finding.advice) for finding in found.values()} == {("ok", "")}
    assert list(found) == [
        "level",
        "noise floor",
        "clipping",
        "DC offset",
        "bandwidth",
        "dropouts",
        "sample rate",
    ]


def with_holes(seconds: float) -> np.ndarray:
    signal = spoken(floor=-45)
    for start in range(RATE, 5 * RATE, RATE):
        signal[start:][: round(seconds / 4 * RATE)] = 0
    return signal


@pytest.mark.parametrize(
    ("name", "verdict", "signal"),
    [
        ("level", "bad", np.zeros(5 * RATE)),
        ("level", "warn", noise(5, -60)),
        ("level", "warn", spoken(-55, floor=-90)),
        ("level", "bad", spoken(-65, floor=-95)),
        ("level", "warn", spoken(-10)),
        ("noise floor", "warn", spoken(-25, floor=-40)),
        ("noise floor", "bad", spoken(-25, floor=-31)),
        ("noise floor", "bad", noise(5, -20)),
        ("clipping", "bad", spoken(-5)),
        ("DC offset", "warn", spoken() + 0.05),
        ("DC offset", "bad", spoken() - 0.3),
        ("noise floor", "warn", spoken() + sine(5, 60, 0.01)),
        ("noise floor", "bad", spoken() + sine(5, 50, 0.035)),
        ("bandwidth", "bad", soxr.resample(spoken(rate=8_000), 8_000, RATE)),
        ("bandwidth", "warn", soxr.resample(spoken(rate=12_000), 12_000, RATE)),
        ("dropouts", "warn", with_holes(0.03)),
        ("dropouts", "bad", with_holes(0.2)),
    ],
)
def test_each_fault_is_found_and_comes_with_advice(name: str, verdict: str, signal: np.ndarray) -> None:
    finding = findings(signal)[name]
    assert finding.verdict == verdict, finding
    assert finding.advice.endswith(".")
    assert finding.value is None or math.isfinite(finding.value)


def test_channels_that_cancel_or_are_dead_get_advice() -> None:
    voice = spoken()
    cancelling = findings(voice, -voice)["channels"]
    assert (cancelling.verdict, "--channel 0" in cancelling.advice) == ("bad", True)
    dead = findings(0 * voice, voice)["channels"]
    assert (dead.verdict, "--channel 1" in dead.advice) == ("warn", True)
    assert findings(voice, voice)["channels"].verdict == "ok"


@pytest.mark.parametrize("loudest", [0.0, 1e-5])
def test_a_silent_microphone_gets_no_advice_to_take_another_of_its_channels(loudest: float) -> None:
    found = findings(0 * spoken(), loudest * noise(5, 0))
    assert not any("--channel" in finding.advice for finding in found.values())
    assert found["level"].advice


def test_losses_and_a_wrong_rate_get_a_verdict() -> None:
    slower = findings(spoken(), stamps=stamps(5, real=44_100))
    assert slower["sample rate"].verdict == "bad"
    assert findings(spoken(), stamps=stamps(5, real=48_400))["sample rate"].verdict == "warn"
    gone = stamps(6)
    del gone[50:60]
    assert findings(spoken(), stamps=gone)["dropouts"].verdict == "bad"
    assert findings(spoken(), stamps=stamps(5), overflows=1)["dropouts"].verdict == "warn"


@pytest.mark.parametrize("samples", [1, 100, 4_799, 4_801])
@pytest.mark.parametrize("rate", RATES)
def test_any_length_is_examined(samples: int, rate: int) -> None:
    for finding in findings(noise(1, -30)[:samples], rate=rate).values():
        assert finding.value is None or math.isfinite(finding.value)


@pytest.mark.skipif("WAKEWORD_DATA" not in os.environ, reason="WAKEWORD_DATA does not name real recordings")
def test_real_speech_shows_where_it_was_resampled() -> None:
    folder = Path(os.environ["WAKEWORD_DATA"])
    speech = sorted((folder / "wake_words" / "alexa").iterdir())[:20]
    for path in speech:
        samples, rate = soundfile.read(path, dtype="float32")
        assert bandwidth(samples, rate) >= 7_000, path
        narrow = sixteen_bits(soxr.resample(samples, rate, 8_000))
        assert bandwidth(sixteen_bits(soxr.resample(narrow, 8_000, RATE)), RATE) == pytest.approx(4_000, abs=500)
