"""microWakeWord's features of a pack's speech, in a file of their own that no model needs.

The 40 numbers of a frame are 8 bits each; here they are transformed over the channels and over time and rounded to one
step. Nothing in it can be played.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct, idct

from wakeword.base.types import Array
from wakeword_train.pack.starter import BLOCK, Arrays, BlockCodec, PackedSpeech, read_packed

CODED_STEP = 32.0
"""Step of the coefficients, in steps of a feature: features differ by 7 (root mean square), where they vary by 64."""
_CHANNELS = 40
MICRO_FEATURES = "40 numbers of 8 bits by the front end of microWakeWord"


@dataclass(frozen=True, kw_only=True)
class MicroPack(PackedSpeech):
    """A file of features that was read."""

    frames: NDArray[np.uint8]
    """``(frames, 40)``."""


def read_micro_pack(path: Path) -> MicroPack:
    """The features of speech in a file. ``DataError`` if it is damaged, or holds anything else."""
    return read_packed(path, _micro_pack, MICRO_FEATURES)


def _micro_pack(own: PackedSpeech, _: dict[str, Any], arrays: Arrays) -> MicroPack:
    frames = decoded_frames(arrays["codes"], arrays["mean"])
    if len(frames) != sum(one.frames for one in own.recordings):
        raise ValueError(f"it has {len(frames)} frames, and recordings of another length")
    return MicroPack(**vars(own), frames=frames)


def decoded_frames(codes: NDArray[np.int8], mean: Array) -> NDArray[np.uint8]:
    """``(BLOCK, 40, n)`` -> features ``(BLOCK n, 40)``."""
    rows = idct(_codec(mean).decode(codes), norm="ortho") + mean
    found: NDArray[np.uint8] = np.clip(np.rint(rows), 0, 255).astype(np.uint8)
    return found


def rounded_frames(frames: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Features ``(frames, 40)`` as a pack would hold them.

    So that no network learns that what is rounded is background: what is not from the pack is rounded too, now and then.
    """
    mean = np.full(_CHANNELS, 35, np.float32)
    padded = np.concatenate([frames, np.repeat(frames[-1:], -len(frames) % BLOCK, axis=0)])
    return decoded_frames(encoded_frames(padded, mean), mean)[: len(frames)]


def encoded_frames(frames: NDArray[Any], mean: Array) -> NDArray[np.int8]:
    """The inverse of ``decoded_frames``, for a multiple of ``BLOCK`` frames."""
    return _codec(mean).encode(dct(frames - mean, norm="ortho"))


def _codec(mean: Array) -> BlockCodec:
    return BlockCodec(np.zeros_like(mean), np.full((BLOCK, _CHANNELS), CODED_STEP, np.float32))
