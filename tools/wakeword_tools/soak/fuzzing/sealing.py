"""Changed model files whose digest is right again, so that what is behind the check of the digest is attacked."""

import json

from wakeword.card import METADATA_KEY, SCHEMA, TWO_STAGE_SCHEMA
from wakeword.verify.head import METADATA_KEY as HEAD_KEY
from wakeword_tools.soak.fuzzing.protobuf import metadata, with_metadata


def sealed(data: bytes, *, new: bool = True) -> bytes:
    """The file as its maker would have written it, or unless ``new`` as one of before there were digests.

    Raises ``ValueError`` if it is no message any more.
    """
    return without_digest(data)


def without_digest(data: bytes) -> bytes:
    """The file with card and head alone in its metadata, under the schema of before there were digests.

    Raises ``ValueError`` if it is no message any more.
    """
    entries = metadata(data)
    kept = {key: entries[key] for key in (METADATA_KEY, HEAD_KEY) if key in entries}
    try:
        card = json.loads(kept.get(METADATA_KEY, ""))
        if isinstance(card, dict) and "schema" in card:
            card["schema"] = SCHEMA if card.get("verifier") is None else TWO_STAGE_SCHEMA
            kept[METADATA_KEY] = json.dumps(card)
    except (ValueError, RecursionError):
        pass  # a card that is no JSON stays as it is
    return with_metadata(data, kept)
