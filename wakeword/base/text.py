"""Text from files, names and devices, in a form that cannot forge lines, cells or commands to a terminal.

A file name may hold any character, and what it does on a screen or in a spreadsheet is no matter of anyone who named it.
"""

_JOINERS = "\u200c\u200d"
"""Control nothing, and Persian and several scripts of India need them."""
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""With these, some in full width, a spreadsheet takes a cell for a formula."""
MAX_SHOWN = 80
"""Characters of a value in a message."""


def is_printable(text: str) -> bool:
    """Whether a text is one line without anything that a screen would not show: no control characters, no surrogates."""
    return text.isprintable() or all(one.isprintable() or one in _JOINERS for one in text)


def printable(text: object) -> str:
    r"""A text in one line: every character that a screen does not show as ``\n``, ``\x1b`` or ``\u2028``."""
    shown = str(text)
    if is_printable(shown):
        return shown
    return "".join(one if is_printable(one) else ascii(one)[1:-1] for one in shown)


def cell(text: object) -> str:
    """``printable``, for a cell of a table: what a spreadsheet would take for a formula begins with an apostrophe."""
    shown = printable(text)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown


def shortened(value: object, most: int = MAX_SHOWN) -> str:
    """``printable``, of ``most`` characters at most, for a message."""
    # Escaping only makes it longer, so what follows the first characters cannot be seen.
    text = printable(str(value)[: most + 1])
    return text if len(text) <= most else f"{text[: most - 3]}..."


def counted(number: int, one: str, several: str | None = None) -> str:
    """``1 clip``, ``2 clips``; ``several`` is the plural of a word that does more than take an s."""
    return f"{number} {one}" if number == 1 else f"{number} {several or one + 's'}"
