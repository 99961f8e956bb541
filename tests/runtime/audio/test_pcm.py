"""Laws of the conversion from any PCM to mono float32 at 16 kHz."""

import numpy as np
import pytest
import soxr
from hypothesis import given
from hypothesis import strategies as st
from support.builders import CHUNKS, in_chunks

from wakeword import AudioFormatError
from wakeword.audio.pcm import PcmStream, to_mono
from wakeword.base.types import Array, Samples

RATES = (8_000, 11_025, 22_050, 44_100, 48_000, 96_000, 192_000)


def noise(samples: int, seed: int = 0) -> Array:
    """White noise within -0.5..0.5, ``(samples,)`` float32."""
    return np.random.default_rng(seed).uniform(-0.5, 0.5, samples).astype(np.float32)


def tone(frequency: float, rate: int, seconds: float = 1.0) -> Array:
    """A sine of amplitude 0.5, float32."""
    return (0.5 * np.sin(2 * np.pi * frequency * np.arange(round(rate * seconds)) / rate)).astype(np.float32)


def converted(signal: Samples, rate: int, size: int) -> Array:
    """The whole output of a stream that gets ``signal`` in blocks of ``size``."""
    stream = PcmStream(rate)
    return np.concatenate([*(stream.push(block) for block in in_chunks(signal, size)), stream.flush()])


# --- dtypes and channels


def test_all_dtypes_mean_the_same_sound() -> None:
    as_int16 = (noise(1_000) * 32_767).astype(np.int16)
    as_int32 = as_int16.astype(np.int32) << 16
    as_float = as_int16.astype(np.float32) / 32_768
    np.testing.assert_array_equal(to_mono(as_int16), as_float)
    np.testing.assert_array_equal(to_mono(as_int32), as_float)
    np.testing.assert_array_equal(to_mono(as_float), as_float)


@pytest.mark.parametrize("dtype", [np.int16, np.int32])
def test_full_scale_is_one(dtype: type[np.signedinteger]) -> None:
    limits = np.iinfo(dtype)
    low, high = to_mono(np.array([limits.min, limits.max], dtype))
    assert low == -1.0
    assert 0.9999 < high <= 1.0


@given(channels=st.integers(1, 8), level=st.sampled_from([-32_768, -1, 0, 1, 32_767]))
def test_the_average_of_equal_channels_is_that_channel(channels: int, level: int) -> None:
    block = np.full((5, channels), level, np.int16)
    np.testing.assert_allclose(to_mono(block), to_mono(block[:, 0]), atol=1e-7)


def test_channels_are_averaged_and_never_clip() -> None:
    block = np.stack([noise(100, seed) for seed in range(4)], axis=1)
    np.testing.assert_allclose(to_mono(block), block.mean(axis=1), atol=1e-7)
    assert np.abs(to_mono(np.full((10, 6), 32_767, np.int16))).max() <= 1.0


@pytest.mark.parametrize("channel", [0, 1, 2])
def test_one_channel_can_be_chosen(channel: int) -> None:
    block = np.stack([noise(100, seed) for seed in range(3)], axis=1)
    np.testing.assert_array_equal(to_mono(block, channel=channel), block[:, channel])


def test_a_column_is_mono() -> None:
    np.testing.assert_array_equal(to_mono(noise(100)[:, None]), noise(100))


@pytest.mark.parametrize("shape", [(0,), (0, 2)])
def test_an_empty_block_gives_no_samples(shape: tuple[int, ...]) -> None:
    assert to_mono(np.zeros(shape, np.int16)).shape == (0,)


def test_channels_that_come_first_are_refused_and_not_averaged() -> None:
    with pytest.raises(AudioFormatError, match=r"got \(2, 1600\); if it is \(channels, n\), give block\.T"):
        to_mono(np.zeros((2, 1_600), np.int16))


# --- resampling


@pytest.mark.parametrize("size", CHUNKS)
@pytest.mark.parametrize("rate", RATES)
def test_chunking_does_not_matter(rate: int, size: int) -> None:
    # Blocks of one sample cost a call each: a tenth of a second shows them.
    signal = noise(round(rate * (0.1 if size < 100 else 0.7)))
    np.testing.assert_allclose(converted(signal, rate, size), soxr.resample(signal, rate, 16_000), rtol=0, atol=1e-6)


