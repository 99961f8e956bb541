"""``python -m scripts.renew_phonemes MODEL...``: gives model files the phoneme recogniser of this checkout.

The networks, their weights and the operating points stay; the word's phonemes are written anew, with the confusions that
were counted for this recogniser. The points were then chosen with another recogniser: measure before you ship such a file.
"""

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from wakeword.model.installed import assets_folder
from wakeword.model.model import read_model, read_model_bytes
from wakeword.verify.shared import PHONEMES_FILE, load_phonemes
from wakeword_tools.texts.recogniser import recogniser_variants
from wakeword_train.model.two_stage import HEAD_RECORD, export_two_stage, head_of, shipped_digests


def renew(path: Path) -> bool:
    """Write the file anew; whether it has phonemes, without which it stays as it is."""
    card = read_model(path).card
    verifier = card.verifier
    if verifier is None or not verifier.phonemes:
        return False
    _, digest = shipped_digests()
    ways = recogniser_variants(card.phrase, load_phonemes(assets_folder() / "encoders" / PHONEMES_FILE, digest).tokens)
    renewed = dataclasses.replace(
        verifier,
        phonemes_digest=digest,
        phonemes=tuple(way.variant for way in ways),
        phoneme_losses=tuple(way.losses for way in ways),
    )
    export_two_stage(
        path,
        head_of(read_model_bytes(path)),
        renewed,
        path,
        operating_points=card.operating_points,
        default_point=card.default_point,
        head_training=card.training.get(HEAD_RECORD),
    )
    return True


def main(models: Annotated[list[Path], typer.Argument(help="Model files, which are written anew.")]) -> None:
    """Give model files the recogniser of this checkout."""
    for path in models:
        typer.echo(f"{path.name}: {'renewed' if renew(path) else 'has no phonemes'}")


if __name__ == "__main__":
    typer.run(main)
