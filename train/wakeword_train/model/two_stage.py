"""A second stage added to an exported model file: the head, and the card that says when and how it is used."""

import base64
import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import onnx

from wakeword.base.errors import ModelError
from wakeword.base.files import write_whole
from wakeword.format.card import ModelCard
from wakeword.format.digest import checked_metadata
from wakeword.format.verifier_card import VerifierCard
from wakeword.model.installed import encoders_folder
from wakeword.model.model import parse_model, read_model, read_model_bytes
from wakeword.verify.shared import EMBEDDING_FILE, PHONEMES_FILE, file_digest, load_embedding
from wakeword.verify.verifier import SecondStage
from wakeword.verify.verifier_head import HEAD_KEY, Head
from wakeword_tools.measure.cards import embed_card

HEAD_RECORD = "head"
"""Entry of the card's record of training with the last epoch of the second stage's head."""


class SharedDigests(NamedTuple):
    """SHA-256 of the networks that all models share, in hex."""

    embedding: str
    phonemes: str


def shipped_digests() -> SharedDigests:
    """The digests of the embedding and of the phoneme recogniser that come with this version, for a card."""
    folder = encoders_folder()
    return SharedDigests(file_digest(folder / EMBEDDING_FILE), file_digest(folder / PHONEMES_FILE))


def with_verifier(
    stage_one: bytes, head: bytes, verifier: VerifierCard, *, head_training: Mapping[str, object] | None = None
) -> bytes:
    """A model file of two stages: the model file ``stage_one`` with the ONNX graph ``head``, as bytes.

    ``head``: ``embeddings (16, 96) -> logit (1,)`` in float32. ``head_training`` is what the card says of the head's
    training, in its entry ``HEAD_RECORD``. The fused score has no operating points yet. The card's self-test is computed
    here, and without points of the first stage it gets those that ``stage_one`` has. A second stage of ``stage_one`` is
    replaced. Raises ``ModelError`` if a file cannot be used or the shared networks are not the ones that the card names.
    """
    card = parse_model(stage_one).card.of_stage_one()
    network = load_embedding(encoders_folder() / EMBEDDING_FILE, verifier.embedding_digest)
    logit = SecondStage(
        dataclasses.replace(verifier, phonemes=(), phoneme_losses=()), Head(head), network, None
    ).self_test()
    if not verifier.stage_one_points:
        points, default = card.operating_points, card.default_point
        verifier = dataclasses.replace(verifier, stage_one_points=points, stage_one_default=default)
    # Nothing is said of a head that is replaced.
    others = {key: value for key, value in card.training.items() if key != HEAD_RECORD}
    both: ModelCard = dataclasses.replace(
        card,
        verifier=dataclasses.replace(verifier, self_test=logit),
        training=others | ({} if head_training is None else {HEAD_RECORD: dict(head_training)}),
        operating_points=(),
        default_point=None,
    )
    proto = onnx.load_model_from_string(stage_one)
    entries = {entry.key: entry.value for entry in proto.metadata_props}
    onnx.helper.set_model_props(proto, {**entries, HEAD_KEY: base64.b64encode(head).decode("ascii")})
    data = embed_card(proto.SerializeToString(deterministic=True), both)
    if parse_model(data).second_stage is None:
        raise ModelError("expected a model of two stages, got one without a head")
    return data


def copy_verifier(source: Path | str, path: Path | str) -> None:
    """Give the model file ``path`` the second stage of ``source``, if there is one.

    Gate, head and fusion stay; the operating points of ``source`` are not copied, as they belong to another first stage.
    """
    card = read_model(source).card
    verifier = card.verifier
    if verifier is None:
        return
    bare = dataclasses.replace(verifier, stage_one_points=(), stage_one_default=None)
    head = head_of(read_model_bytes(source))
    write_whole(path, with_verifier(read_model_bytes(path), head, bare, head_training=card.training.get(HEAD_RECORD)))


def head_of(data: bytes) -> bytes:
    """The head in the bytes of a model file of two stages."""
    return base64.b64decode(checked_metadata(data).entries[HEAD_KEY])
