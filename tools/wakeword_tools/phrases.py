"""Lists of texts to be spoken: one a line, ``#`` begins a comment, empty lines count for nothing."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wakeword.errors import DataError
from wakeword.model import assets_folder


def read_texts(path: Path | str) -> list[str]:
    """The texts of a list, each once, in the order of the file. ``DataError`` if it is missing or has none."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: expected a list of texts, one a line (UTF-8), could not read it: {error}") from error
    texts = list(dict.fromkeys(text for line in lines if (text := line.partition("#")[0].strip())))
    if not texts:
        raise DataError(f"{path}: expected at least one text, found none; write one a line")
    return texts


def shipped_list(name: str) -> Path:
    """The file of a list in ``assets/phrases``: ``marvin``, ``hey computer``. It may not be there."""
    return assets_folder() / "phrases" / f"{name.lower().replace(' ', '_')}.txt"


def spoken_phrases(texts: Sequence[str], *, count: int, seed: int) -> list[str]:
    """``count`` texts of two to five of ``texts`` after one another, drawn from ``seed``."""
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(texts, size=random.integers(2, 6))) for _ in range(count)]
