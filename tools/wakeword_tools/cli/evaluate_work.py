"""The work of ``wakeword evaluate``: a model and recordings to tables, a report, and mistakes as audio."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from wakeword.audio.audio_listing import audio_files
from wakeword.base.files import require_absent
from wakeword.base.text import printable
from wakeword.cli.console import note
from wakeword.cli.tables import console
from wakeword.format.operating_point import OperatingPoint
from wakeword.model.installed import model_file
from wakeword_tools.cli.measure_options import EvaluateOptions
from wakeword_tools.cli.measure_tables import noise_table, operating_table, report_table
from wakeword_tools.cli.scoring import give_results, scoring
from wakeword_tools.measure.default_rates import DEFAULT_FA_PER_HOUR, DEFAULT_FPRS
from wakeword_tools.measure.intervals import hours_needed
from wakeword_tools.measure.latency import latency
from wakeword_tools.measure.mistakes import FALSE_ACCEPTS, MISSED, find_mistakes, save_mistakes
from wakeword_tools.measure.model_report import ModelReport, evaluate_model
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_tools.measure.rates import RateKind, Target
from wakeword_tools.measure.recordings import Scored
from wakeword_tools.measure.scores import ScoreSet
from wakeword_tools.measure.subject import Subject, look, read_subject


def evaluate(options: EvaluateOptions) -> None:
    """Measure a model, print the results, and write the report and the mistakes if requested.

    Raises ``typer.BadParameter`` for several models and ``ConfigError`` for targets out of their range, before any work;
    ``ModelError``, ``DataError`` and ``CalibrationError`` for files that cannot be read or used.
    """
    fprs, rates = options.targets.fpr or DEFAULT_FPRS, options.targets.fa_per_hour or [DEFAULT_FA_PER_HOUR]
    for kind, values in ((RateKind.FPR, fprs), (RateKind.FA_PER_HOUR, rates)):
        for value in values:
            Target(kind, value)
    file, *others = [*map(model_file, options.models.names), *options.models.files]
    if others:
        raise typer.BadParameter("expected one model, got several; `wakeword compare` says which of two finds more")
    label = next(iter(options.models.names), file.stem)
    model = read_subject(file) if options.verify else read_subject(file).stage_one()
    if options.save_errors is not None:
        # Before the work starts.
        require_absent(options.save_errors)
        model.card.point(options.point)
    noise = None
    if options.snr:
        sounds = [path for root in options.noise or () for path in audio_files(root)]
        noise = NoiseMixer(sounds, ratios=options.snr, least=look(model), seed=options.seed, warn=note)
    scored, *with_noise = scoring(options, [file], [model], verify=options.verify, noise=noise, delays=True)
    noisy = dict(zip((f"{snr:g}" for snr in options.snr or ()), with_noise, strict=True))
    report = report_on(model, scored, noisy, fprs=fprs, rates=rates)
    _warn_of_little_data(scored.sets[0], fprs, rates)
    warn_of_seen_recordings({label: model}, scored)
    content = {"model": label, **report.to_json()}
    give_results(options, content, lambda: _print(scored.description, label, report))
    if options.save_errors is not None:
        _save_mistakes(options.save_errors, model, scored, options.point)


def _warn_of_little_data(scores: ScoreSet, fprs: Sequence[float], rates: Sequence[float]) -> None:
    counts = [len(group) for group in scores.groups]
    # One clip of the smaller of two kinds is half of its share of the mean.
    clips = len(counts) * min(counts, default=0)
    if clips and clips * min(fprs) < 3:
        needed = -(-3 // (min(fprs) * len(counts)))
        sizes = " and ".join(map(str, counts))
        of_each = "" if len(counts) == 1 else " of each kind"
        note(f"warning: {sizes} negative clips show little of fpr={min(fprs):g}; give {needed:.0f} or more{of_each}")
    if scores.hours:
        warn_of_few_hours(scores.hours, min(rates))
    if scores.only_synthetic:
        note("warning: all positives are synthetic; for people recall can be lower")


def warn_of_few_hours(hours: float, rate: float) -> None:
    """Warn of fewer hours than show that a rate an hour is kept."""
    needed = hours_needed(rate)
    if hours < needed:
        note(
            f"warning: {hours:.2f} h of background leave fa_per_hour={rate:g} uncertain; "
            f"give {needed:.{0 if needed >= 1 else 1}f} h or more"
        )


def warn_of_seen_recordings(models: Mapping[str, Subject], scored: Scored) -> None:
    """Warn of thresholds that were chosen on the recordings that are measured."""
    for label, model in models.items():
        points = [point for point in model.card.operating_points if isinstance(point, OperatingPoint)]
        seen = [point.name for point in points if point.fingerprint == scored.fingerprint]
        if seen:
            note(
                f"warning: the thresholds of {', '.join(seen)} of {label} were chosen on exactly these recordings; "
                "the results here are too good, so evaluate on other recordings"
            )


def _print(description: str, label: str, report: ModelReport) -> None:
    screen = console()
    screen.print(printable(f"'{report.keyword}': {description}"), report_table(label, report), sep="\n")
    screen.print(
        *([operating_table(label, report)] if report.operating_points else []),
        *([noise_table(label, report)] if report.snr else []),
    )


def _save_mistakes(folder: Path, model: Subject, scored: Scored, point: str | None) -> None:
    chosen = model.card.point(point)
    mistakes = find_mistakes(model, scored, scored.sets[0], chosen.threshold)
    saved = save_mistakes(folder, mistakes)
    for sort in (FALSE_ACCEPTS, MISSED):
        kept, found = (sum(one.sort == sort for one in some) for some in (saved, mistakes))
        note(f"{folder / sort}: {kept} of {found} at {chosen.name}, the worst first")


def report_on(
    model: Subject, scored: Scored, noisy: Mapping[str, Scored], *, fprs: Sequence[float], rates: Sequence[float]
) -> ModelReport:
    """The report of a model.

    ``scored`` has the words for the delays; ``noisy`` the same clips with noise, by ratio of speech to noise in dB.
    """
    clean = scored.sets[0]
    # Background is scored once, without added noise.
    sets = [dataclasses.replace(noise.sets[0], streams=clean.streams, hours=clean.hours) for noise in noisy.values()]
    report, *of_noise = (
        evaluate_model(scores, model.card, fprs=fprs, rates=rates, fingerprint=scored.fingerprint)
        for scores in (clean, *sets)
    )
    points = {
        name: dataclasses.replace(point, latency=latency(model, scored.words[0], point.threshold))
        for name, point in report.operating_points.items()
    }
    return dataclasses.replace(report, snr=dict(zip(noisy, of_noise, strict=True)), operating_points=points)
