"""Changes to ONNX files without the ``onnx`` package, which the runtime does not need."""

from collections.abc import Callable, Mapping, Sequence

from wakeword.format.digest import METADATA_PROPS, sealed
from wakeword.format.protobuf import Field, Reader, encoded_field

GRAPH = 7
"""Number of the field of ``ModelProto`` that holds the graph."""


def with_field(message: bytes, number: int, content: bytes) -> bytes:
    """A message with one more field of bytes."""
    return message + encoded_field(number, content)


def with_number(message: bytes, number: int, value: int) -> bytes:
    """A message with one more field that is a number, which may be negative."""
    # A field of bytes begins with its key and a number, its length; the key differs by its kind, 0 in place of 2.
    key = encoded_field(number, b"")[:-1]
    low = value % 2**64
    digits = []
    while low >= 0x80:
        digits.append(low & 0x7F | 0x80)
        low >>= 7
    return message + bytes([key[0] & ~7, *key[1:], *digits, low])


def with_unsealed_metadata(model: bytes, entries: Mapping[str, str]) -> bytes:
    """A model file with these metadata instead of its own, and no digest."""
    kept = [model[field.start : field.end] for field in _fields(model) if field.number != METADATA_PROPS]
    added = [
        encoded_field(METADATA_PROPS, encoded_field(1, key.encode()) + encoded_field(2, text.encode()))
        for key, text in entries.items()
    ]
    return b"".join(kept + added)


def with_metadata(model: bytes, entries: Mapping[str, str]) -> bytes:
    """A model file with these metadata instead of its own, and their digest."""
    return sealed(with_unsealed_metadata(model, entries))


def with_scalar(model: bytes, name: str, old: bytes, new: bytes) -> bytes:
    """A model file in which the constant of that name, a scalar of four bytes, is replaced."""
    before, after = (encoded_field(8, name.encode()) + encoded_field(9, value) for value in (old, new))
    assert model.count(before) == 1
    assert len(old) == len(new) == 4
    return sealed(model.replace(before, after))


def changed_graph(model: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """A model file with another graph, without metadata."""
    return b"".join(
        encoded_field(GRAPH, change(bytes(field.content))) if field.number == GRAPH else model[field.start : field.end]
        for field in _fields(model)
        if field.number != METADATA_PROPS
    )


def node(kind: str, inputs: Sequence[str], outputs: Sequence[str]) -> bytes:
    """A node without attributes."""
    names = [*((1, name) for name in inputs), *((2, name) for name in outputs), (4, kind)]
    return b"".join(encoded_field(number, name.encode()) for number, name in names)


def tensor(name: str, shape: Sequence[int], data: bytes | None, *, kind: int = 1) -> bytes:
    """A constant; ``kind``: 1 for float32, 7 for int64."""
    message = b""
    for size in shape:
        message = with_number(message, 1, size)
    message = with_field(with_number(message, 2, kind), 8, name.encode())
    return message if data is None else with_field(message, 9, data)


def _fields(message: bytes) -> list[Field]:
    return list(Reader().fields(memoryview(message)))
