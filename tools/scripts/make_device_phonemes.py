"""``python -m scripts.make_embedded_phonemes``: makes ``phonemes.npz``, by which exports to openWakeWord hear phonemes.

The recogniser of wakeword-ear hears clean speech, and a small network learns to say the same in noise and in rooms, from
openWakeWord's embeddings alone::

    python -m scripts.make_embedded_phonemes --speech FOLDER ... --unlabelled FOLDER ... --noise FOLDER ... \\
        --rooms FOLDER --out phonemes.npz

The folders are those of ``scripts.make_recogniser``, but everybody in them is taught: leave out who judges. 5,250 windows
and 1,700 steps take some 25 minutes of one core. The same folders and seed give the same file on processors of one kind.
"""

import logging
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import typer

from scripts.ear.distilling import lines_of_progress
from scripts.ear.ear_alignment import tokens_of
from scripts.ear.ear_lessons import aligned_speech
from scripts.ear.ear_speech import read_unlabelled, read_utterances
from scripts.ear.embedded_teaching import EARLY, make_lessons, teach_embedded
from scripts.make_recogniser import surroundings
from wakeword.base.errors import WakewordError
from wakeword.base.files import replacing
from wakeword.model.installed import assets_folder
from wakeword.verify.shared import EMBEDDING_FILE, QUICK_FILE, file_digest, load_quick
from wakeword_export.head.oww_features import OwwFeatures
from wakeword_tools.engines.languages import ENGLISH
from wakeword_train.ear import ear_of

_log = logging.getLogger(__name__)


def main(
    speech: Annotated[list[Path], typer.Option("--speech", help="Transcribed speech; repeatable.")],
    unlabelled: Annotated[list[Path], typer.Option("--unlabelled", help="Speech without texts; repeatable.")],
    noise: Annotated[list[Path], typer.Option("--noise", help="Recordings of noise and music; repeatable.")],
    rooms: Annotated[list[Path], typer.Option("--rooms", help="Responses of measured rooms; repeatable.")],
    out: Annotated[Path, typer.Option("--out", help="The file to write (.npz).")],
    windows: Annotated[int, typer.Option("--windows", min=10)] = 5_250,
    steps: Annotated[int, typer.Option("--steps", min=10)] = 1_700,
    width: Annotated[int, typer.Option("--width", min=8)] = 192,
    layers: Annotated[int, typer.Option("--layers", min=1)] = 3,
    seed: Annotated[int, typer.Option("--seed", min=0)] = 0,
) -> None:
    """Teach the network, and write its file."""
    torch.set_num_threads(1)
    tell = lines_of_progress()
    try:
        encoders, ear = assets_folder() / "encoders", ear_of(ENGLISH)
        teacher = ear.network
        quick = load_quick(encoders / QUICK_FILE, file_digest(encoders / QUICK_FILE))
        taught = [one for folder in speech for one in read_utterances(folder)]
        around = surroundings(noise, rooms, taught, seed)
        tokens, between = tokens_of(teacher.tokens, ear.costs)
        aligned = aligned_speech(taught, teacher.log_probabilities, tokens, between, teacher.tokens)
        features = OwwFeatures(encoders / EMBEDDING_FILE)
        others = read_unlabelled(unlabelled)
        lessons = make_lessons(aligned, others, around, teacher, quick.tokens, features, windows, seed, tell)
        network = teach_embedded(lessons, width=width, layers=layers, steps=steps, seed=seed, progress=tell)
        arrays = {**network.arrays(), "tokens": np.array(lessons.tokens), "early": np.array(EARLY)}
        with replacing(out) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    except WakewordError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from None
    _log.info("wrote %s", out)


if __name__ == "__main__":
    typer.run(main)