@pytest.mark.parametrize("rate", [*RATES, 16_000])
@pytest.mark.parametrize("samples", [0, 1, 7, 1_000, 12_345])
def test_duration_does_not_change(rate: int, samples: int) -> None:
    assert abs(len(converted(noise(samples), rate, 4_096)) - samples * 16_000 / rate) <= 1


@pytest.mark.parametrize("rate", RATES)
def test_a_sound_keeps_its_time_and_pitch(rate: int) -> None:
    out = converted(tone(1_000, rate), rate, 1_280)
    middle = slice(2_000, 14_000)
    np.testing.assert_allclose(out[middle], tone(1_000, 16_000)[middle], atol=1e-3)


@pytest.mark.parametrize("rate", [22_050, 44_100, 48_000, 96_000, 192_000])
def test_frequencies_above_8_khz_are_removed(rate: int) -> None:
    out = converted(tone(10_000, rate), rate, 1_280)
    assert np.abs(out[2_000:14_000]).max() < 1e-4


def test_16_khz_passes_unchanged() -> None:
    np.testing.assert_array_equal(converted(noise(5_000), 16_000, 160), noise(5_000))


@pytest.mark.parametrize("rate", [16_000, 44_100])
def test_reset_equals_new(rate: int) -> None:
    stream = PcmStream(rate)
    stream.push(np.zeros((700, 2), np.float32))
    stream.reset()
    fresh = PcmStream(rate)
    np.testing.assert_array_equal(stream.push(noise(5_000)), fresh.push(noise(5_000)))
    np.testing.assert_array_equal(stream.flush(), fresh.flush())


def test_flush_begins_a_new_signal() -> None:
    stream = PcmStream(44_100)
    stream.push(noise(5_000, seed=1))
    stream.flush()
    again = np.concatenate([stream.push(noise(5_000)), stream.flush()])
    np.testing.assert_array_equal(again, converted(noise(5_000), 44_100, 5_000))


# --- what is refused


REFUSED = {
    "NaN": np.array([0.0, np.nan, 0.0], np.float32),
    "infinity": np.array([[0.0, -np.inf]], np.float32),
    "float64": np.zeros(10),
    "uint8": np.zeros(10, np.uint8),
    "int64": np.zeros(10, np.int64),
    "big-endian": np.zeros(10, ">i2"),
    "complex": np.zeros(10, np.complex64),
    "text": np.array(["a"]),
    "a number": np.float32(0.5) + np.zeros((), np.float32),
    "three dimensions": np.zeros((2, 2, 2), np.int16),
    "no channels": np.zeros((10, 0), np.int16),
    "int16 values as floats": np.array([0, 12_000, -9_000], np.float32),
    "a list": [0, 1, 2],
    "bytes": b"\0\0",
}


@pytest.mark.parametrize("rate", [16_000, 48_000])
@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_block_leaves_the_stream_unchanged(name: str, rate: int) -> None:
    stream = PcmStream(rate)
    first = stream.push(noise(1_000))
    with pytest.raises(AudioFormatError, match="expected"):
        stream.push(REFUSED[name])
    rest = [stream.push(noise(1_000, seed=1)), stream.flush()]
    whole = np.concatenate([noise(1_000), noise(1_000, seed=1)])
    np.testing.assert_array_equal(np.concatenate([first, *rest]), converted(whole, rate, 1_000))


@pytest.mark.parametrize("rate", [16_000, 48_000])
def test_the_number_of_channels_cannot_change_within_a_stream(rate: int) -> None:
    stream = PcmStream(rate)
    stream.push(np.zeros((100, 2), np.int16))
    with pytest.raises(AudioFormatError, match="expected 2 channels as in the blocks before, got 1"):
        stream.push(np.zeros(100, np.int16))
    stream.push(np.zeros((100, 2), np.int16))
    stream.reset()
    stream.push(np.zeros(100, np.int16))


@pytest.mark.parametrize(("block", "channel"), [(np.zeros((4, 2), np.int16), 2), (np.zeros(4, np.int16), 1)])
def test_a_missing_channel_is_refused(block: Samples, channel: int) -> None:
    with pytest.raises(AudioFormatError, match="channel"):
        to_mono(block, channel=channel)
    with pytest.raises(AudioFormatError, match="channel"):
        to_mono(block, channel=-1)
