"""``python -m wakeword_experiments sweep``: trains words with several settings, and says which validates best."""

from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.job_options import JobSettings, JobsOption, RayOption, ResumeOption
from wakeword_train.cli import require_training_packages


def sweep(
    config: Annotated[Path, typer.Option("--config", metavar="FILE", help="Words, settings and seeds (TOML).")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="For the models, sweep.csv and sweep.png.")] = Path(
        "sweep"
    ),
    jobs: JobsOption = None,
    ray: RayOption = None,
    resume: ResumeOption = False,
) -> None:
    """Train words with several settings and seeds, and say which setting validates best.

    A process trains one network at a time. With --ray all machines must see the recordings and --out under the same names.
    """
    require_training_packages("matplotlib")
    # Imported here so that --help works without torch, which an installation for listening does not have.
    from wakeword_experiments.sweep.sweep_run import run_sweep

    run_sweep(config, out, JobSettings(jobs, ray, resume))
