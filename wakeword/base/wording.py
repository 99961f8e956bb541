"""Numbers of things in messages."""


def counted(number: int, one: str, several: str | None = None) -> str:
    """``1 clip``, ``2 clips``; ``several`` is the plural of a word that does more than take an s."""
    return f"{number} {one}" if number == 1 else f"{number} {several or one + 's'}"
