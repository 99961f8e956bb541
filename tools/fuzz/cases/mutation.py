"""Random damage to bytes."""

from random import Random

_NUMBERS = (
    b"\x00" * 4,
    b"\xff" * 4,
    b"\xff\xff\xff\x7f",
    b"\x00\x00\x00\x80",
    b"\x01\x00\x00\x00",
    b"\x00\x00\x00\x01",
)


def damaged(data: bytes, random: Random, other: bytes = b"") -> bytes:
    """``data`` with one to three random faults; ``other`` is spliced into it at times."""
    for _ in range(random.choice((1, 1, 2, 3))):
        data = _fault(data, random, other or data)
    return data


def flipped(data: bytes, random: Random) -> bytes:
    """``data`` with one bit inverted."""
    place = random.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << random.randrange(8)]) + data[place + 1 :]


def _fault(data: bytes, random: Random, other: bytes) -> bytes:
    if not data:
        return random.randbytes(random.randrange(1, 64))
    # Headers are short and deserve as many faults as all the rest.
    place = random.randrange(min(len(data), 512)) if random.random() < 0.5 else random.randrange(len(data))
    size = min(1 + int(random.expovariate(1 / 40)), len(data) - place)
    before, after = data[:place], data[place + size :]
    match random.randrange(9):
        case 0 | 1:
            return flipped(data, random)
        case 2:  # truncated
            return before
        case 3:  # a piece is missing
            return before + after
        case 4:  # a piece comes twice
            return before + 2 * data[place : place + size] + after
        case 5:  # rubbish
            return before + random.randbytes(size) + after
        case 6:  # a number that may be a length or a count
            return before + random.choice(_NUMBERS) + data[place + 4 :]
        case 7:  # a piece of another file
            start = random.randrange(len(other))
            return before + other[start : start + size] + after
        case _:  # something follows
            return data + random.randbytes(size)
