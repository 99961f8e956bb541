"""``wakeword renew``: a model that was trained with another phoneme recogniser gets the one of this version.

Networks, weights and points stay; the word's phonemes are written anew, with the confusions of this recogniser.
"""

import dataclasses
import datetime
from pathlib import Path
from typing import Annotated

import typer

from wakeword.base.errors import ConfigError
from wakeword.base.files import write_whole
from wakeword.base.plugins import require_training_packages
from wakeword.model.installed import assets_folder, model_file
from wakeword.model.model import parse_model, read_model, read_model_bytes
from wakeword.verify.shared import QUICK_FILE, file_digest

_RENEWED = "renewed; its figures were measured with the recogniser before: wakeword calibrate measures them again"


def renew(models: Annotated[list[str], typer.Argument(metavar="MODEL...", help="Files, or names of models.")]) -> None:
    """Give a model the phoneme recogniser of this version, without training.

    Its figures were measured with the recogniser before: `wakeword calibrate` measures them again.
    """
    require_training_packages()
    for one in models:
        path = Path(model_file(one))
        typer.echo(f"{path}: {_RENEWED if renew_model(path) else 'is of this version, or has no phonemes'}")


def renew_model(path: Path) -> bool:
    """Put the renewal of a model into its place, at once by a rename; whether anything was to be done.

    Raises ``ModelError`` if it is no model, ``ConfigError`` if its word cannot be written in the recogniser's tokens or if
    the file was changed meanwhile, and ``OSError``.
    """
    read_model(path)  # its errors name the file
    before = read_model_bytes(path)
    after = _renewed(path, before)
    if after == before:
        return False
    parse_model(after)
    if read_model_bytes(path) != before:
        raise ConfigError(f"{path}: the model was replaced meanwhile, and stays as it is; try again")
    write_whole(path, after)
    return True


def _renewed(path: Path, model: bytes) -> bytes:
    """The model in ``path`` with this recogniser; the same bytes if it has it, or no phonemes."""
    from wakeword_tools.measure.cards import embed_card
    from wakeword_train.ear import TextEar, ear_of, ear_of_digest
    from wakeword_train.from_text import TAKEN, as_heard, with_phonemes
    from wakeword_train.model.two_stage import HEAD_RECORD, head_of, with_verifier
    from wakeword_train.spoken_texts import SpokenKeyword
    from wakeword_train.synthesis_config import SynthesisConfig

    card = parse_model(model).card
    verifier = card.verifier
    if verifier is None or not verifier.phonemes:
        return model
    ear = ear_of_digest(verifier.phonemes_digest)
    if ear.digest != verifier.phonemes_digest:
        ear = ear_of(card.language) if verifier.by_phonemes_alone else TextEar(None)
    quick_digest = None if verifier.quick_digest is None else file_digest(_encoders() / QUICK_FILE)
    if (verifier.phonemes_digest, verifier.quick_digest) == (ear.digest, quick_digest):
        return model
    spoken = SpokenKeyword(card.phrase, SynthesisConfig.of_record(card.training), 0, card.language)
    tokens = ear.network.tokens
    ways = spoken.variants(tokens, ear.costs)
    if not ways:
        raise ConfigError(f"{path}: expected sounds that the recogniser knows, got {card.phrase!r}; train it again")
    taken = [as_heard(way) for way in card.training.get(TAKEN, ()) if set(way) <= set(tokens)]
    renewed = with_phonemes(verifier, spoken, (*ways, *taken), ear)
    data = with_verifier(
        model,
        head_of(model),
        renewed,
        operating_points=card.operating_points,
        default_point=card.default_point,
        head_training=card.training.get(HEAD_RECORD),
    )
    made = parse_model(data).card
    earlier = {} if verifier.phonemes_digest == ear.digest else {made.MEASURED_WITH: verifier.phonemes_digest}
    record = {**earlier, **made.training}
    today = f"{datetime.date.today():%Y.%m.%d}"
    return embed_card(data, dataclasses.replace(made, training=record, version=today))


def _encoders() -> Path:
    return assets_folder() / "encoders"
