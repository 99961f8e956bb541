"""Changed model files whose digest is right again, so that what is behind the check of the digest is attacked."""

import contextlib
import json

from fuzz.cases.protobuf_cases import metadata, with_metadata
from wakeword import ModelError
from wakeword.format.card import METADATA_KEY
from wakeword.format.digest import sealed as with_digest
from wakeword.verify.verifier_head import HEAD_KEY

SCHEMA_WITHOUT, TWO_STAGE_SCHEMA_WITHOUT = 2, 3
"""Schemas of files of one stage and of two from before there were digests, which are still read."""


def sealed(data: bytes, *, new: bool = True) -> bytes:
    """The file as its maker would have written it, or unless ``new`` as one of before there were digests.

    Raises ``ValueError`` if it is no message any more.
    """
    if not new:
        return without_digest(data)
    try:
        return with_digest(data)
    except ModelError as error:
        raise ValueError("expected an ONNX file") from error


def without_digest(data: bytes) -> bytes:
    """The file with card and head alone in its metadata, under the schema of before there were digests.

    Raises ``ValueError`` if it is no message any more.
    """
    entries = metadata(data)
    kept = {key: entries[key] for key in (METADATA_KEY, HEAD_KEY) if key in entries}
    with contextlib.suppress(ValueError, RecursionError):  # a card that is no JSON stays as it is
        card = json.loads(kept.get(METADATA_KEY, ""))
        if isinstance(card, dict) and "schema" in card:
            card["schema"] = SCHEMA_WITHOUT if card.get("verifier") is None else TWO_STAGE_SCHEMA_WITHOUT
            kept[METADATA_KEY] = json.dumps(card)
    return with_metadata(data, kept)
