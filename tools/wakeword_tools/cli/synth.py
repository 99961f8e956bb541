"""``wakeword synth``: clips of a keyword, or of texts that sound like it, in many voices."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wakeword.batch.jobs.processes import MAX_JOBS
from wakeword.cli.job_options import JobSettings, RayOption, ResumeOption
from wakeword.cli.ranges import MAX_SEED
from wakeword_tools.kinds import Split

_SHARES = {Split.TRAIN: 0.7, Split.VALIDATION: 0.15, Split.TEST: 0.15}
"""Shares of the clips and of the distinct texts, where voices of all splits speak."""


class _Voices(StrEnum):
    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"
    ALL = "all"

    @property
    def shares(self) -> dict[Split, float]:
        """The splits with voices that speak, and the share of the clips of each."""
        return {split: share for split, share in _SHARES.items() if self in (split, _Voices.ALL)}


_OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="A new folder for the clips and their manifest.")
]
_NearNegativesOption = Annotated[
    bool, typer.Option("--near-negatives/--positives", help="Texts that sound like the keyword, or the keyword.")
]
_CountOption = Annotated[int, typer.Option("--count", metavar="N", min=1, max=10_000_000, help="Number of clips.")]
_SeedOption = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, max=MAX_SEED, help="The same seed makes the same clips.")
]
_VoicesOption = Annotated[
    _Voices,
    typer.Option(
        "--voices",
        help="Split of voices and texts; use test, never trained on, to evaluate. all: 70, 15 and 15 %.",
    ),
]
_DistinctOption = Annotated[
    int, typer.Option("--distinct", metavar="N", min=1, max=1_000_000, help="Number of distinct near negatives.")
]
_MassOption = Annotated[
    str | None,
    typer.Option(
        "--mass", metavar="D:SHARE,...", help="Share of the texts at each distance. Default: 1:0.4,2:0.4,3:0.2."
    ),
]
_TextsOption = Annotated[
    Path | None, typer.Option("--texts", metavar="FILE", help="Your own near negatives instead, one a line.")
]
_AnySideOption = Annotated[
    bool, typer.Option("--any-side", help="Speak your texts even if they belong to another split.")
]
_EngineOption = Annotated[
    list[str] | None,
    typer.Option(
        "--engine",
        metavar="E",
        help="espeak-ng, flite, festival, piper:FOLDER, kokoro:FOLDER or command:FILE.toml; repeatable.",
    ),
]
_EngineCommandOption = Annotated[
    str | None,
    typer.Option("--engine-command", metavar="CMD", help="Any engine: 'mytts --voice {voice} --out {wav} {text}'."),
]
_EngineVoiceOption = Annotated[
    list[str] | None, typer.Option("--engine-voice", metavar="NAME", help="A voice of the command; repeatable.")
]
_CarrierOption = Annotated[
    list[str] | None,
    typer.Option("--carrier", metavar="TEXT", help="Words around the text: 'so {} it is'; repeatable."),
]
_JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        metavar="N",
        min=1,
        max=MAX_JOBS,
        help="Processes that speak. Default: the cores, one for each 500 clips.",
    ),
]


def synth(
    keyword: Annotated[str, typer.Argument(help="The wake word.")],
    out: _OutOption = None,
    near_negatives: _NearNegativesOption = False,
    count: _CountOption = 600,
    seed: _SeedOption = 0,
    voices: _VoicesOption = _Voices.TRAIN,
    distinct: _DistinctOption = 150,
    mass: _MassOption = None,
    texts: _TextsOption = None,
    any_side: _AnySideOption = False,
    engine: _EngineOption = None,
    engine_command: _EngineCommandOption = None,
    engine_voice: _EngineVoiceOption = None,
    carrier: _CarrierOption = None,
    list_texts: Annotated[bool, typer.Option("--list", help="Print the texts and make no clips.")] = False,
    jobs: _JobsOption = None,
    ray: RayOption = None,
    resume: ResumeOption = False,
) -> None:
    """Synthesise a keyword, or texts that sound like it, in many voices."""
    if texts is not None and not near_negatives:
        raise typer.BadParameter("--texts needs --near-negatives; positives are the keyword itself")
    # Imported here, so that --help does not wait for the engines.
    from wakeword_tools.cli.speakers import EngineSettings
    from wakeword_tools.cli.synth_work import SetSettings, synthesise_set
    from wakeword_tools.cli.texts import TextSettings

    synthesise_set(
        SetSettings(
            keyword,
            out,
            shares=voices.shares,
            count=count,
            seed=seed,
            carriers=carrier,
            lists=list_texts,
            jobs=JobSettings(jobs, ray, resume),
        ),
        TextSettings(distinct=distinct, mass=mass, path=texts, any_split=any_side) if near_negatives else None,
        EngineSettings(engine or (), command=engine_command, command_voices=engine_voice or ()),
    )
