"""``python -m scripts.make_student``: the clips of an included word's training -> the student that it is exported with.

With the folders that ``assets/configs/people.toml`` names, but for the speech, of which a part is left to judge by::

    python -m scripts.make_student jarvis --data $WAKEWORD_DATA/speech_commands --positives VOICES/jarvis \\
        --positives CLIPS/said-jarvis --positives CLIPS/said-jarvis-kokoro --negatives VOICES/alexa \\
        --negatives VOICES/computer --negatives CLIPS/other --near-negatives CLIPS/close-jarvis \\
        --near-negatives CLIPS/close-jarvis-kokoro --background $WAKEWORD_DATA/long_speech \\
        --noise $WAKEWORD_DATA/noise --noise $WAKEWORD_DATA/noise_house --work runs

It takes some 10 minutes of a processor.
"""

import logging
from pathlib import Path
from typing import Annotated

import typer

from wakeword.model.installed import assets_folder
from wakeword.model.model import load_model
from wakeword_tools.export.exporter import run_folder
from wakeword_tools.export.micro_files import students_folder, write_student
from wakeword_train.config import read_config
from wakeword_train.student.teaching import teach_student
from wakeword_train.training import gather_clips
from wakeword_train.training_run import DataFolders

_Folders = Annotated[list[Path], typer.Option(help="Repeatable.")]


def main(
    word: Annotated[str, typer.Argument(help="An included word.")],
    positives: _Folders,
    negatives: _Folders,
    near_negatives: _Folders,
    background: _Folders,
    noise: _Folders,
    data: Annotated[Path, typer.Option("--data", help="Speech Commands.")],
    work: Annotated[Path, typer.Option("--work", help="Folder of the run.")] = Path("runs"),
) -> None:
    """Teach the student of WORD and write it into the assets."""
    logging.basicConfig(format="%(message)s", level=logging.INFO)
    config = read_config(assets_folder() / "configs" / f"{word}.toml")
    folders = DataFolders(
        speech_commands=data,
        positives=positives,
        negatives=negatives,
        near_negatives=near_negatives,
        background=background,
        noise=noise,
    )
    clips = gather_clips(config, folders)
    student = teach_student(config, clips, load_model(word), run_folder(work, word), report=logging.info)
    students_folder().mkdir(exist_ok=True)
    write_student(students_folder() / f"{word}.npz", student)
    for line in student.lines:
        logging.info(line)


if __name__ == "__main__":
    typer.run(main)
