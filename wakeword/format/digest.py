"""The digest in a model file, over all its bytes: no bit of graph, card or head can change without notice.

It is an entry of its own in the metadata of the ONNX file, the SHA-256 of the file with the 64 digits of the entry taken as
zeros. So there is no byte that it leaves out, whatever a later version or another program writes. It shows damage, and who
changes a file can write a new one: a digest is no signature. A program that edits metadata must renew it with ``sealed``.
"""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from wakeword.base.errors import ModelError
from wakeword.format.protobuf import BYTES, Layout, Reader, decoded_text, encoded_field

DIGEST_KEY = "wakeword.sha256"
"""Key of the digest in the metadata of the ONNX file."""
METADATA_PROPS = 14
"""Number of the field of an ONNX file that holds the metadata, once for each entry."""

NOT_A_MODEL = "not an ONNX model that can be run: truncated, damaged or of another kind"
_ZEROS = 64 * b"0"
_LAYOUT = Layout({1: ("key", BYTES), 2: ("value", BYTES)}, {})


class Metadata(NamedTuple):
    """The metadata of a model file."""

    entries: Mapping[str, str]
    """All but the digest."""
    digest: str | None
    """SHA-256 in hex that the file was checked against; ``None`` if it has none."""


class _Entry(NamedTuple):
    key: str
    value: memoryview
    value_start: int
    """Where the value begins in the file."""
    start: int
    end: int


def checked_metadata(model: bytes) -> Metadata:
    """The metadata of a model file, after its digest has been compared, if it has one.

    Raises ``ModelError`` if the bytes differ from those that were written, or are no ONNX file.
    """
    entries = _entries(model)
    if len({entry.key for entry in entries}) != len(entries):
        raise ModelError("expected metadata with different keys, got two entries of the same; the file is damaged")
    digest = None
    for entry in entries:
        if entry.key == DIGEST_KEY:
            digest = _digest(model, entry)
            if bytes(entry.value) != digest.encode("ascii"):
                raise ModelError(
                    f"expected a file of the digest that it holds, got one of SHA-256 {digest[:16]}...: it is damaged, or "
                    "was changed without a new digest; get it again"
                )
    return Metadata({entry.key: decoded_text(entry.value) for entry in entries if entry.key != DIGEST_KEY}, digest)


def sealed(model: bytes) -> bytes:
    """A model file with the digest of its bytes as the last entry of its metadata, in place of an older one.

    Raises ``ModelError`` if the bytes are no ONNX file.
    """
    for entry in reversed(_entries(model)):
        if entry.key == DIGEST_KEY:
            model = model[: entry.start] + model[entry.end :]
    content = encoded_field(1, DIGEST_KEY.encode("ascii")) + encoded_field(2, _ZEROS)
    zeros = model + encoded_field(METADATA_PROPS, content)
    return zeros.removesuffix(_ZEROS) + hashlib.sha256(zeros).hexdigest().encode("ascii")


def _entries(model: bytes) -> list[_Entry]:
    """The entries of the metadata, in their order."""
    reader, found = Reader(), []
    if not model:
        raise ModelError(f"{NOT_A_MODEL} (no bytes)")
    try:
        for field in reader.fields(memoryview(model)):
            if field.number == METADATA_PROPS and field.kind == BYTES:
                parts = reader.read(field.content, _LAYOUT, "the metadata")
                if not parts["key"] or not parts["value"]:
                    raise ModelError("an entry of the metadata without key or value")
                key, value = parts["key"][0], parts["value"][0]
                start = field.end - field.value + value.end - value.value
                found.append(_Entry(decoded_text(key.content), value.content, start, field.start, field.end))
    except ModelError as error:
        raise ModelError(f"{NOT_A_MODEL} ({error})") from error
    return found


def _digest(model: bytes, entry: _Entry) -> str:
    """SHA-256 of the file with the digits of the entry taken as zeros."""
    if len(entry.value) != len(_ZEROS):
        raise ModelError(f"expected a digest of {len(_ZEROS)} hex digits, got {len(entry.value)}; the file is damaged")
    with memoryview(model) as whole:
        made = hashlib.sha256(whole[: entry.value_start])
        made.update(_ZEROS)
        made.update(whole[entry.value_start + len(_ZEROS) :])
    return made.hexdigest()
