"""Raw audio of events as arrays of samples."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wakeword.audio.pcm import MAX_SAMPLE_RATE, MIN_SAMPLE_RATE
from wakeword.base.types import Samples
from wakeword_serve.wire import WireError

_MAX_CHANNELS = 32
_MAX_TIMESTAMP = 2**53


@dataclass(frozen=True)
class PcmFormat:
    """Format of raw audio. Raises ``WireError`` for values out of range."""

    rate: int
    """Samples per second."""
    width: int
    """Bytes in a sample: 1 (unsigned, as in WAV files), 2, 3 or 4 (signed, little-endian)."""
    channels: int

    def __post_init__(self) -> None:
        for name, low, high in (
            ("rate", MIN_SAMPLE_RATE, MAX_SAMPLE_RATE),
            ("width", 1, 4),
            ("channels", 1, _MAX_CHANNELS),
        ):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                raise WireError(f"expected audio with a {name} of {low} to {high}, got {value!r:.60}")

    @property
    def frame(self) -> int:
        """Bytes of one sample of all channels."""
        return self.width * self.channels

    def samples(self, audio: bytes) -> Samples:
        """Bytes of whole frames -> ``(samples,)``, or ``(samples, channels)`` for several channels; int16 or int32."""
        if self.width == 1:
            samples = (np.frombuffer(audio, np.uint8).astype(np.int16) - 128) << 8
        elif self.width == 2:
            samples = np.frombuffer(audio, "<i2").astype(np.int16, copy=False)
        else:
            wide = np.zeros((len(audio) // self.width, 4), np.uint8)
            wide[:, 4 - self.width :] = np.frombuffer(audio, np.uint8).reshape(-1, self.width)
            samples = wide.view("<i4")[:, 0].astype(np.int32, copy=False)
        return samples if self.channels == 1 else samples.reshape(-1, self.channels)


def format_of(data: Mapping[str, Any]) -> PcmFormat:
    """The format that the data of an event name. Raises ``WireError``."""
    missing = [name for name in ("rate", "width", "channels") if name not in data]
    if missing:
        raise WireError(f"expected audio with rate, width and channels, got none of {', '.join(missing)}")
    return PcmFormat(data["rate"], data["width"], data["channels"])


def timestamp_of(data: Mapping[str, Any]) -> int | None:
    """The timestamp in the data of an event, in milliseconds, if there is one. Raises ``WireError``."""
    value = data.get("timestamp")
    # Not "abs(value) > most": a NaN must not pass.
    if value is not None and (
        not isinstance(value, (int, float)) or isinstance(value, bool) or not abs(value) <= _MAX_TIMESTAMP
    ):
        raise WireError(f"expected a timestamp in milliseconds, got {value!r:.60}")
    return None if value is None else round(value)
