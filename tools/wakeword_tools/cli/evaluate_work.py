"""The work of ``wakeword evaluate``: models and recordings to tables, a report, a figure, and mistakes as audio."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import typer

from wakeword.audio.sources import audio_files
from wakeword.base.errors import ConfigError
from wakeword.base.files import require_absent, write_json
from wakeword.base.text import printable
from wakeword.cli.console import note
from wakeword.cli.job_options import JobSettings
from wakeword.cli.tables import console
from wakeword.model.installed import model_file
from wakeword.model.model import Model, load_model, read_model, read_model_bytes
from wakeword_tools.cli.measure_tables import noise_table, operating_table, report_table
from wakeword_tools.cli.reports import differences_to_first, report_json, reports_on
from wakeword_tools.cli.scoring import Loaded, Places, Sharing, scoring
from wakeword_tools.measure.intervals import hours_needed
from wakeword_tools.measure.mistakes import FALSE_ACCEPTS, MISSED, find_mistakes, save_mistakes
from wakeword_tools.measure.model_difference import Difference
from wakeword_tools.measure.model_report import ModelReport
from wakeword_tools.measure.noise import NoiseSettings
from wakeword_tools.measure.plots import draw
from wakeword_tools.measure.rates import DEFAULT_FA_PER_HOUR, DEFAULT_FPRS, RateKind, Target
from wakeword_tools.measure.recordings import Scored
from wakeword_tools.measure.scores import ScoreSet


@dataclass(frozen=True)
class EvaluationSettings:
    """The models, the recordings and the outputs of an evaluation.

    Raises ``ConfigError`` for a target out of its range, ``typer.BadParameter`` for options that need each other.
    """

    keywords: Sequence[str]
    models: Sequence[Path]
    places: Places
    fprs: Sequence[float]
    """Target false positive rates. Empty: ``DEFAULT_FPRS``."""
    rates: Sequence[float]
    """Target false accepts an hour. Empty: ``DEFAULT_FA_PER_HOUR``."""
    snrs: Sequence[float]
    """Ratios of speech to noise in dB at which noise is mixed into the clips."""
    noise: Sequence[Path]
    save_errors: Path | None
    """A new folder for the worst mistakes."""
    point: str | None
    """Name of the operating point; its mistakes are saved. ``None``: the model's default."""
    verify: bool
    """Whether models of two stages use the second one."""
    seed: int
    plot: Path | None
    report: Path | None
    as_json: bool = False
    """Whether JSON is printed, and not tables."""
    jobs: JobSettings = field(default_factory=JobSettings)

    def __post_init__(self) -> None:
        for fpr in self.fpr_targets:
            Target(RateKind.FPR, fpr)
        for rate in self.rate_targets:
            Target(RateKind.FA_PER_HOUR, rate)
        if bool(self.snrs) != bool(self.noise):
            raise typer.BadParameter("give --snr and --noise together")
        if not self.keywords and not self.models:
            raise typer.BadParameter("give --model FILE or --keyword K")

    @property
    def fpr_targets(self) -> Sequence[float]:
        """False positive rates, as given or by default."""
        return self.fprs or DEFAULT_FPRS

    @property
    def rate_targets(self) -> Sequence[float]:
        """False accepts an hour, as given or by default."""
        return self.rates or DEFAULT_FA_PER_HOUR


def evaluate_models(settings: EvaluationSettings) -> None:
    """Measure the models, print the results, and write the report, the figure and the mistakes if requested.

    Raises ``typer.BadParameter`` and ``ConfigError`` for models that cannot be evaluated together, before any work;
    ``ModelError``, ``DataError`` and ``CalibrationError`` for files that cannot be read or used.
    """
    sharing = Sharing(settings.jobs, settings.report)
    models = load_comparable(settings.keywords, settings.models, verify=settings.verify)
    if settings.save_errors is not None:
        _check_mistakes_can_be_saved(settings.save_errors, models, settings.point)
    chosen = settings.places.find(next(iter(models.values())).card.phrase)
    files = [*map(model_file, settings.keywords), *settings.models]
    loaded = Loaded(list(models.values()), list(map(read_model_bytes, files)), settings.verify)
    noise = _noise(settings, loaded.models)
    with scoring(loaded, chosen, sharing, noise=noise, delays=True) as (scored, *with_noise):
        _evaluate(settings, models, scored, with_noise)


