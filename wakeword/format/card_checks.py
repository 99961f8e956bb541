"""What names, texts and figures in a model file may be."""

from collections.abc import Mapping
from typing import Any

from wakeword.base.errors import ConfigError
from wakeword.base.text import is_printable, shortened

MAX_NAME = 200
"""Characters of a phrase, a version, a licence or the name of an operating point."""
MAX_TEXT = 4_000
"""Characters of a description."""
_MAX_ENTRIES = 10_000
_MAX_DEPTH = 8
"""Levels of a mapping in mappings."""
MAX_LOGIT = 1e6
"""Beyond it no network of this project goes, and float32 has no digits left."""


def require_name(what: str, text: str, most: int = MAX_NAME) -> None:
    """``ConfigError`` unless a text is a string of up to ``most`` printable characters.

    A phrase is shown on screens, written into tables and given to programs: a line break, a command to a terminal or a NUL
    could forge what they show or stop them.
    """
    if not isinstance(text, str) or len(text) > most or not is_printable(text):
        raise ConfigError(f"expected {what} of up to {most} printable characters, got {shortened(repr(text))}")


def require_entries(what: str, content: Mapping[str, Any]) -> None:
    """``ConfigError`` for a provenance that no one could read: too many entries, too deep, or texts not printable."""
    waiting: list[tuple[int, Any]] = [(0, content)]
    entries = 0
    while waiting:
        depth, value = waiting.pop()
        entries += 1
        if depth > _MAX_DEPTH or entries > _MAX_ENTRIES:
            raise ConfigError(f"expected at most {_MAX_ENTRIES} entries of {what} in {_MAX_DEPTH} levels, got more")
        if isinstance(value, str):
            require_name(f"an entry of {what}", value, MAX_TEXT)
        elif isinstance(value, Mapping):
            for key, part in value.items():
                require_name(f"the name of an entry of {what}", key)
                waiting.append((depth + 1, part))
        elif isinstance(value, list | tuple):
            waiting.extend((depth + 1, part) for part in value)
