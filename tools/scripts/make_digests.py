"""Writes model files again with the digest of their bytes.

``python -m scripts.make_digests MODEL.onnx...``: for files whose metadata another program has changed on purpose.
Graph, card and second stage stay as they are. The same input gives the same bytes.
"""

import argparse
import sys
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError

from wakeword.base.errors import ModelError
from wakeword.base.files import write_whole
from wakeword.base.text import printable
from wakeword.format.card import METADATA_KEY, ModelCard
from wakeword.model.model import parse_model, read_model_bytes
from wakeword_tools.measure.cards import embed_card


def with_digest(model: bytes) -> bytes:
    """The bytes of a model file with a digest of its own; one that it has already is not compared.

    Raises ``ModelError`` if the file cannot be used for another reason.
    """
    try:
        proto = onnx.load_model_from_string(model)
    except DecodeError as error:
        raise ModelError(f"expected an ONNX model, could not read it: {error}") from error
    entries = {entry.key: entry.value for entry in proto.metadata_props}
    made = embed_card(model, ModelCard.from_json(entries.get(METADATA_KEY, "")))
    parse_model(made)
    return made


def main() -> None:
    """Write the files and print their digests; exit status 1 if one is no model, which is then left as it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=Path, nargs="+")
    failed = False
    for path in parser.parse_args().models:
        try:
            data = with_digest(read_model_bytes(path))
            write_whole(path, data)
        except (ModelError, OSError) as error:
            print(printable(f"{path}: {error}"), file=sys.stderr)  # noqa: T201
            failed = True
        else:
            print(printable(path), len(data), parse_model(data).digest)  # noqa: T201
    sys.exit(failed)


if __name__ == "__main__":
    main()
