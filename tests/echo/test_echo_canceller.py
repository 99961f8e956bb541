"""Laws of the echo canceller: it takes out echoes and clock differences, and nothing else."""

import logging

import numpy as np
import pytest

from wakeword.base.types import Array
from wakeword_echo.echo_canceller import ECHO_BLOCK, EchoCanceller

BLOCKS = 120


def loudspeaker(blocks: int = BLOCKS) -> Array:
    """Noise with a level that changes, which has less of high frequencies."""
    random = np.random.default_rng(5)
    level = 0.1 + 0.1 * np.sin(np.arange(blocks * ECHO_BLOCK) / 3_000)
    found: Array = np.convolve(level * random.standard_normal(len(level)), [0.4, 0.6, 0.4], "same").astype(np.float32)
    return found


def echo_of(reference: Array, *, delay: int = 900, drift: float = 0.0) -> Array:
    """The reference in a small room, ``delay`` samples later, with a clock that is ``drift`` faster."""
    random = np.random.default_rng(6)
    response = random.standard_normal(1_200) * np.exp(-np.arange(1_200) / 250) * 0.2
    echo = np.convolve(np.concatenate((np.zeros(delay), reference)), response)[: len(reference)]
    # Interpolated on a grid four times as fine, which is enough below a quarter of the rate.
    fine = np.fft.irfft(np.fft.rfft(echo), 4 * len(echo)) * 4
    places = np.arange(len(echo)) * (1 + drift)
    found: Array = np.interp(places, np.arange(len(fine)) / 4, fine).astype(np.float32)
    return found


def cancelled(microphone: Array, reference: Array, canceller: EchoCanceller) -> Array:
    """The whole signal, block by block."""
    padded = np.concatenate((np.zeros(8 * ECHO_BLOCK, np.float32), reference, np.zeros(8 * ECHO_BLOCK, np.float32)))
    found = []
    for start in range(0, len(microphone), ECHO_BLOCK):
        first = start + 7 * ECHO_BLOCK - int(np.floor(canceller.shift))
        found.append(
            canceller.cancel(
                microphone[start : start + ECHO_BLOCK], padded[first : first + 2 * ECHO_BLOCK], start // ECHO_BLOCK
            )
        )
    return np.concatenate(found)


def loss(microphone: Array, rest: Array) -> float:
    """How much of the last two seconds is gone, dB."""
    last = slice(-32_000, None)
    return float(10 * np.log10(np.sum(microphone[last] ** 2) / np.sum(rest[last] ** 2)))


@pytest.mark.parametrize(("delay", "drift"), [(0, 0.0), (8_000, 0.0), (900, 200e-6), (900, -200e-6)])
def test_an_echo_is_taken_out_at_any_delay_and_with_two_clocks(delay: int, drift: float) -> None:
    reference = loudspeaker()
    microphone = echo_of(reference, delay=delay, drift=drift)
    canceller = EchoCanceller()
    assert loss(microphone, cancelled(microphone, reference, canceller)) > 15
    assert abs(canceller.rate / ECHO_BLOCK + drift) < 10e-6


def test_someone_who_speaks_over_the_echo_is_left_and_the_filter_is_not_spoiled() -> None:
    reference = loudspeaker(80)
    echo = echo_of(reference)
    speech = 0.1 * np.sin(np.arange(len(echo)) * 0.3).astype(np.float32)
    speech[: 40 * ECHO_BLOCK] = speech[60 * ECHO_BLOCK :] = 0
    rest = cancelled(echo + speech, reference, EchoCanceller())
    spoken = slice(45 * ECHO_BLOCK, 60 * ECHO_BLOCK)
    assert 0.9 < np.linalg.norm(rest[spoken]) / np.linalg.norm(speech[spoken]) < 1.1
    assert loss(echo, rest) > 15


@pytest.mark.parametrize("level", [0.0, 1e-5])
def test_a_silent_reference_leaves_every_digit(level: float) -> None:
    microphone = echo_of(loudspeaker(5))
    assert np.array_equal(cancelled(microphone, level * loudspeaker(5), EchoCanceller()), microphone)


def test_no_block_becomes_louder() -> None:
    """Not even when the room changes all at once."""
    reference = loudspeaker()
    microphone = echo_of(reference)
    microphone[len(microphone) // 2 :] *= -1
    rest = cancelled(microphone, reference, EchoCanceller())
    powers = [np.square(one.reshape(-1, ECHO_BLOCK)).sum(1) for one in (rest, microphone)]
    assert (powers[0] <= powers[1] * 1.0001).all()


def test_the_microphone_as_its_own_reference_takes_nothing_out(caplog: pytest.LogCaptureFixture) -> None:
    microphone = echo_of(loudspeaker(20))
    with caplog.at_level(logging.WARNING):
        assert np.array_equal(cancelled(microphone, 0.5 * microphone, EchoCanceller()), microphone)
    assert [record.message[:48] for record in caplog.records] == ["the playback reference is the microphone itself,"]


@pytest.mark.parametrize("kind", ["room", "flat", "tone", "close", "close with pauses"])
def test_an_echo_is_never_taken_for_the_microphone(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    """Neither in a room, nor of a loudspeaker that changes nothing, nor of a tone, which is like itself at many lags.

    Nor of a small loudspeaker close to the microphone, which changes little more than the band.
    """
    reference = loudspeaker(100)
    if kind == "close with pauses":
        reference *= 10 ** (-1.5 * (np.arange(len(reference)) % 24_000 > 16_000)).astype(np.float32)
    if kind == "tone":
        reference = np.sin(0.17 * np.arange(len(reference))).astype(np.float32)
    echo = np.roll(reference, 100) if kind == "flat" else echo_of(reference)
    if kind.startswith("close"):
        spectrum, hertz = np.fft.rfft(np.roll(reference, 80)), np.fft.rfftfreq(len(reference), 1 / 16_000)
        band = 1 / (1 + (300 / (hertz + 1)) ** 4 + (hertz / 6_000) ** 4)
        echo = np.fft.irfft(spectrum * band, len(reference)).astype(np.float32)
    noise = np.random.default_rng(7).standard_normal(len(echo)).astype(np.float32)
    decibels = {"close": -45, "close with pauses": -60}.get(kind, -30)
    microphone = echo + np.float32(10 ** (decibels / 20) * np.std(echo)) * noise
    with caplog.at_level(logging.WARNING):
        rest = cancelled(microphone, reference, EchoCanceller())
    assert loss(microphone, rest) > 10
    assert not caplog.records
