"""Laws of the MFCC front end."""

import dataclasses
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import FIXTURES, MFCC_FILE, SIGNALS

from wakeword import AudioFormatError, FeatureConfig, mfcc
from wakeword.audio.features import PRODUCT_FRAMES, MfccTransform, dct_matrix

pytestmark = pytest.mark.numeric

CONFIG = FeatureConfig()


@pytest.mark.parametrize("name", SIGNALS)
def test_equals_librosa(name: str) -> None:
    """In each third frame: a frame is the same in any signal."""
    with np.load(FIXTURES / MFCC_FILE) as expected:
        np.testing.assert_allclose(mfcc(SIGNALS[name])[::3], expected[name], atol=2e-4)


@given(count=st.integers(1, 70), first=st.integers(0, 40), signals=st.integers(1, 9))
def test_a_frame_is_the_same_in_any_signal_that_contains_it(count: int, first: int, signals: int) -> None:
    transform, whole = MfccTransform(CONFIG), mfcc(SIGNALS["voice"])
    start = CONFIG.hop_length * first
    pieces = np.tile(SIGNALS["voice"][start : start + CONFIG.samples_in(count)], (signals, 1))
    for frames in transform.batch(pieces, first=first):
        np.testing.assert_array_equal(frames, whole[first : first + count])


@pytest.mark.parametrize("first", [0, 3, 8, 31, 1_000])
def test_the_number_of_a_frame_affects_only_its_rounding(first: int) -> None:
    # A matrix product rounds differently by the place of a row in it, on some processors.
    transform = MfccTransform(CONFIG)
    np.testing.assert_allclose(transform(SIGNALS["voice"], first=first), transform(SIGNALS["voice"]), rtol=0, atol=1e-4)


def test_a_signal_longer_than_a_batch_equals_its_pieces() -> None:
    signal = np.tile(SIGNALS["voice"], 5)
    whole = mfcc(signal)
    assert len(whole) == CONFIG.frames_in(len(signal)) > 1_100
    for first in (0, 20, 31, 1_000, len(whole) - 20):
        piece = signal[CONFIG.hop_length * first :][: CONFIG.samples_in(20)]
        np.testing.assert_allclose(whole[first : first + 20], mfcc(piece), atol=1e-4)


def test_it_uses_only_its_own_thread() -> None:
    # BLAS threads that spin during small products use more processor time than the products.
    code = """
import time, numpy
from wakeword import mfcc
signal = numpy.zeros(1_600_000, numpy.float32)
mfcc(signal)
time.sleep(0.5)  # threads that importing started have ended by then
all_threads, this_thread = time.process_time(), time.thread_time()
for _ in range(10):
    mfcc(signal)
print((time.process_time() - all_threads) / (time.thread_time() - this_thread))
"""
    # As many threads as the machine has, although these tests may be limited to fewer.
    free = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run([sys.executable, "-c", code], env=free, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 1.1


def test_silence_is_finite_and_constant() -> None:
    frames = mfcc(SIGNALS["silence"])
    assert np.isfinite(frames).all()
    # Silence has one spectrum; the places in a matrix product may differ only by rounding.
    for place in range(PRODUCT_FRAMES):
        np.testing.assert_array_equal(
            frames[place::PRODUCT_FRAMES], np.broadcast_to(frames[place], (len(frames[place::PRODUCT_FRAMES]), 32))
        )
    np.testing.assert_allclose(frames, np.broadcast_to(frames[0], frames.shape), rtol=0, atol=1e-4)


def test_gain_moves_only_the_first_coefficient() -> None:
    # log(g^2 E) = log E + 2 log g in every band, and only the first row of the DCT sees a constant.
    moved = mfcc(2 * SIGNALS["square wave at full scale"]) - mfcc(SIGNALS["square wave at full scale"])
    np.testing.assert_allclose(moved[:, 0], 2 * np.log(2) * np.sqrt(CONFIG.n_mels), atol=0.1)
    assert np.abs(moved[:, 1:]).max() < 0.1


def test_dct_is_orthonormal() -> None:
    np.testing.assert_allclose(dct_matrix(CONFIG).T @ dct_matrix(CONFIG), np.eye(CONFIG.n_mfcc), atol=1e-6)


def test_one_second_is_98_frames() -> None:
    assert mfcc(np.zeros(16_000, np.float32)).shape == (98, 32)


@given(frames=st.integers(1, 10**6), extra=st.integers(0, CONFIG.hop_length - 1))
def test_samples_and_frames_are_inverse(frames: int, extra: int) -> None:
    samples = CONFIG.samples_in(frames)
    assert CONFIG.frames_in(samples + extra) == frames
    assert CONFIG.frames_in(samples - 1) == frames - 1


def test_no_samples_are_no_frames_and_vice_versa() -> None:
    assert CONFIG.frames_in(0) == CONFIG.frames_in(CONFIG.n_fft - 1) == CONFIG.samples_in(0) == 0
    assert mfcc(np.zeros(0, np.float32)).shape == (0, CONFIG.n_mfcc)


def test_fingerprint_differs_if_any_parameter_differs() -> None:
    changes: dict[str, float] = {
        "sample_rate": 22_050,
        "n_fft": 512,
        "hop_length": 200,
        "n_mels": 40,
        "n_mfcc": 20,
        "f_min": 50.0,
        "f_max": 7_000.0,
        "log_offset": 1e-5,
    }
    assert set(changes) == {field.name for field in dataclasses.fields(FeatureConfig)}
    fingerprints = {dataclasses.replace(CONFIG, **{name: value}).fingerprint for name, value in changes.items()}
    assert len(fingerprints | {CONFIG.fingerprint}) == len(changes) + 1
    assert FeatureConfig().fingerprint == CONFIG.fingerprint


def test_integers_are_refused() -> None:
    with pytest.raises(AudioFormatError, match="expected"):
        mfcc(np.zeros(400, np.int16))


def test_samples_with_gaps_in_memory_are_taken() -> None:
    both = np.stack([SIGNALS["voice"], -SIGNALS["voice"]], axis=1)
    np.testing.assert_array_equal(mfcc(both[:, 0]), mfcc(SIGNALS["voice"]))
