"""The digest in a model file, over all its bytes: no bit of graph, card or head can change without notice.

It is the last entry in the metadata of the ONNX file and ends the file: the SHA-256 of the file with its own 64 digits
taken as zeros. So there is no byte that it leaves out, whatever a later version or another program writes. It shows damage,
and who changes a file can write a new one: a digest is no signature. A program that edits metadata must renew it with
``sealed``.
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

NOT_A_MODEL = "expected a model file of wakeword, got one that is truncated, damaged or of another kind; get it again"
_ZEROS = 64 * b"0"
_TAIL = encoded_field(METADATA_PROPS, encoded_field(1, DIGEST_KEY.encode("ascii")) + encoded_field(2, _ZEROS))
"""The entry of the digest, with zeros for its digits."""
_LAYOUT = Layout({1: ("key", BYTES), 2: ("value", BYTES)}, {})


class Metadata(NamedTuple):
    """The metadata of a model file."""

    entries: Mapping[str, str]
    """All but the digest."""
    digest: str | None
    """SHA-256 in hex that the file was checked against; ``None`` if it has none."""


def checked_metadata(model: bytes) -> Metadata:
    """The metadata of a model file, after its digest has been compared, if it has one.

    Raises ``ModelError`` if the bytes differ from those that were written, or are no ONNX file.
    """
    entries = _entries(model)
    if entries.pop(DIGEST_KEY, None) is None:
        return Metadata(entries, None)
    digest = _digest(model)
    if not model.endswith(_TAIL.removesuffix(_ZEROS) + digest.encode("ascii")):
        raise ModelError(
            f"expected a file of the digest that it holds, got one of SHA-256 {digest[:16]}...: it is damaged, or "
            "was changed without a new digest; get it again"
        )
    return Metadata(entries, digest)


def sealed(model: bytes) -> bytes:
    """A model file with the digest of its bytes at its end, in place of an older one there.

    Raises ``ModelError`` if the bytes are no ONNX file.
    """
    _entries(model)
    if model[: -len(_ZEROS)].endswith(_TAIL.removesuffix(_ZEROS)):
        model = model[: -len(_TAIL)]
    zeros = model + _TAIL
    return zeros.removesuffix(_ZEROS) + _digest(zeros).encode("ascii")


def _entries(model: bytes) -> dict[str, str]:
    """The entries of the metadata, in their order."""
    reader = Reader()
    entries: dict[str, str] = {}
    if not model:
        raise ModelError(f"{NOT_A_MODEL} (no bytes)")
    try:
        for field in reader.fields(memoryview(model)):
            if field.number == METADATA_PROPS and field.kind == BYTES:
                parts = reader.read(field.content, _LAYOUT, "the metadata")
                if not parts["key"] or not parts["value"]:
                    raise ModelError("an entry of the metadata without key or value")
                key = decoded_text(parts["key"][0].content)
                if key in entries:
                    raise ModelError("two entries of the metadata with one key")
                entries[key] = decoded_text(parts["value"][0].content)
    except ModelError as error:
        raise ModelError(f"{NOT_A_MODEL} ({error})") from error
    return entries


def _digest(model: bytes) -> str:
    """SHA-256 of a file with its last 64 bytes taken as zeros."""
    with memoryview(model) as whole:
        made = hashlib.sha256(whole[: -len(_ZEROS)])
    made.update(_ZEROS)
    return made.hexdigest()
