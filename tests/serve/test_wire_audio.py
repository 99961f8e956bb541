"""Raw audio as samples: the width of a sample does not matter, and no other values are taken."""

import numpy as np
import pytest

pytest.importorskip("wyoming", reason="needs the packages of pip install '.[serve]'")

from wakeword.audio.pcm import to_mono
from wakeword_serve.wire import WireError
from wakeword_serve.wire_audio import PcmFormat, format_of, timestamp_of

SIGNAL = np.array([-32_768, -20_480, -256, 0, 256, 20_480, 32_512], np.int32)
"""Samples of 16 bits that have their last 8 bits clear."""


def as_bytes(width: int) -> bytes:
    if width == 1:
        return bytes(((SIGNAL >> 8) + 128).astype(np.uint8))
    wide = (SIGNAL << (8 * (width - 2))).astype("<i4") if width > 2 else SIGNAL.astype("<i4")
    return b"".join(int(one).to_bytes(4, "little", signed=True)[:width] for one in wide)


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_the_width_of_samples_does_not_matter(width: int) -> None:
    samples = PcmFormat(16_000, width, 1).samples(as_bytes(width))
    np.testing.assert_array_equal(to_mono(samples), (SIGNAL / 32_768).astype(np.float32))


@pytest.mark.parametrize("channels", [2, 3])
def test_channels_take_turns(channels: int) -> None:
    audio = np.repeat(SIGNAL.astype("<i2"), channels).tobytes()
    samples = PcmFormat(16_000, 2, channels).samples(audio)
    assert samples.shape == (len(SIGNAL), channels)
    np.testing.assert_array_equal(samples[:, -1], SIGNAL)


GOOD = {"rate": 16_000, "width": 2, "channels": 1}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("rate", (0, -1, 7_999, 192_001, 16_000.0, "16000", None, True, 10**400)),
        ("width", (0, 5, 2.0, None)),
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
