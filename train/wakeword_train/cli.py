"""``wakeword train``: recordings and synthesised speech -> a calibrated model file."""

import dataclasses
import importlib.util
import logging
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wakeword.cli.console import note, progress
from wakeword.errors import ConfigError

if TYPE_CHECKING:
    from wakeword_train import DataFolders, TrainConfig
    from wakeword_train.loop import EpochReport


_SEEN_LOSS = 0.01
"""Below it, what the adversary does makes no difference to training."""


class _Device(StrEnum):
    CPU = "cpu"
    CUDA = "cuda"


def _folders(name: str, what: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(name, metavar="DIR", help=f"{what}; repeatable.")
    return option


def train(
    keyword: Annotated[str, typer.Option("--keyword", metavar="K", help="The wake word.")] = "",
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="Speech Commands: a folder for each word.")
    ] = None,
    positives: Annotated[list[Path] | None, _folders("--positives", "Recordings of the keyword")] = None,
    negatives: Annotated[list[Path] | None, _folders("--negatives", "Recordings of other words")] = None,
    near_negatives: Annotated[list[Path] | None, _folders("--near-negatives", "Words that sound like it")] = None,
    extend_negatives: Annotated[
        list[Path] | None,
        _folders("--extend-negatives", "False accepts saved by evaluate --save-errors, to be trained against"),
    ] = None,
    background: Annotated[list[Path] | None, _folders("--background", "Long recordings without it")] = None,
    noise: Annotated[list[Path] | None, _folders("--noise", "Sounds to mix in")] = None,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Settings (TOML).")] = None,
    method: Annotated[
        str | None, typer.Option("--method", metavar="M", help="drocc-lf, drocc-oe, bce, deepsad, drocc or drocc-rand.")
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="MODEL",
            help="Fine-tune a shipped keyword's model, or a file, on your own 5 to 20 recordings (--positives).",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Default: KEYWORD.onnx.")] = None,
    device: Annotated[_Device, typer.Option("--device")] = _Device.CPU,
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", help="Seed of everything random.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from an interrupted run's checkpoint.")] = False,
    download: Annotated[
        bool, typer.Option("--download", help="Fetch Speech Commands v0.02 into --data first.")
    ] = False,
    work: Annotated[Path, typer.Option("--work", metavar="DIR", help="For checkpoints and synthesised clips.")] = Path(
        "runs"
    ),
) -> None:
    """Train a model for a keyword, calibrate it, and write it to one file."""
    _require_training_packages()
    if base is not None:
        _refuse_with_base({"--data": data, "--method": method, "--resume": resume, "--download": download})
        keyword = keyword or _phrase_of(base)
    from wakeword_train import DataFolders
    from wakeword_train.data.download import download_speech_commands
    from wakeword_train.pipeline import returning_negatives, run_training

    settings = _settings(config, keyword=keyword, method=method, seed=seed)
    if download and data is None:
        raise typer.BadParameter("give --data, the folder to download into")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    name = settings.keyword.replace(" ", "_")
    returned = [returning_negatives(extend_negatives, work / name)] if extend_negatives else []
    folders = DataFolders(
        speech_commands=download_speech_commands(data) if download and data else data,
        positives=positives or (),
        negatives=negatives or (),
        near_negatives=[*(near_negatives or ()), *returned],
        background=background or (),
        noise=noise or (),
    )
    target = out or Path(f"{name}.onnx")
    if base is not None:
        print(_enrol(settings, base, folders, target, work=work / name))
        return
    with progress(f"train '{settings.keyword}' with {settings.method}", settings.schedule.epochs) as update:

        def show(epoch: "EpochReport") -> None:
            update(epoch.epoch)
            note(describe_epoch(epoch))

        result = run_training(
            settings,
            folders,
            target,
            work=work / name,
            device=device.value,
            resume=resume,
            progress=show,
            report=note,
        )
    print(result.path)


def _refuse_with_base(options: dict[str, object]) -> None:
    given = [name for name, value in options.items() if value]
    if given:
        raise typer.BadParameter(
            f"{' and '.join(given)} cannot be given with --from, which takes --positives (your own recordings), "
            "--negatives, --near-negatives, --background and --noise"
        )


def _phrase_of(base: str) -> str:
    from wakeword.model import read_model
    from wakeword_train.enrolment import base_model

    return read_model(base_model(base)).card.phrase


def _enrol(settings: "TrainConfig", base: str, folders: "DataFolders", out: Path, *, work: Path) -> Path:
    from wakeword_train.enrolment import base_model, run_enrolment

    with progress(f"fine-tune '{settings.keyword}'", 1.0) as update:
        return run_enrolment(settings, base_model(base), folders, out, work=work, progress=update, report=note)


def _require_training_packages() -> None:
    missing = [name for name in ("torch", "torchaudio", "onnx", "scipy") if importlib.util.find_spec(name) is None]
    if missing:
        raise ConfigError(f"training needs {', '.join(missing)}; install them: pip install 'wakeword[train]'")


def _settings(path: Path | None, *, keyword: str, method: str | None, seed: int | None) -> "TrainConfig":
    """The configuration file, or the defaults, with what the command line says on top."""
    from wakeword_train import TrainConfig, read_config

    settings = read_config(path) if path is not None else TrainConfig()
    settings = dataclasses.replace(
        settings,
        keyword=keyword or settings.keyword,
        method=settings.method if method is None else method,
        seed=settings.seed if seed is None else seed,
    )
    if not settings.keyword.strip():
        raise ConfigError("expected a keyword to train, got none; give one with --keyword or in the configuration")
    return settings


def describe_epoch(report: "EpochReport") -> str:
    """One line on an epoch: loss, validation recalls and the adversary's health."""
    recalls = ", ".join(f"{name} {value:.3f}" for name, value in report.recall.items())
    line = f"epoch {report.epoch} ({report.phase}): loss {report.loss:.4f}; recall {recalls}; {report.seconds:.0f} s"
    if report.health is None:
        return line
    health = report.health
    falls = health.loss_before > _SEEN_LOSS and health.loss_after < 0.9 * health.loss_before
    advice = " (it falls: lower step_size)" if falls else ""
    return (
        f"{line}; adversary {health.inside:.0%} pushed out, {health.outside:.0%} pulled in, "
        f"loss {health.loss_before:.3f} -> {health.loss_after:.3f}{advice}"
    )
