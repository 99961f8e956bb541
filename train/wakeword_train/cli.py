"""``wakeword train``: recordings and synthesised speech -> a calibrated model file."""

import importlib.util
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.ranges import MAX_SEED
from wakeword.errors import ConfigError


class _Device(StrEnum):
    CPU = "cpu"
    CUDA = "cuda"


def _folders(name: str, what: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(name, metavar="DIR", help=f"{what}; repeatable.")
    return option


_BASE = typer.Option(
    "--from",
    metavar="MODEL",
    help="Fine-tune a shipped keyword's model, or a file, on your own 5 to 20 recordings (--positives).",
)
_METHOD = typer.Option(
    "--method", metavar="M", help="drocc-lf, drocc-oe, bce, deepsad, drocc, drocc-rand, or a package's own."
)
_SAVED = _folders("--extend-negatives", "False accepts saved by evaluate --save-errors, to train against")
_SPEECH = typer.Option("--data", metavar="DIR", help="Speech Commands: a folder for each word.")
_WORK = typer.Option("--work", metavar="DIR", help="For checkpoints and synthesised clips.")


def train(
    keyword: Annotated[str, typer.Option("--keyword", metavar="K", help="The wake word.")] = "",
    data: Annotated[Path | None, _SPEECH] = None,
    positives: Annotated[list[Path] | None, _folders("--positives", "Recordings of the keyword")] = None,
    negatives: Annotated[list[Path] | None, _folders("--negatives", "Recordings of other words")] = None,
    near_negatives: Annotated[list[Path] | None, _folders("--near-negatives", "Words that sound like it")] = None,
    extend_negatives: Annotated[list[Path] | None, _SAVED] = None,
    background: Annotated[list[Path] | None, _folders("--background", "Long recordings without it")] = None,
    noise: Annotated[list[Path] | None, _folders("--noise", "Sounds to mix in")] = None,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Settings (TOML).")] = None,
    method: Annotated[str | None, _METHOD] = None,
    base: Annotated[str | None, _BASE] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Default: KEYWORD.onnx.")] = None,
    device: Annotated[_Device, typer.Option("--device")] = _Device.CPU,
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", min=0, max=MAX_SEED, help="Random seed.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue from an interrupted run's checkpoint.")] = False,
    download: Annotated[
        bool, typer.Option("--download", help="Fetch Speech Commands v0.02 into --data first.")
    ] = False,
    work: Annotated[Path, _WORK] = Path("runs"),
) -> None:
    """Train a model for a keyword, calibrate it, and write it to one file."""
    _require_training_packages()
    # Imported here so that --help works without torch, which an installation for listening does not have.
    from wakeword_train.command import TrainOptions, run_command

    options = TrainOptions(
        keyword=keyword,
        data=data,
        positives=positives or (),
        negatives=negatives or (),
        near_negatives=near_negatives or (),
        extend_negatives=extend_negatives or (),
        background=background or (),
        noise=noise or (),
        config=config,
        method=method,
        base=base,
        out=out,
        device=device.value,
        seed=seed,
        resume=resume,
        download=download,
        work=work,
    )
    print(run_command(options))


def _require_training_packages() -> None:
    missing = [name for name in ("torch", "torchaudio", "onnx", "scipy") if importlib.util.find_spec(name) is None]
    if missing:
        raise ConfigError(
            f"training needs {', '.join(missing)}; install torch first, in the build for your machine, then: "
            "pip install 'wakeword[train]'"
        )
