"""``python -m scripts.make_device_phonemes ENGINE``: makes ``phonemes.npz``: exports to an engine hear phonemes by it.

The recogniser of wakeword-ear hears clean speech, and a small network learns to say the same in noise and in rooms, from
the embeddings of openWakeWord or the features of microWakeWord alone::

    python -m scripts.make_device_phonemes openwakeword --speech FOLDER ... --unlabelled FOLDER ... --noise FOLDER ... \\
        --rooms FOLDER --windows 78000 --steps 4000 --width 256 --layers 4 --out phonemes.npz
    python -m scripts.make_device_phonemes microwakeword ... --windows 78000 --steps 7000 --width 224 --layers 8 ...

The folders are as for ``scripts.make_recogniser``, but everybody in them is taught: leave out who judges, and the people
of the starter pack who set cutoffs. A person counts by the square root of what he says, and three windows of ten are of
``--unlabelled`` speech: other languages there bring more people. After ``--steps`` the network learns words to tell windows
apart, in three rounds of half as many. The first takes some 75 minutes of one core, the second two hours. The same folders
and seed give the same file on processors of one kind.
"""

import dataclasses
import logging
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer

from scripts.ear.distilling import lines_of_progress, make_lessons
from scripts.ear.ear_alignment import tokens_of
from scripts.ear.ear_lessons import aligned_speech
from scripts.ear.ear_speech import read_unlabelled, read_utterances
from scripts.ear.embedded_teaching import EARLY, embedded, teach_embedded
from scripts.ear.micro_teaching import as_features, quantised, teach_micro
from scripts.make_recogniser import surroundings
from scripts.one_line_errors import one_line_errors
from wakeword.base.files import replacing
from wakeword.model.installed import encoders_folder
from wakeword.verify.shared import EMBEDDING_FILE, QUICK_FILE, file_digest, load_quick
from wakeword_export.head.oww_features import OwwFeatures
from wakeword_tools.engines.languages import ENGLISH
from wakeword_train.ear import ear_of

_log = logging.getLogger(__name__)


class ListeningEngine(StrEnum):
    """The engines that listen to features of their own."""

    OPENWAKEWORD = "openwakeword"
    MICROWAKEWORD = "microwakeword"


@one_line_errors()
def main(
    engine: Annotated[ListeningEngine, typer.Argument()],
    speech: Annotated[list[Path], typer.Option("--speech", help="Transcribed speech; repeatable.")],
    unlabelled: Annotated[list[Path], typer.Option("--unlabelled", help="Speech without texts; repeatable.")],
    noise: Annotated[list[Path], typer.Option("--noise", help="Recordings of noise and music; repeatable.")],
    rooms: Annotated[list[Path], typer.Option("--rooms", help="Responses of measured rooms; repeatable.")],
    out: Annotated[Path, typer.Option("--out", help="The file to write (.npz).")],
    windows: Annotated[int, typer.Option("--windows", min=10)],
    steps: Annotated[int, typer.Option("--steps", min=10)],
    width: Annotated[int, typer.Option("--width", min=8)],
    layers: Annotated[int, typer.Option("--layers", min=1)],
    seed: Annotated[int, typer.Option("--seed", min=0)] = 0,
) -> None:
    """Teach the network, and write its file."""
    torch.set_num_threads(1)
    tell = lines_of_progress()
    encoders, ear = encoders_folder(), ear_of(ENGLISH)
    teacher = ear.network
    quick = load_quick(encoders / QUICK_FILE, file_digest(encoders / QUICK_FILE))
    taught = [one for folder in speech for one in read_utterances(folder)]
    around = surroundings(noise, rooms, taught, seed)
    tokens, between = tokens_of(teacher.tokens, ear.costs)
    aligned = aligned_speech(taught, teacher.log_probabilities, tokens, between, teacher.tokens)
    aligned = dataclasses.replace(aligned, by_person=True)
    others, arrays = read_unlabelled(unlabelled), dict[str, Any]()
    for_micro = engine is ListeningEngine.MICROWAKEWORD
    features = as_features if for_micro else embedded(OwwFeatures(encoders / EMBEDDING_FILE))
    lessons = make_lessons(aligned, others, around, teacher, quick.tokens, features, windows, seed, tell)
    if for_micro:
        network = teach_micro(lessons, width=width, layers=layers, steps=steps, seed=seed, progress=tell)
        arrays = quantised(network, lessons).arrays()
    else:
        found = teach_embedded(lessons, width=width, layers=layers, steps=steps, seed=seed, progress=tell)
        arrays = {**found.arrays(), "tokens": np.array(lessons.tokens), "early": np.array(EARLY)}
    with replacing(out) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)
    _log.info("wrote %s", out)


if __name__ == "__main__":
    typer.run(main)
