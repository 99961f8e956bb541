"""The nodes and weights inside an ONNX file, which ONNX Runtime runs but does not show.

An ONNX file is a message of Protocol Buffers. The package ``onnx`` would read it, at 30 MB of memory for the few fields
that are needed here. Source of the field numbers: onnx.proto3 of ONNX 1.16.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from wakeword.errors import ModelError
from wakeword.types import Array

_FLOATS = {1: "<f4", 10: "<f2"}
"""Numbers of the types of elements that are read."""


class Node(NamedTuple):
    """One operation of a graph: its kind and the names of the values that it takes and gives."""

    operation: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class Graph(NamedTuple):
    """What is read of a file."""

    nodes: tuple[Node, ...]
    weights: dict[str, Array]
    """The constants of single and half precision, by name."""


def read_graph(data: bytes) -> Graph:
    """The graph in the bytes of a file. Raises ``ModelError`` if it is damaged."""
    nodes, weights = [], {}
    try:
        (graph,) = (value for number, value in _fields(data) if number == 7)
        for number, value in _fields(_message(graph)):
            if number == 1:
                nodes.append(_node(_message(value)))
            elif number == 5:
                name, weight = _weight(_message(value))
                if weight is not None:
                    weights[name] = weight
    except (ValueError, IndexError, OverflowError) as error:  # UnicodeDecodeError is a ValueError
        raise ModelError(f"expected the bytes of an ONNX file, could not read them ({error}); it is damaged") from error
    return Graph(tuple(nodes), weights)


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message: their numbers, and integers or bytes. ``ValueError`` or ``IndexError`` if damaged."""
    at = 0
    while at < len(message):
        key, at = _integer(message, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = _integer(message, at)
            yield number, value
            continue
        if kind not in (1, 2, 5):
            raise ValueError(f"field {number} of unknown kind {kind}")
        length, at = _integer(message, at) if kind == 2 else (8 if kind == 1 else 4, at)
        if at + length > len(message):
            raise ValueError(f"field {number} is cut off")
        yield number, message[at : at + length]
        at += length


def _integer(message: bytes, at: int) -> tuple[int, int]:
    """The integer at a place, seven bits in a byte, lowest first; and the place after it."""
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        shift, at = shift + 7, at + 1
        if byte < 128:
            return value, at


def _message(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise ValueError(f"expected bytes, got the number {value}")
    return value


def _node(message: bytes) -> Node:
    texts: dict[int, list[str]] = {1: [], 2: [], 4: []}
    for number, value in _fields(message):
        if number in texts:
            texts[number].append(_message(value).decode())
    return Node("".join(texts[4]), tuple(texts[1]), tuple(texts[2]))


def _weight(message: bytes) -> tuple[str, Array | None]:
    """Name and value of a constant; ``None`` for one of another type, or whose numbers are stored in another way."""
    name, kind, raw, shape = "", 0, None, []
    for number, value in _fields(message):
        if number == 1 and isinstance(value, int):
            shape.append(value)
        elif number == 1:
            packed, at = _message(value), 0
            while at < len(packed):
                size, at = _integer(packed, at)
                shape.append(size)
        elif number == 2 and isinstance(value, int):
            kind = value
        elif number == 8:
            name = _message(value).decode()
        elif number == 9:
            raw = _message(value)
    if raw is None or kind not in _FLOATS:
        return name, None
    return name, np.frombuffer(raw, np.dtype(_FLOATS[kind])).astype(np.float32).reshape(shape)
