"""The work of ``wakeword train``: settings and folders from the options, the run, its progress on stderr."""

import dataclasses
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from wakeword.cli.console import note, progress
from wakeword.model import read_model
from wakeword_train.config import TrainConfig, read_config
from wakeword_train.data.download import download_speech_commands
from wakeword_train.enrolment import base_model, enrol_model
from wakeword_train.loop import EpochReport
from wakeword_train.pipeline import returning_negatives, train_model
from wakeword_train.placement import file_stem
from wakeword_train.training import DataFolders, check_keyword

_SEEN_LOSS = 0.01
"""Loss below which the adversary makes no difference to training."""


@dataclass(frozen=True)
class TrainOptions:
    """The options of the command as given; see ``cli.train``."""

    keyword: str
    data: Path | None
    positives: Sequence[Path]
    negatives: Sequence[Path]
    near_negatives: Sequence[Path]
    extend_negatives: Sequence[Path]
    background: Sequence[Path]
    noise: Sequence[Path]
    config: Path | None
    method: str | None
    base: str | None
    out: Path | None
    device: str
    seed: int | None
    resume: bool
    download: bool
    work: Path


def run_command(options: TrainOptions) -> Path:
    """Train, or fine-tune with ``--from``, and return the model's file.

    Raises ``typer.BadParameter`` for options that cannot be combined, and as ``train_model`` and ``enrol_model`` do.
    """
    if options.base is not None:
        _refuse_with_base(options)
    settings = _settings(options)
    if options.download and options.data is None:
        raise typer.BadParameter("give --data, the folder to download into")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    out = options.out or Path(f"{file_stem(settings.keyword)}.onnx")
    folders = _folders(options, settings)
    if options.base is not None:
        with progress(f"fine-tune '{settings.keyword}'", 1.0) as update:
            return enrol_model(
                settings, options.base, folders, out, work=options.work, progress=update, report=note
            ).path
    with progress(f"train '{settings.keyword}' with {settings.method}", settings.schedule.epochs) as update:

        def show(epoch: EpochReport) -> None:
            update(epoch.epoch)
            note(describe_epoch(epoch))

        return train_model(
            settings,
            folders,
            out,
            work=options.work,
            device=options.device,
            resume=options.resume,
            progress=show,
            report=note,
        ).path


def _refuse_with_base(options: TrainOptions) -> None:
    values = {
        "--data": options.data,
        "--method": options.method,
        "--resume": options.resume,
        "--download": options.download,
    }
    given = [name for name, value in values.items() if value]
    if given:
        raise typer.BadParameter(
            f"{' and '.join(given)} cannot be given with --from, which takes --positives (your own recordings), "
            "--negatives, --near-negatives, --background and --noise"
        )


def _settings(options: TrainOptions) -> TrainConfig:
    """The configuration file or the defaults, overridden by the command line."""
    keyword = options.keyword
    if options.base is not None and not keyword:
        keyword = read_model(base_model(options.base)).card.phrase
    settings = read_config(options.config) if options.config is not None else TrainConfig()
    settings = dataclasses.replace(
        settings,
        keyword=keyword or settings.keyword,
        method=settings.method if options.method is None else options.method,
        seed=settings.seed if options.seed is None else options.seed,
    )
    check_keyword(settings)
    return settings


def _folders(options: TrainOptions, settings: TrainConfig) -> DataFolders:
    """The folders of recordings, with Speech Commands downloaded and false accepts listed as near negatives."""
    data, returned = options.data, []
    if options.extend_negatives:
        returned.append(returning_negatives(options.extend_negatives, options.work / file_stem(settings.keyword)))
    if options.download and data is not None:
        data = download_speech_commands(data)
    return DataFolders(
        speech_commands=data,
        positives=options.positives,
        negatives=options.negatives,
        near_negatives=[*options.near_negatives, *returned],
        background=options.background,
        noise=options.noise,
    )


def describe_epoch(report: EpochReport) -> str:
    """One line about an epoch: loss, validation recalls and the adversary's health."""
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
