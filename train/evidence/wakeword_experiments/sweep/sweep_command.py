"""``python -m wakeword_experiments sweep``: trains words with several settings, and says which validates best."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from wakeword.base.plugins import require
from wakeword.cli.job_options import JobOptions, ResumeOption
from wakeword.cli.option_class import command
from wakeword.cli.ranges import option


@dataclass(frozen=True, kw_only=True)
class _SweepOptions:
    config: Annotated[Path, option("--config", "Words, settings and seeds (TOML).", "FILE")]
    out: Annotated[Path, option("--out", "For the models, sweep.csv and sweep.png.", "DIR")] = Path("sweep")
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
