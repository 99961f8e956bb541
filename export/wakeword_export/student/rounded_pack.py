"""The second file of the starter pack: microWakeWord's features of the recordings with which it begins.

Frame ``i`` begins with frame ``i`` of the pack. The 40 numbers of a frame are 8 bits each; here they are transformed
over the channels and over time and rounded to one step. Nothing in it can be played.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct, idct

from wakeword.base.errors import ConfigError, DataError, reason_of
from wakeword.base.files import read_limited
from wakeword.base.types import Array
from wakeword_tools.training_record import DAMAGED_ARCHIVE
from wakeword_train.pack.starter import BLOCK, SUFFIX, BlockCodec, SpeechPack, unpacked

CODED_STEP = 32.0
"""Step of the coefficients, in steps of a feature: features differ by 7 (root mean square), where they vary by 64."""
_CHANNELS = 40
MICRO_PACK_VERSION = 1
_MAX_BYTES = 32 * 2**20


def micro_pack_path(pack: Path) -> Path:
    """Where the second file of a pack is. ``ConfigError`` if it is missing."""
    path = pack.with_name(f"{pack.stem}-micro{SUFFIX}")
    if not path.is_file():
        raise ConfigError(
            f"expected {path.name} next to {pack}, which python -m scripts.make_micro_pack writes: features of speech for "
            "microWakeWord, found none; install wakeword[train] again"
        )
    return path


def read_micro_pack(pack: SpeechPack) -> NDArray[np.uint8]:
    """The features of a pack's first recordings, ``(frames, 40)``. ``ConfigError`` if there is no second file,
    ``DataError`` if it is damaged or belongs to another pack."""
    path = micro_pack_path(pack.path)
    try:
        arrays = unpacked(read_limited(path, _MAX_BYTES))
        header = json.loads(arrays["header"].tobytes().decode())
        frames = decoded_frames(arrays["codes"], arrays["mean"])
    except DAMAGED_ARCHIVE as error:
        raise DataError(f"{path}: expected features for microWakeWord, got: {reason_of(error)}") from error
    if (header["version"], header["recordings"]) != (MICRO_PACK_VERSION, recordings_digest(pack, len(frames)) or None):
        raise DataError(f"{path}: expected features of the speech in {pack.path}; make it again")
    return frames


def recordings_digest(pack: SpeechPack, frames: int) -> str:
    """A digest of the recordings to which the first frames belong; empty if these end inside one."""
    ends = np.cumsum([one.frames for one in pack.recordings])
    count = int(np.searchsorted(ends, frames)) + 1
    if count > len(ends) or ends[count - 1] != frames:
        return ""
    names = [(one.source, one.speaker, one.frames) for one in pack.recordings[:count]]
    return hashlib.sha256(repr(names).encode()).hexdigest()


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
