"""A bounded reader of protobuf messages, the form of ONNX files: what a file holds is known before anything else reads it.

A message is a sequence of fields, each a key (its number and its kind), followed by a number or by a length and that
number of bytes. Nothing is copied, and nothing is allocated that is larger than the list of fields.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from wakeword.base.errors import ModelError

MAX_FIELDS = 20_000
"""Most fields in all messages of a file; a model of this project has under 500."""

NUMBER, BYTES = 0, 2
"""Kinds of fields: a number of up to 64 bits, and bytes that follow their length."""


class Field(NamedTuple):
    """One field of a message."""

    number: int
    kind: int
    """``NUMBER`` or ``BYTES``; the files of this project have no others."""
    value: int
    """The number; for ``BYTES`` their count."""
    content: memoryview
    """The bytes; none for a number."""
    start: int
    """Where the field begins in the message, with its key."""
    end: int
    """Where the next one begins."""


class Layout(NamedTuple):
    """The fields that a message may have, by their number: the name, and the kind."""

    single: Mapping[int, tuple[str, int]]
    """Fields that occur once at most."""
    repeated: Mapping[int, tuple[str, int]]


class Reader:
    """Reads the messages of one file. Raises ``ModelError`` for bytes that are no message, and for too many fields."""

    def __init__(self) -> None:
        self._left = MAX_FIELDS

    def fields(self, message: memoryview) -> Iterator[Field]:
        """The fields of a message in their order."""
        at = 0
        while at < len(message):
            self._left -= 1
            if self._left < 0:
                raise ModelError(f"expected at most {MAX_FIELDS} fields in an ONNX file, got more")
            start = at
            key, at = _number(message, at)
            value, at = _number(message, at)
            end = at
            if key & 7 == BYTES:
                end += value
            elif key & 7 != NUMBER:
                raise ModelError(f"a field of kind {key & 7}, which no file of this project has")
            if end > len(message):
                raise ModelError("a field reaches beyond its end")
            yield Field(key >> 3, key & 7, value, message[at:end], start, end)
            at = end

    def read(self, message: memoryview, layout: Layout, what: str) -> dict[str, list[Field]]:
        """The fields of a message by name, all names of the layout included.

        Raises ``ModelError`` for a field that the layout lacks, and for a second one where it allows one: programs differ
        in what they make of these.
        """
        found: dict[str, list[Field]] = {
            name: [] for fields in (layout.single, layout.repeated) for name, _ in fields.values()
        }
        for field in self.fields(message):
            name, kind = layout.single.get(field.number) or layout.repeated.get(field.number) or ("", -1)
            if field.kind != kind:
                raise ModelError(f"a field of number {field.number} in {what}, which no file of this project has")
            if found[name] and field.number in layout.single:
                raise ModelError(f"two fields {name} in {what} where one is allowed")
            found[name].append(field)
        return found


def encoded_field(number: int, content: bytes) -> bytes:
    """A field of bytes as a message holds it."""
    return _encoded(number << 3 | BYTES) + _encoded(len(content)) + content


def encoded_number(number: int, value: int) -> bytes:
    """A field of a number of at least 0 as a message holds it."""
    return _encoded(number << 3 | NUMBER) + _encoded(value)


def signed(value: int) -> int:
    """A number as ONNX means its 64 bits."""
    return value - 2**64 if value >= 2**63 else value


def decoded_text(content: memoryview) -> str:
    """The text of a field. ``ModelError`` if it is not UTF-8."""
    try:
        return bytes(content).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelError("text that is not UTF-8") from error


def _number(message: memoryview, at: int) -> tuple[int, int]:
    """The number that begins at ``at``, and where it ends: seven bits per byte, the lowest first."""
    value = 0
    for place, byte in enumerate(message[at : at + 10]):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            if value >= 2**64:
                break
            return value, at + place + 1
    raise ModelError("a number without an end")


def _encoded(value: int) -> bytes:
    low, high = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _encoded(high) if high else bytes([low])
