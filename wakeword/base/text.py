"""Text from files, names and devices, in a form that cannot forge lines, cells or commands to a terminal.

A file name may hold any character, and what it does on a screen or in a spreadsheet is no matter of anyone who named it.
"""

import re
import unicodedata

_JOINERS = "\u200c\u200d"
"""Control nothing, and Persian and several scripts of India need them."""
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""With these, some in full width, a spreadsheet takes a cell for a formula."""
_MAX_SHOWN = 80
"""Characters of a value in a message."""


_MAX_MARKS = 6
"""Combining marks on a letter: Hebrew with points and accents has five. More smear over the lines next to it."""


def letters_of(text: str, *, kept: str, between: str) -> str:
    """A text as part of a name: letters of any script with their marks, digits, ``kept``; ``between`` for runs of others.

    Marks are no letters to Python, but "नमस्ते" without them is another word.
    """
    spared = (
        letter if letter.isalnum() or letter in kept + _JOINERS or unicodedata.category(letter)[0] == "M" else "\0"
        for letter in text
    )
    return re.sub("\0+", between, "".join(spared))


def is_printable(text: str) -> bool:
    """Whether a text is one line without anything that a screen would not show: no control characters, no surrogates.

    And nothing that it would show on other lines: no tower of combining marks.
    """
    return text.isprintable() if text.isascii() else not _unprintable(text)


def _unprintable(text: str) -> set[int]:
    """The indices of the characters that ``is_printable`` does not allow."""
    hidden, marks = set(), 0
    for index, letter in enumerate(text):
        if letter in _JOINERS:
            continue  # it does not end a tower
        marks = marks + 1 if unicodedata.category(letter) in ("Mn", "Me") else 0
        if marks > _MAX_MARKS or not letter.isprintable():
            hidden.add(index)
    return hidden


def printable(text: object) -> str:
    r"""A text in one line: every character that a screen does not show there as ``\n``, ``\x1b`` or ``\u2028``."""
    shown = str(text)
    if is_printable(shown):
        return shown
    hidden = _unprintable(shown)
    return "".join(ascii(letter)[1:-1] if index in hidden else letter for index, letter in enumerate(shown))


def cell(text: object) -> str:
    """``printable``, for a cell of a table: what a spreadsheet would take for a formula begins with an apostrophe."""
    shown = printable(text)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown


def shortened(value: object, most: int = _MAX_SHOWN) -> str:
    """``printable``, of ``most`` characters at most, for a message."""
    # Escaping only makes it longer, so what follows the first characters cannot be seen.
    text = printable(str(value)[: most + 1])
    return text if len(text) <= most else f"{text[: most - 3]}..."


def counted(number: int, one: str, several: str | None = None) -> str:
    """``1 clip``, ``2 clips``; ``several`` is the plural of a word that does more than take an s."""
    return f"{number} {one}" if number == 1 else f"{number} {several or one + 's'}"
