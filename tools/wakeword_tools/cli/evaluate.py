"""``wakeword evaluate``: how well models find their word, and what they take for it."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wakeword.cli.console import note, progress
from wakeword.cli.options import KeywordOption, ModelOption
from wakeword.errors import ConfigError
from wakeword.files import require_absent
from wakeword_tools.cli.options import (
    BackgroundOption,
    FprOption,
    NearNegativesOption,
    NegativesOption,
    PlotOption,
    PositivesOption,
    RateOption,
    ReportOption,
    find_recordings,
    require,
    score,
    write_json,
)

if TYPE_CHECKING:
    from wakeword.model import Model
    from wakeword_tools.measure.compare import Difference
    from wakeword_tools.measure.evaluate import Report
    from wakeword_tools.measure.recordings import Files, Scored
    from wakeword_tools.measure.scores import ScoreSet


def evaluate(
    positives: PositivesOption,
    keyword: KeywordOption = None,
    model: ModelOption = None,
    negatives: NegativesOption = None,
    near_negatives: NearNegativesOption = None,
    background: BackgroundOption = None,
    fpr: FprOption = None,
    fa_per_hour: RateOption = None,
    snr: Annotated[
        list[float] | None,
        typer.Option("--snr", metavar="DB", help="Again with noise mixed into the clips, so far under the word."),
    ] = None,
    noise: Annotated[
        list[Path] | None, typer.Option("--noise", metavar="DIR", help="Recordings of noise for --snr; repeatable.")
    ] = None,
    save_errors: Annotated[
        Path | None,
        typer.Option("--save-errors", metavar="DIR", help="Save the worst mistakes as audio in this new folder."),
    ] = None,
    point: Annotated[
        str | None,
        typer.Option(
            "--point", metavar="NAME", help="What counts as a mistake for --save-errors. Default: the model's."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the noise and of the bootstrap.")] = 0,
    plot: PlotOption = None,
    report: ReportOption = None,
) -> None:
    """Measure recall, false positives, false accepts an hour and delay on recordings.

    Several models of one word are compared on the same recordings: a difference is marked with * when its 95 %
    interval (paired bootstrap) leaves out zero.
    """
    require("scipy", *(["matplotlib"] if plot else []))
    from wakeword_tools.cli.tables import console, noise_table, operating_table, report_table
    from wakeword_tools.measure.rates import DEFAULT_FA_PER_HOUR, DEFAULT_FPRS, RateKind, Target

    fprs = [Target(RateKind.FPR, value).value for value in fpr or DEFAULT_FPRS]
    rates = [Target(RateKind.FA_PER_HOUR, value).value for value in fa_per_hour or DEFAULT_FA_PER_HOUR]
    if bool(snr) != bool(noise):
        raise typer.BadParameter("give --snr and --noise together")
    models = _load(keyword, model)
    if save_errors is not None:
        if len(models) > 1:
            raise typer.BadParameter("--save-errors is for one model; give one")
        require_absent(save_errors)
        # Before the work, not after it.
        next(iter(models.values())).card.point(point)
    files = find_recordings(positives, negatives, near_negatives, background)
    scored = score("scoring", list(models.values()), files)
    noisy = _with_noise(models, files, snr or (), noise or (), seed)
    reports = _reports(models, scored, noisy, fprs, rates)
    _warn_of_little_data(scored.sets[0], fprs, rates)
    _warn_of_seen_recordings(models, scored)
    differences = _differences(dict(zip(models, scored.sets, strict=True)), fprs, rates, seed)
    screen = console()
    screen.print(
        f"'{next(iter(reports.values())).keyword}': {scored.description}", report_table(reports, differences), sep="\n"
    )
    for label, one in reports.items():
        screen.print(
            *([operating_table(label, one)] if one.operating_points else []),
            *([noise_table(label, one)] if snr else []),
        )
    if report is not None:
        write_json(report, _as_json(reports, differences))
    if save_errors is not None:
        _save_errors(save_errors, next(iter(models.values())), scored, point)
    if plot is not None:
        _plot(plot, models, scored)


def _load(keywords: list[str] | None, paths: list[Path] | None) -> "dict[str, Model]":
    """The models by a label that tells them apart."""
    from wakeword.model import load_model, read_model

    if not keywords and not paths:
        raise typer.BadParameter("give --model FILE or --keyword K")
    models = {name: load_model(name) for name in keywords or ()}
    stems = [path.stem for path in paths or ()]
    for path in paths or ():
        is_told_apart = stems.count(path.stem) == 1 and path.stem not in models
        models[path.stem if is_told_apart else str(path)] = read_model(path)
    words = {model.card.phrase.casefold() for model in models.values()}
    if len(words) > 1:
        raise ConfigError(f"expected models of one word, to be compared on the same recordings, got {sorted(words)}")
    return models


def _with_noise(
    models: "Mapping[str, Model]", files: "Files", ratios: Sequence[float], noise: Sequence[Path], seed: int
) -> "dict[str, Scored]":
    """The clips scored with noise at each ratio of speech to noise in dB."""
    if not ratios:
        return {}
    from wakeword.sources import audio_files
    from wakeword_tools.kinds import Kind
    from wakeword_tools.measure.noise import NoiseMixer

    least = max(model.card.features.samples_in(model.card.window) for model in models.values())
    paths = [path for root in noise for path in audio_files(root)]
    mixer = NoiseMixer(paths, least=least, seed=seed, warn=note)
    clips: Files = {kind: some for kind, some in files.items() if kind is not Kind.BACKGROUND}
    return {
        f"{snr:g}": score(f"scoring at {snr:g} dB", list(models.values()), clips, change=mixer.at(snr), quiet=True)
        for snr in ratios
    }


def _warn_of_seen_recordings(models: "Mapping[str, Model]", scored: "Scored") -> None:
    for label, model in models.items():
        seen = [point.name for point in model.card.operating_points if point.fingerprint == scored.fingerprint]
        if seen:
            note(
                f"warning: the thresholds of {', '.join(seen)} of {label} were chosen on exactly these recordings; "
                "what they give here is too good, so evaluate them on others"
            )


def _reports(
    models: "Mapping[str, Model]",
    scored: "Scored",
    noisy: "Mapping[str, Scored]",
    fprs: Sequence[float],
    rates: Sequence[float],
) -> "dict[str, Report]":
    from wakeword_tools.measure.evaluate import evaluate as evaluated

    reports = {}
    for index, (label, model) in enumerate(models.items()):
        clean = scored.sets[index]

        def measured(scores: "ScoreSet", model: "Model" = model) -> "Report":
            return evaluated(scores, model.card, fprs=fprs, rates=rates, fingerprint=scored.fingerprint)

        of_noise = {
            snr: measured(dataclasses.replace(some.sets[index], streams=clean.streams, hours=clean.hours))
            for snr, some in noisy.items()
        }
        reports[label] = _with_latency(dataclasses.replace(measured(clean), snr=of_noise), model, scored)
    return reports


def _with_latency(report: "Report", model: "Model", scored: "Scored") -> "Report":
    from wakeword.audio import read_audio
    from wakeword_tools.kinds import Kind
    from wakeword_tools.measure.latency import latency, spoken_word

    recordings = scored.recordings[Kind.POSITIVE]
    with progress("measuring delays", len(recordings)) as update:
        words = []
        for number, recording in enumerate(recordings, 1):
            words.append(spoken_word(model, read_audio(recording.path)))
            update(number)
    points = {
        name: dataclasses.replace(point, latency=latency(model, words, point.threshold))
        for name, point in report.operating_points.items()
    }
    return dataclasses.replace(report, operating_points=points)


def _warn_of_little_data(scores: "ScoreSet", fprs: Sequence[float], rates: Sequence[float]) -> None:
    from wakeword_tools.measure.intervals import hours_needed

    clips = len(scores.words)
    if clips and clips * min(fprs) < 3:
        note(f"warning: {clips} negative clips show little of fpr={min(fprs):g}; give {3 / min(fprs):.0f} or more")
    if scores.hours and scores.hours < hours_needed(min(rates)):
        note(
            f"warning: {scores.hours:.2f} h of background leave fa_per_hour={min(rates):g} uncertain; "
            f"give {hours_needed(min(rates)):.0f} h or more"
        )


def _differences(
    sets: "Mapping[str, ScoreSet]", fprs: Sequence[float], rates: Sequence[float], seed: int
) -> "dict[str, list[Difference]]":
    """Each further model against the first."""
    from wakeword_tools.measure.compare import compare

    (_, first), *others = sets.items()
    return {label: compare(first, second, fprs=fprs, rates=rates, seed=seed) for label, second in others}


def _save_errors(folder: Path, model: "Model", scored: "Scored", point: str | None) -> None:
    from wakeword_tools.measure.mistakes import FALSE_ACCEPTS, find_mistakes, save_mistakes

    chosen = model.card.point(point)
    mistakes = find_mistakes(model, scored, scored.sets[0], chosen.threshold)
    saved = save_mistakes(folder, mistakes)
    for sort in (FALSE_ACCEPTS, "missed"):
        kept, found = (sum(one.sort == sort for one in some) for some in (saved, mistakes))
        note(f"{folder / sort}: {kept} of {found} at {chosen.name}, the worst first")


def _plot(path: Path, models: "Mapping[str, Model]", scored: "Scored") -> None:
    from wakeword_tools.measure.plots import draw

    labels = list(models) if len(models) > 1 else [""]
    card = next(iter(models.values())).card
    points = {point.name: point.threshold for point in card.operating_points}
    title = f"'{card.phrase}': {scored.description}"
    draw(path, dict(zip(labels, scored.sets, strict=True)), thresholds=points, title=title)


def _as_json(reports: "Mapping[str, Report]", differences: "Mapping[str, Sequence[Difference]]") -> "dict[str, object]":
    contents = [{"model": label, **report.to_json()} for label, report in reports.items()]
    if len(contents) == 1:
        return contents[0]
    found = [
        {"model": label, "against": next(iter(reports)), **dataclasses.asdict(one), "difference": one.difference}
        for label, some in differences.items()
        for one in some
    ]
    return {"models": contents, "differences": found}
