"""Changes to ONNX files without the ``onnx`` package, which the runtime does not need.

An ONNX file is a protobuf message: a sequence of fields, each a key (its number and its kind), followed by a number or by
a length and that number of bytes.
"""

from collections.abc import Iterator, Mapping

METADATA_PROPS = 14
"""Number of the field of ``ModelProto`` that holds the metadata, once for each entry."""

_BYTES = 2
"""Kind of the fields that begin with their length; the other kind in these files, 0, is a number."""


def _encoded(value: int) -> bytes:
    """Seven bits per byte, the lowest first; the eighth bit is set if more follow."""
    low, high = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _encoded(high) if high else bytes([low])


def _decoded(data: bytes, at: int) -> tuple[int, int]:
    """The number that begins at ``at``, and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message, keys included, each with its number."""
    at = 0
    while at < len(message):
        key, end = _decoded(message, at)
        value, end = _decoded(message, end)
        assert key & 7 in (0, _BYTES)
        if key & 7 == _BYTES:
            end += value
        yield key >> 3, message[at:end]
        at = end


def _field(number: int, content: bytes) -> bytes:
    return _encoded(number << 3 | _BYTES) + _encoded(len(content)) + content


def with_metadata(model: bytes, entries: Mapping[str, str]) -> bytes:
    """A model file with these metadata instead of its own."""
    kept = [field for number, field in _fields(model) if number != METADATA_PROPS]
    added = [
        _field(METADATA_PROPS, _field(1, key.encode()) + _field(2, text.encode())) for key, text in entries.items()
    ]
    return b"".join(kept + added)


def with_scalar(model: bytes, name: str, old: bytes, new: bytes) -> bytes:
    """A model file in which the constant of that name, a scalar of four bytes, is replaced."""
    before, after = (_field(8, name.encode()) + _field(9, value) for value in (old, new))
    assert model.count(before) == 1
    assert len(old) == len(new) == 4
    return model.replace(before, after)
