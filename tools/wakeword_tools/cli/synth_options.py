"""The options of ``wakeword synth``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.job_options import ResumeOption, jobs_option
from wakeword.cli.ranges import MAX_SEED, number_option, option
from wakeword_tools.kinds import Split


@dataclass(frozen=True, kw_only=True)
class SynthOptions:
    """Synthesise a keyword, or texts that sound like it, in many voices."""

    keyword: Annotated[str, typer.Argument(help="The wake word.")]
    out: Annotated[Path | None, option("--out", "A new folder for the clips and their manifest.", "DIR")] = None
    near_negatives: Annotated[
        bool, option("--near-negatives/--positives", "Texts that sound like the keyword, or the keyword.")
    ] = False
    count: Annotated[int, number_option("--count", "N", 1, 10_000_000, "Number of clips.")] = 600
    seed: Annotated[int, number_option("--seed", "N", 0, MAX_SEED, "The same seed makes the same clips.")] = 0
    voices: Annotated[
        Split, option("--voices", "Split of voices and texts; use test, never trained on, to evaluate.")
    ] = Split.TRAIN
    distinct: Annotated[int, number_option("--distinct", "N", 1, 1_000_000, "Number of distinct near negatives.")] = 150
    texts: Annotated[Path | None, option("--texts", "Your own near negatives instead, one a line.", "FILE")] = None
    any_side: Annotated[bool, option("--any-side", "Speak your texts even if they belong to another split.")] = False
    engine: Annotated[
        list[str] | None,
        option("--engine", "espeak-ng, kokoro, learners or command:FILE.toml; repeatable. Default: espeak-ng.", "E"),
    ] = None
    list_texts: Annotated[bool, option("--list", "Print the texts and make no clips.")] = False
    jobs: Annotated[int | None, jobs_option("Processes that speak. Default: the cores, one for each 500 clips.")] = None
    resume: ResumeOption = False

    def __post_init__(self) -> None:
        if self.texts is not None and not self.near_negatives:
            raise typer.BadParameter("--texts needs --near-negatives; positives are the keyword itself")
        if self.out is None and not self.list_texts:
            raise typer.BadParameter("give --out, the folder to make, or --list")
