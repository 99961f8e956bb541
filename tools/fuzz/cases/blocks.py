"""Random blocks of audio: valid ones that detectors accept, and invalid ones that they refuse."""

from random import Random
from typing import Any

import numpy as np

from wakeword.base.types import Array, Samples

_LENGTHS = (0, 1, 7, 160, 333, 1_280, 16_001)


def right_block(random: Random, *, channels: bool = True) -> Samples:
    """Audio that a detector accepts: any dtype, length and level, sometimes with several channels."""
    length = random.choice(_LENGTHS) if random.random() < 0.5 else random.randrange(24_000)
    samples = sound(random.randrange(2**32), length) * random.choice((0.0, 1e-4, 0.1, 1.0))
    if channels and random.random() < 0.1:
        samples = np.repeat(samples[:, None], random.choice((1, 2, 3)), axis=1)
    full_scale = {np.int16: 2**15 - 1, np.int32: 2**31 - 128, np.float32: 1}
    dtype = random.choice(list(full_scale))
    block = np.asarray(full_scale[dtype] * samples.clip(-1, 1), dtype)
    # Non-contiguous views are valid too.
    return block[::2] if random.random() < 0.2 else block


def wrong_block(random: Random) -> Any:
    """A block that every detector must refuse: wrong values, dtypes, shapes, or not an array."""
    block = np.asarray(sound(random.randrange(2**32), 1 + random.randrange(2_000)), np.float32)
    place = random.randrange(len(block))
    match random.randrange(10):
        case 0:
            block[place] = np.nan
        case 1:
            block[place] = np.inf
        case 2:
            block[place] = -np.inf
        case 3:
            block[place] = 32_768.0
        case 4:
            return block.astype(random.choice((np.float64, np.int8, np.uint8, np.int64, np.float16, np.complex64)))
        case 5:
            return block.reshape(-1, 1, 1)
        case 6:
            return np.zeros((len(block), 0), np.float32)
        case 7:
            return np.array(0.5, np.float32)
        case 8:
            return np.array(["no", "audio"])
        case _:
            return random.choice((None, [0, 1], b"\0\0", "audio", 1.5))
    return block


def sound(seed: int, samples: int) -> Array:
    """Swelling noise of a random colour, ``(samples,)`` float32 in -1..1."""
    random = np.random.default_rng(seed)
    noise = random.standard_normal(samples + 1)
    coloured = np.diff(noise) if random.random() < 0.5 else np.convolve(noise, np.ones(8) / 3, "same")[:samples]
    swell = np.abs(np.sin(np.arange(samples) * random.uniform(1e-5, 1e-3)))
    return np.asarray((0.1 * coloured * swell).clip(-1, 1), np.float32)


def described(block: object) -> str:
    """Dtype and shape of an array, the type of anything else."""
    return f"{block.dtype} {block.shape}" if isinstance(block, np.ndarray) else type(block).__name__
