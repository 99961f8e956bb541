"""Cards written into model files. The runtime only reads them, and so needs no ``onnx``."""

from pathlib import Path

import onnx
from google.protobuf.message import DecodeError

from wakeword.base.errors import ModelError, naming, raising
from wakeword.base.files import write_whole
from wakeword.format.card import METADATA_KEY, ModelCard
from wakeword.format.digest import DIGEST_KEY, checked_metadata, sealed
from wakeword.model.model import read_model_bytes


def embed_card(model: bytes, card: ModelCard) -> bytes:
    """The bytes of a model file: ``model`` with this card in place of its own, and a new digest.

    Raises ``ModelError`` if ``model`` is not an ONNX file.
    """
    with raising(ModelError, "expected an ONNX model to write the card into, could not read it", DecodeError):
        proto = onnx.load_model_from_string(model)
    replaced = (METADATA_KEY, DIGEST_KEY)
    others = {row.key: row.value for row in proto.metadata_props if row.key not in replaced}
    onnx.helper.set_model_props(proto, {**others, METADATA_KEY: card.to_json()})
    return sealed(bytes(proto.SerializeToString(deterministic=True)))


def write_card(path: Path | str, card: ModelCard) -> None:
    """Replace the card of a model file, atomically; the graph does not change.

    Raises ``ModelError`` if the file cannot be read, is not an ONNX file or not of its digest, and ``OSError`` if it cannot
    be written.
    """
    with naming(path, ModelError):
        model = read_model_bytes(path)
        # The file can have changed since its card was read: damage must not get a digest of its own.
        checked_metadata(model)
        data = embed_card(model, card)
    write_whole(path, data)