def _evaluate(
    settings: EvaluationSettings, models: Mapping[str, Model], scored: Scored, with_noise: Sequence[Scored]
) -> None:
    noisy = dict(zip((f"{ratio:g}" for ratio in settings.snrs), with_noise, strict=True))
    fprs, rates = settings.fpr_targets, settings.rate_targets
    reports = reports_on(models, scored, noisy, fprs=fprs, rates=rates)
    _warn_of_little_data(scored.sets[0], fprs, rates)
    warn_of_seen_recordings(models, scored)
    sets = dict(zip(models, scored.sets, strict=True))
    differences = differences_to_first(sets, fprs=fprs, rates=rates, seed=settings.seed)
    content = report_json(reports, differences)
    if settings.as_json:
        print(json.dumps(content, indent=1, allow_nan=False))
    else:
        _print(scored.description, reports, differences)
    if settings.report is not None:
        write_json(settings.report, content)
    if settings.save_errors is not None:
        _save_mistakes(settings.save_errors, next(iter(models.values())), scored, settings.point)
    if settings.plot is not None:
        _plot(settings.plot, models, scored)


def load_comparable(keywords: Sequence[str], paths: Sequence[Path], *, verify: bool) -> dict[str, Model]:
    """The models, each with a unique label; unless ``verify``, the first stage of each alone.

    Raises ``ConfigError`` unless they are of one word.
    """
    models = {name: load_model(name) for name in keywords}
    stems = [path.stem for path in paths]
    for path in paths:
        is_unique = stems.count(path.stem) == 1 and path.stem not in models
        models[path.stem if is_unique else str(path)] = read_model(path)
    words = {model.card.phrase.casefold() for model in models.values()}
    if len(words) > 1:
        raise ConfigError(f"expected models of one word, to compare on the same recordings, got {sorted(words)}")
    return models if verify else {label: model.stage_one() for label, model in models.items()}


def _noise(settings: EvaluationSettings, models: Sequence[Model]) -> NoiseSettings | None:
    if not settings.snrs:
        return None
    files = [path for root in settings.noise for path in audio_files(root)]
    least = max(model.card.features.samples_in(model.card.window) for model in models)
    return NoiseSettings(settings.snrs, files, settings.seed, least)


def _check_mistakes_can_be_saved(folder: Path, models: Mapping[str, Model], point: str | None) -> None:
    """Raise the errors of saving before the work starts."""
    if len(models) > 1:
        raise typer.BadParameter("--save-errors works with one model only; give one")
    require_absent(folder)
    next(iter(models.values())).card.point(point)


def _warn_of_little_data(scores: ScoreSet, fprs: Sequence[float], rates: Sequence[float]) -> None:
    counts = [len(group) for group in scores.groups]
    # One clip of the smaller of two kinds is half of its share of the mean.
    clips = len(counts) * min(counts, default=0)
    if clips and clips * min(fprs) < 3:
        needed = -(-3 // (min(fprs) * len(counts)))
        given = " and ".join(map(str, counts))
        of_each = "" if len(counts) == 1 else " of each kind"
        note(f"warning: {given} negative clips show little of fpr={min(fprs):g}; give {needed:.0f} or more{of_each}")
    if scores.hours and scores.hours < hours_needed(min(rates)):
        note(
            f"warning: {scores.hours:.2f} h of background leave fa_per_hour={min(rates):g} uncertain; "
            f"give {hours_needed(min(rates)):.0f} h or more"
        )
    if scores.only_synthetic:
        note("warning: all positives are synthetic; for people recall can be lower")


def warn_of_seen_recordings(models: Mapping[str, Model], scored: Scored) -> None:
    """Warn of thresholds that were chosen on the recordings that are measured."""
    for label, model in models.items():
        seen = [point.name for point in model.card.operating_points if point.fingerprint == scored.fingerprint]
        if seen:
            note(
                f"warning: the thresholds of {', '.join(seen)} of {label} were chosen on exactly these recordings; "
                "the results here are too good, so evaluate on other recordings"
            )


def _print(
    description: str, reports: Mapping[str, ModelReport], differences: Mapping[str, Sequence[Difference]]
) -> None:
    screen = console()
    keyword = next(iter(reports.values())).keyword
    screen.print(printable(f"'{keyword}': {description}"), report_table(reports, differences), sep="\n")
    for label, report in reports.items():
        screen.print(
            *([operating_table(label, report)] if report.operating_points else []),
            *([noise_table(label, report)] if report.snr else []),
        )


def _save_mistakes(folder: Path, model: Model, scored: Scored, point: str | None) -> None:
    chosen = model.card.point(point)
    mistakes = find_mistakes(model, scored, scored.sets[0], chosen.threshold)
    saved = save_mistakes(folder, mistakes, scored)
    for sort in (FALSE_ACCEPTS, MISSED):
        kept, found = (sum(one.sort == sort for one in some) for some in (saved, mistakes))
        note(f"{folder / sort}: {kept} of {found} at {chosen.name}, the worst first")


def _plot(path: Path, models: Mapping[str, Model], scored: Scored) -> None:
    labels = list(models) if len(models) > 1 else [""]
    card = next(iter(models.values())).card
    points = {point.name: point.threshold for point in card.operating_points}
    title = f"'{card.phrase}': {scored.description}"
    draw(path, dict(zip(labels, scored.sets, strict=True)), thresholds=points, title=title)
