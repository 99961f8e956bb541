"""The options of ``wakeword synth``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.job_options import ResumeOption, jobs_option
from wakeword.cli.ranges import MAX_SEED
from wakeword_tools.kinds import Split


@dataclass(frozen=True, kw_only=True)
class SynthOptions:
    """Synthesise a keyword, or texts that sound like it, in many voices."""

    keyword: Annotated[str, typer.Argument(help="The wake word.")]
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="A new folder for the clips and their manifest.")
    ] = None
    near_negatives: Annotated[
        bool, typer.Option("--near-negatives/--positives", help="Texts that sound like the keyword, or the keyword.")
    ] = False
    count: Annotated[int, typer.Option("--count", metavar="N", min=1, max=10_000_000, help="Number of clips.")] = 600
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, max=MAX_SEED, help="The same seed makes the same clips.")
    ] = 0
    voices: Annotated[
        Split, typer.Option("--voices", help="Split of voices and texts; use test, never trained on, to evaluate.")
    ] = Split.TRAIN
    distinct: Annotated[
        int, typer.Option("--distinct", metavar="N", min=1, max=1_000_000, help="Number of distinct near negatives.")
    ] = 150
    texts: Annotated[
        Path | None, typer.Option("--texts", metavar="FILE", help="Your own near negatives instead, one a line.")
    ] = None
    any_side: Annotated[
        bool, typer.Option("--any-side", help="Speak your texts even if they belong to another split.")
    ] = False
    engine: Annotated[
        list[str] | None,
        typer.Option(
            "--engine",
            metavar="E",
            help="espeak-ng, kokoro, learners or command:FILE.toml; repeatable. Default: espeak-ng.",
        ),
    ] = None
    list_texts: Annotated[bool, typer.Option("--list", help="Print the texts and make no clips.")] = False
    jobs: Annotated[int | None, jobs_option("Processes that speak. Default: the cores, one for each 500 clips.")] = None
    resume: ResumeOption = False

    def __post_init__(self) -> None:
        if self.texts is not None and not self.near_negatives:
            raise typer.BadParameter("--texts needs --near-negatives; positives are the keyword itself")
        if self.out is None and not self.list_texts:
            raise typer.BadParameter("give --out, the folder to make, or --list")
