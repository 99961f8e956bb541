"""Lists of texts to speak."""

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wakeword.base.errors import SynthesisError


def read_texts(path: Path | str) -> list[str]:
    """One text a line; empty lines and everything after a ``#`` are ignored.

    Raises ``SynthesisError`` if the file cannot be read or holds no text.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SynthesisError(f"{path}: expected a list of texts, one a line, could not read it: {error}") from error
    texts = [text for line in lines if (text := line.partition("#")[0].strip())]
    if not texts:
        raise SynthesisError(f"{path}: expected a list of texts, one a line, found none")
    return texts


def texts_without(keyword: str, texts: Sequence[str]) -> list[str]:
    """The texts in which the keyword does not occur as a word or phrase, whatever the case, spaces and punctuation."""
    return [text for text in texts if _spaced_words(keyword) not in _spaced_words(text)]


def _spaced_words(text: str) -> str:
    # Spaces at both ends too, so that "art" does not occur in "start".
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())
    return f" {' '.join(words)} "


def spoken_phrases(texts: Sequence[str], *, count: int, seed: int, longest: int = 4) -> list[str]:
    """``count`` phrases of 2 to ``longest`` texts drawn at random: continuous speech, for negatives."""
    random = np.random.default_rng(seed)
    lengths = random.integers(2, longest + 1, size=count)
    return [" ".join(texts[index] for index in random.integers(len(texts), size=length)) for length in lengths]
