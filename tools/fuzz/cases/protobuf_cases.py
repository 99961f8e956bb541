"""Reading and writing protobuf messages, so far as attacks on ONNX files need it, without the ``onnx`` package.

A message is a sequence of fields. Each begins with a key, which is its number and the kind of its value: 0 is an integer,
1 and 5 are eight and four bytes, 2 is a length and that number of bytes, which may be a message again.
"""

from collections.abc import Iterable, Iterator, Mapping

Value = int | bytes
"""An integer, or the bytes of any other kind."""
Field = tuple[int, int, Value]
"""Number, kind, value."""

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
GRAPH, METADATA_PROPS = 7, 14
"""Fields of ``ModelProto``."""


def fields(message: bytes) -> list[Field]:
    """The fields of a message. Raises ``ValueError`` if it is malformed."""
    found: list[Field] = []
    at = 0
    while at < len(message):
        key, at = _decoded(message, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, at = _decoded(message, at)
            found.append((number, kind, value))
            continue
        if kind == BYTES:
            size, at = _decoded(message, at)
        else:
            size = {FIXED64: 8, FIXED32: 4}.get(kind, -1)
        if size < 0 or at + size > len(message):
            raise ValueError(f"expected a field within the message of {len(message)} bytes, got kind {kind} at {at}")
        found.append((number, kind, message[at : at + size]))
        at += size
    return found


def encoded(message: Iterable[Field]) -> bytes:
    """A message of these fields. Integers below 0 are written as 64-bit numbers, as protobuf does."""
    parts = []
    for number, kind, value in message:
        parts.append(_varint(number << 3 | kind))
        if isinstance(value, int):
            parts.append(_varint(value))
        else:
            parts += [_varint(len(value)), value] if kind == BYTES else [value]
    return b"".join(parts)


def field(number: int, value: Value | str) -> Field:
    """A field with an integer, bytes or text."""
    if isinstance(value, str):
        value = value.encode()
    return number, VARINT if isinstance(value, int) else BYTES, value


def message(*parts: tuple[int, Value | str]) -> bytes:
    """A message of fields with an integer, bytes or text each."""
    return encoded(field(number, value) for number, value in parts)


def metadata(model: bytes) -> dict[str, str]:
    """The metadata of an ONNX file. Raises ``ValueError`` if it is malformed."""
    return dict(_entries(model))


def with_metadata(model: bytes, entries: Mapping[str, str]) -> bytes:
    """An ONNX file with these metadata instead of its own."""
    kept = [one for one in fields(model) if one[0] != METADATA_PROPS]
    added = [
        field(METADATA_PROPS, message((1, key), (2, text.encode("utf-8", "surrogatepass"))))
        for key, text in entries.items()
    ]
    return encoded([*kept, *added])


def graph_of(model: bytes) -> list[Field]:
    """The fields of an ONNX file's graph. Raises ``ValueError`` if it is malformed."""
    for number, _, value in fields(model):
        if number == GRAPH and isinstance(value, bytes):
            return fields(value)
    raise ValueError("expected an ONNX file with a graph, got one without")


def with_graph(model: bytes, graph: Iterable[Field]) -> bytes:
    """An ONNX file with this graph instead of its own."""
    rest = [one for one in fields(model) if one[0] != GRAPH]
    return encoded([field(GRAPH, encoded(graph)), *rest])


def _entries(model: bytes) -> Iterator[tuple[str, str]]:
    for number, _, value in fields(model):
        if number == METADATA_PROPS and isinstance(value, bytes):
            parts = {key: text for key, _, text in fields(value) if isinstance(text, bytes)}
            if not {1, 2} <= set(parts):
                raise ValueError("expected metadata with key and value, got an entry without")
            # Text that is no Unicode is attacked too.
            yield parts[1].decode("utf-8", "surrogatepass"), parts[2].decode("utf-8", "surrogatepass")


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; the eighth bit is set if more follow."""
    value %= 2**64
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def _decoded(data: bytes, at: int) -> tuple[int, int]:
    """The integer that begins at ``at``, and where it ends."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError(f"expected an integer within the message of {len(data)} bytes, got none at {at}")
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at
