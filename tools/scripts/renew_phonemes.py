"""``python -m scripts.renew_phonemes MODEL...``: gives model files the phoneme recogniser of this checkout.

The networks, their weights and the points stay; the word's phonemes are written anew, with the confusions that were
counted for this recogniser. The card's figures were then measured with another one, which the card names: measure
again before you ship such a file. For words that are said as they are written.
"""

import dataclasses
import datetime
from pathlib import Path
from typing import Annotated

import typer

from wakeword.base.errors import ConfigError
from wakeword.base.files import replacing
from wakeword.model.installed import assets_folder
from wakeword.model.model import parse_model, read_model, read_model_bytes
from wakeword.verify.shared import PHONEMES_FILE, load_phonemes
from wakeword_tools.engines.languages import ENGLISH
from wakeword_tools.measure.cards import embed_card
from wakeword_tools.texts.recogniser import recogniser_variants
from wakeword_train.model.two_stage import HEAD_RECORD, head_of, shipped_digests, with_verifier

MEASURED_WITH = "measured_with_recogniser"
"""Entry of a card's record of training: the digest of the recogniser with which its figures were measured."""


def renew(path: Path) -> bool:
    """Write the file anew; whether it has phonemes, without which it stays as it is."""
    card = read_model(path).card
    verifier = card.verifier
    if verifier is None or not verifier.phonemes:
        return False
    _, digest = shipped_digests()
    if digest == verifier.phonemes_digest:
        return True
    if card.language != ENGLISH:
        raise ConfigError(f"{path}: expected an English word, got one of {card.language!r}; train it again")
    model = read_model_bytes(path)
    ways = recogniser_variants(card.phrase, load_phonemes(assets_folder() / "encoders" / PHONEMES_FILE, digest).tokens)
    renewed = dataclasses.replace(
        verifier,
        phonemes_digest=digest,
        phonemes=tuple(way.variant for way in ways),
        phoneme_losses=tuple(way.losses for way in ways),
    )
    data = with_verifier(
        model,
        head_of(model),
        renewed,
        operating_points=card.operating_points,
        default_point=card.default_point,
        head_training=card.training.get(HEAD_RECORD),
    )
    made = parse_model(data).card
    record = {**made.training, MEASURED_WITH: verifier.phonemes_digest}
    today = f"{datetime.date.today():%Y.%m.%d}"
    with replacing(path) as temporary:
        temporary.write_bytes(embed_card(data, dataclasses.replace(made, training=record, version=today)))
    return True


def main(models: Annotated[list[Path], typer.Argument(help="Model files, which are written anew.")]) -> None:
    """Give model files the recogniser of this checkout."""
    for path in models:
        typer.echo(f"{path.name}: {'renewed' if renew(path) else 'has no phonemes'}")


if __name__ == "__main__":
    typer.run(main)
