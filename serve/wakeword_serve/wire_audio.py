"""Raw audio of events as arrays of samples."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wakeword.audio.pcm import MAX_SAMPLE_RATE, MIN_SAMPLE_RATE, samples_of_bytes
from wakeword.base.checks import integer, number
from wakeword.base.types import Samples
from wakeword_serve.wire import WireError

_WIDTH = 2
"""Bytes in a sample."""
_MAX_CHANNELS = 32
_MAX_TIMESTAMP = 2**53


@dataclass(frozen=True)
class PcmFormat:
    """Format of raw audio of 16 bits a sample, signed and little-endian. Raises ``WireError`` for values out of range."""

    rate: int
    """Samples per second."""
    channels: int

    def __post_init__(self) -> None:
        for name, low, high in (("rate", MIN_SAMPLE_RATE, MAX_SAMPLE_RATE), ("channels", 1, _MAX_CHANNELS)):
            integer(getattr(self, name), f"audio with a {name}", low, high, error=WireError)

    @property
    def frame(self) -> int:
        """Bytes of one sample of all channels."""
        return _WIDTH * self.channels

    def samples(self, audio: bytes) -> Samples:
        """Bytes of whole frames -> int16 of ``(samples,)``, or of ``(samples, channels)`` for several channels."""
        samples = samples_of_bytes(audio)
        return samples if self.channels == 1 else samples.reshape(-1, self.channels)


def format_of(data: Mapping[str, Any]) -> PcmFormat:
    """The format that the data of an event name. Raises ``WireError``."""
    missing = [name for name in ("rate", "width", "channels") if name not in data]
    if missing:
        raise WireError(f"expected audio with rate, width and channels, got none of {', '.join(missing)}")
    if data["width"] != _WIDTH:
        raise WireError(f"expected audio with a width of {_WIDTH} bytes, which are 16 bits, got {data['width']!r:.60}")
    return PcmFormat(data["rate"], data["channels"])


def timestamp_of(data: Mapping[str, Any]) -> int | None:
    """The timestamp in the data of an event, in milliseconds, if there is one. Raises ``WireError``."""
    value = data.get("timestamp")
    if value is None:
        return None
    return round(number(value, "a timestamp in milliseconds", -_MAX_TIMESTAMP, _MAX_TIMESTAMP, error=WireError))
