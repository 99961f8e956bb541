"""``python -m wakeword_experiments sweep``: trains words with several settings, and says which validates best."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wakeword.base.plugins import require
from wakeword.cli.job_options import JobOptions, ResumeOption
from wakeword.cli.option_class import command


@dataclass(frozen=True, kw_only=True)
class _SweepOptions:
    config: Annotated[Path, typer.Option("--config", metavar="FILE", help="Words, settings and seeds (TOML).")]
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="For the models, sweep.csv and sweep.png.")] = Path(
        "sweep"
    )
    jobs: JobOptions
    resume: ResumeOption = False


@command
def sweep(options: _SweepOptions) -> None:
    """Train words with several settings and seeds, and say which setting validates best.

    A process trains one network at a time. With --ray all machines must see the recordings and --out under the same names.
    """
    require("train", "wakeword_train", "torch", "torchaudio", "onnx", "scipy", "matplotlib")
    # Imported here so that --help works without torch, which an installation for listening does not have.
    from wakeword_experiments.sweep.sweep_run import run_sweep

    run_sweep(options.config, options.out, options.jobs, resume=options.resume)
