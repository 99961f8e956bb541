"""The command of the experiment with words from their text."""

from pathlib import Path
from typing import Annotated

import typer

from wakeword_experiments.invocation import begin, command_line, report_progress


def typed(
    word: Annotated[list[str], typer.Option("--word", help="A keyword; repeatable.")],
    audio: Annotated[Path, typer.Option("--audio", help="The folder of recordings that WAKEWORD_DATA names.")],
    speech: Annotated[
        list[Path], typer.Option("--speech", help="Long recordings to count false accepts in; repeatable.")
    ],
    other: Annotated[list[Path] | None, typer.Option("--other", help="Music, noise; repeatable.")] = None,
    work: Annotated[Path, typer.Option("--work", help="For models.")] = Path("runs/typed"),
    figures: Annotated[Path, typer.Option("--figures", help="Earlier figures there are kept.")] = Path(
        "train/evidence/results/typed.json"
    ),
) -> None:
    """What `wakeword train WORD --now` finds of people, without training."""
    from wakeword_experiments.two_stages.typed_words import measure_typed

    begin(1)
    measure_typed(word, audio, speech, other or [], work, figures, command=command_line(), report=report_progress)
