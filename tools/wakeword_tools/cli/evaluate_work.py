"""The work of ``wakeword evaluate``: models and recordings to tables, a report, a figure, and mistakes as audio."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from wakeword.audio.audio_folders import audio_files
from wakeword.base.files import require_absent
from wakeword.base.text import printable
from wakeword.cli.console import note
from wakeword.cli.tables import console
from wakeword.format.operating_point import OperatingPoint
from wakeword.model.installed import model_file
from wakeword_tools.cli.measure_options import EvaluateOptions
from wakeword_tools.cli.measure_tables import noise_table, operating_table, report_table
from wakeword_tools.cli.scoring import give_results, scoring
from wakeword_tools.measure.intervals import hours_needed
from wakeword_tools.measure.latency import latency
from wakeword_tools.measure.mistakes import FALSE_ACCEPTS, MISSED, find_mistakes, save_mistakes
from wakeword_tools.measure.model_report import ModelReport, evaluate_model
from wakeword_tools.measure.noise import NoiseSettings
from wakeword_tools.measure.rates import DEFAULT_FA_PER_HOUR, DEFAULT_FPRS, RateKind, Target
from wakeword_tools.measure.recordings import Scored
from wakeword_tools.measure.scores import ScoreSet
from wakeword_tools.measure.subject import Subject, look, one_word, read_subject, subject_data


def evaluate_models(options: EvaluateOptions) -> None:
    """Measure the models, print the results, and write the report and the mistakes if requested.

    Raises ``typer.BadParameter`` and ``ConfigError`` for targets out of their range and models that cannot be evaluated
    together, before any work; ``ModelError``, ``DataError`` and ``CalibrationError`` for files that cannot be read or used.
    """
    fprs, rates = options.targets.fpr or DEFAULT_FPRS, options.targets.fa_per_hour or DEFAULT_FA_PER_HOUR
    for kind, values in ((RateKind.FPR, fprs), (RateKind.FA_PER_HOUR, rates)):
        for value in values:
            Target(kind, value)
    models = _load_comparable(options)
    if options.save_errors is not None:
        # Before the work starts.
        if len(models) > 1:
            raise typer.BadParameter("--save-errors works with one model only; give one")
        require_absent(options.save_errors)
        next(iter(models.values())).card.point(options.point)
    loaded, files = list(models.values()), [*map(model_file, options.models.names), *options.models.files]
    data = [subject_data(file, model) for file, model in zip(files, loaded, strict=True)]
    noise = _noise(options, loaded)
    with scoring(options, loaded, data=data, verify=options.verify, noise=noise, delays=True) as (scored, *with_noise):
        noisy = dict(zip((f"{ratio:g}" for ratio in options.snr or ()), with_noise, strict=True))
        reports = reports_on(models, scored, noisy, fprs=fprs, rates=rates)
        _warn_of_little_data(scored.sets[0], fprs, rates)
        warn_of_seen_recordings(models, scored)
        contents = [{"model": label, **report.to_json()} for label, report in reports.items()]
        content = contents[0] if len(contents) == 1 else {"models": contents}
        give_results(options, content, lambda: _print(scored.description, reports))
        if options.save_errors is not None:
            _save_mistakes(options.save_errors, next(iter(models.values())), scored, options.point)


def _load_comparable(options: EvaluateOptions) -> dict[str, Subject]:
    """The models, each with a unique label. Raises ``ConfigError`` unless they are of one word."""
    models = {name: read_subject(model_file(name)) for name in options.models.names}
    stems = [path.stem for path in options.models.files]
    for path in options.models.files:
        is_unique = stems.count(path.stem) == 1 and path.stem not in models
        models[path.stem if is_unique else str(path)] = read_subject(path)
    one_word(list(models.values()))
    return models if options.verify else {label: model.stage_one() for label, model in models.items()}


def _noise(options: EvaluateOptions, models: Sequence[Subject]) -> NoiseSettings | None:
    if not options.snr:
        return None
    files = [path for root in options.noise or () for path in audio_files(root)]
    least = max(map(look, models))
    return NoiseSettings(options.snr, files, options.seed, least)


def _warn_of_little_data(scores: ScoreSet, fprs: Sequence[float], rates: Sequence[float]) -> None:
    counts = [len(group) for group in scores.groups]
    # One clip of the smaller of two kinds is half of its share of the mean.
    clips = len(counts) * min(counts, default=0)
    if clips and clips * min(fprs) < 3:
        needed = -(-3 // (min(fprs) * len(counts)))
        given = " and ".join(map(str, counts))
        of_each = "" if len(counts) == 1 else " of each kind"
        note(f"warning: {given} negative clips show little of fpr={min(fprs):g}; give {needed:.0f} or more{of_each}")
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


def _print(description: str, reports: Mapping[str, ModelReport]) -> None:
    screen = console()
    keyword = next(iter(reports.values())).keyword
    screen.print(printable(f"'{keyword}': {description}"), report_table(reports), sep="\n")
    for label, report in reports.items():
        screen.print(
            *([operating_table(label, report)] if report.operating_points else []),
            *([noise_table(label, report)] if report.snr else []),
        )


def _save_mistakes(folder: Path, model: Subject, scored: Scored, point: str | None) -> None:
    chosen = model.card.point(point)
    mistakes = find_mistakes(model, scored, scored.sets[0], chosen.threshold)
    saved = save_mistakes(folder, mistakes, scored)
    for sort in (FALSE_ACCEPTS, MISSED):
        kept, found = (sum(one.sort == sort for one in some) for some in (saved, mistakes))
        note(f"{folder / sort}: {kept} of {found} at {chosen.name}, the worst first")


def reports_on(
    models: Mapping[str, Subject],
    scored: Scored,
    noisy: Mapping[str, Scored],
    *,
    fprs: Sequence[float],
    rates: Sequence[float],
) -> dict[str, ModelReport]:
    """Label -> report of each model.

    ``scored`` has the words for the delays; ``noisy`` the same clips with noise, by ratio of speech to noise in dB.
    """
    reports = {}
    for index, (label, model) in enumerate(models.items()):
        clean = scored.sets[index]
        # Background is scored once, without added noise.
        sets = {
            ratio: dataclasses.replace(some.sets[index], streams=clean.streams, hours=clean.hours)
            for ratio, some in noisy.items()
        }
        report, *of_noise = (
            evaluate_model(scores, model.card, fprs=fprs, rates=rates, fingerprint=scored.fingerprint)
            for scores in (clean, *sets.values())
        )
        points = {
            name: dataclasses.replace(point, latency=latency(model, scored.words[index], point.threshold))
            for name, point in report.operating_points.items()
        }
        snr = dict(zip(sets, of_noise, strict=True))
        reports[label] = dataclasses.replace(report, snr=snr, operating_points=points)
    return reports
