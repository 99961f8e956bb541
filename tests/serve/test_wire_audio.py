"""Raw audio as samples of 16 bits, and no other values are taken."""

import numpy as np
import pytest

pytest.importorskip("wyoming", reason="needs the packages of pip install '.[serve]'")

from wakeword_serve.wire import WireError
from wakeword_serve.wire_audio import PcmFormat, format_of, timestamp_of

SIGNAL = np.array([-32_768, -20_480, -1, 0, 1, 20_480, 32_767], np.int16)


def test_samples_are_signed_and_little_endian() -> None:
    samples = PcmFormat(16_000, 1).samples(b"".join(int(one).to_bytes(2, "little", signed=True) for one in SIGNAL))
    assert samples.dtype == np.int16
    np.testing.assert_array_equal(samples, SIGNAL)


@pytest.mark.parametrize("channels", [2, 3])
def test_channels_take_turns(channels: int) -> None:
    audio = np.repeat(SIGNAL.astype("<i2"), channels).tobytes()
    samples = PcmFormat(16_000, channels).samples(audio)
    assert samples.shape == (len(SIGNAL), channels)
    np.testing.assert_array_equal(samples[:, -1], SIGNAL)


GOOD = {"rate": 16_000, "width": 2, "channels": 1}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("rate", (0, -1, 7_999, 192_001, 16_000.0, "16000", None, True, 10**400)),
        ("width", (0, 1, 3, 4, "2", None)),
        ("channels", (0, 33, "1", [1])),
    ],
)
def test_other_formats_are_refused(name: str, values: tuple[object, ...]) -> None:
    for value in values:
        with pytest.raises(WireError, match=f"expected audio with a {name}"):
            format_of({**GOOD, name: value})
    with pytest.raises(WireError, match=name):
        format_of({key: value for key, value in GOOD.items() if key != name})


@pytest.mark.parametrize("value", ["1", True, float("nan"), float("inf"), [], 10**400])
def test_other_timestamps_are_refused(value: object) -> None:
    with pytest.raises(WireError, match="timestamp"):
        timestamp_of({"timestamp": value})


def test_a_timestamp_is_in_whole_milliseconds_if_there_is_one() -> None:
    assert [timestamp_of(data) for data in ({}, {"timestamp": None}, {"timestamp": 7}, {"timestamp": 7.6})] == [
        None,
        None,
        7,
        8,
    ]
