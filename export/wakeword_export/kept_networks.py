"""What a training keeps for an export: arrays with a header, in one file of numpy."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from wakeword.base.errors import ModelError, reason_of
from wakeword.base.files import replacing
from wakeword_tools.training_record import DAMAGED_ARCHIVE

_T = TypeVar("_T")


def write_networks(path: Path, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write the file; a partial one is never left there."""
    header = np.frombuffer(json.dumps(about, ensure_ascii=False).encode(), np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, header=header, **arrays)  # type: ignore[arg-type]  # allow_pickle


def read_networks(path: Path, what: str, made_of: Callable[[dict[str, Any], dict[str, np.ndarray]], _T]) -> _T | None:
    """What ``made_of`` makes of the header and the arrays; ``None`` without a file. ``ModelError`` for a damaged one."""
    if not path.is_file():
        return None
    try:
        with np.load(path) as archive:
            arrays = {name: archive[name] for name in archive.files}
        return made_of(json.loads(arrays.pop("header").tobytes().decode()), arrays)
    except DAMAGED_ARCHIVE as error:
        raise ModelError(f"{path}: expected {what}, got: {reason_of(error)}; train again") from error
