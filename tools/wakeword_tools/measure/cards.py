"""Cards written into model files. The runtime only reads them, and so needs no ``onnx``."""

from pathlib import Path

import onnx
from google.protobuf.message import DecodeError

from wakeword.card import METADATA_KEY, ModelCard
from wakeword.errors import ModelError
from wakeword.files import replacing


def embed_card(model: bytes, card: ModelCard) -> bytes:
    """ONNX bytes with ``card`` in their metadata; an existing card is replaced.

    Raises ``ModelError`` if ``model`` is not an ONNX file.
    """
    try:
        proto = onnx.load_model_from_string(model)
    except DecodeError as error:
        raise ModelError(f"expected an ONNX model to write the card into, could not read it: {error}") from error
    others = {entry.key: entry.value for entry in proto.metadata_props if entry.key != METADATA_KEY}
    onnx.helper.set_model_props(proto, {**others, METADATA_KEY: card.to_json()})
    return bytes(proto.SerializeToString(deterministic=True))


def write_card(path: Path | str, card: ModelCard) -> None:
    """Replace the card of a model file, atomically; the graph does not change.

    Raises ``ModelError`` if the file is not an ONNX file and ``OSError`` if it cannot be read or written.
    """
    try:
        data = embed_card(Path(path).read_bytes(), card)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    with replacing(path) as temporary:
        temporary.write_bytes(data)
