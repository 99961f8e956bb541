"""``python -m scripts.make_quick_phonemes``: makes ``quick.onnx``, the quick recogniser of phonemes that all words share.

The installed recogniser, ``phonemes.onnx``, hears clean speech, and a small network learns to say the same in noise and in
rooms, from the past alone::

    python -m scripts.make_quick_phonemes --speech FOLDER --speech FOLDER ... --noise FOLDER --rooms FOLDER --out quick.onnx

The folders are those of ``scripts.make_recogniser``, and so is who is left out. 45,000 windows and
7,600 steps take an hour and a quarter of one core. The same folders and seed give the same file on processors of one kind.
The quick recogniser of other languages has ``--foreign de=FOLDER ...`` in place of ``--speech``, and a teacher of its own,
``--recogniser``.
"""

import logging
from pathlib import Path
from typing import Annotated

import torch
import typer

from scripts.ear.distilling import lines_of_progress
from scripts.ear.ear_alignment import tokens_of
from scripts.ear.ear_lessons import aligned_speech, read_taught, taught_tokens
from scripts.ear.foreign_speech import own_sounds, plain_tokens, read_foreign
from scripts.ear.quick_network import quick_graph
from scripts.ear.quick_teaching import make_lessons, teach_quick
from scripts.make_recogniser import surroundings
from scripts.one_line_errors import one_line_errors
from wakeword.base.files import write_whole
from wakeword.model.installed import encoders_folder
from wakeword.verify.shared import PHONEMES_FILE, QUICK_FILE, file_digest, load_phonemes
from wakeword_tools.texts.recogniser import CONFUSIONS_FILE, token_costs

_log = logging.getLogger(__name__)


@one_line_errors()
def main(
    noise: Annotated[list[Path], typer.Option("--noise", help="Recordings of noise and music; repeatable.")],
    rooms: Annotated[list[Path], typer.Option("--rooms", help="Responses of measured rooms; repeatable.")],
    out: Annotated[Path, typer.Option("--out", help="The file to write (.onnx).")] = Path(QUICK_FILE),
    speech: Annotated[list[Path] | None, typer.Option("--speech", help="Transcribed English; repeatable.")] = None,
    foreign: Annotated[list[str] | None, typer.Option("--foreign", help="Another language's, as de=FOLDER.")] = None,
    recogniser: Annotated[Path | None, typer.Option("--recogniser", help="The folder of another teacher.")] = None,
    leave_out: Annotated[list[str] | None, typer.Option("--leave-out", help="A reader who is not taught.")] = None,
    windows: Annotated[int, typer.Option("--windows", min=10)] = 45_000,
    steps: Annotated[int, typer.Option("--steps", min=10)] = 7_600,
    width: Annotated[int, typer.Option("--width", min=8)] = 192,
    seed: Annotated[int, typer.Option("--seed", min=0)] = 0,
) -> None:
    """Teach the quick recogniser, and write its file."""
    torch.set_num_threads(1)
    tell = lines_of_progress()
    encoders = recogniser or encoders_folder()
    teacher = load_phonemes(encoders / PHONEMES_FILE, file_digest(encoders / PHONEMES_FILE))
    taught, _ = read_taught(speech or [], leave_out or [])
    of_languages, _ = read_foreign(foreign or [], leave_out or [])
    plain = plain_tokens(of_languages, teacher.tokens)
    taught += of_languages
    around = surroundings(noise, rooms, taught, seed)
    tokens, between = tokens_of(teacher.tokens, token_costs(encoders / CONFUSIONS_FILE))
    tokens = {**tokens, **own_sounds(plain)}
    lessons_of = taught_tokens(teacher.tokens) | plain if plain else None
    aligned = aligned_speech(taught, teacher.log_probabilities, tokens, between, teacher.tokens, lessons_of)
    lessons = make_lessons(aligned, around, teacher, windows, seed, tell)
    network = teach_quick(lessons, width=width, steps=steps, seed=seed, progress=tell)
    write_whole(out, quick_graph(network, lessons.tokens).SerializeToString(deterministic=True))
    _log.info("wrote %s", out)


if __name__ == "__main__":
    typer.run(main)
