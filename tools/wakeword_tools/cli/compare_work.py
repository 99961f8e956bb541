"""The work of ``wakeword compare``: two models and recordings to differences and a verdict."""

from collections.abc import Sequence
from dataclasses import asdict

from rich.table import Table

from wakeword.base.errors import ConfigError
from wakeword.base.text import printable
from wakeword.cli.console import note
from wakeword.cli.tables import console, table
from wakeword.format.operating_point import OperatingPoint
from wakeword.format.point_warnings import fires_often, warnings_of
from wakeword.model.installed import model_file
from wakeword_tools.cli.evaluate_work import warn_of_seen_recordings
from wakeword_tools.cli.measure_options import CompareOptions
from wakeword_tools.cli.measure_tables import interval, threshold
from wakeword_tools.cli.referee_work import compare_engines
from wakeword_tools.cli.scoring import give_results, scoring
from wakeword_tools.contenders.foreign import Cutoff, ForeignModel
from wakeword_tools.measure.better import Weighing, promise_of
from wakeword_tools.measure.paired import PairedDifference, paired_differences
from wakeword_tools.measure.subject import Subject, one_word, read_subject

_Point = OperatingPoint | Cutoff


def compare(options: CompareOptions) -> None:
    """Compare engines if some are given, and else two models."""
    (compare_engines if options.engine else compare_models)(options)


def compare_models(options: CompareOptions) -> None:
    """Measure both models on the same recordings, and print the differences and the verdict.

    Raises ``ConfigError`` for models of different words or without such a point, ``ModelError``, ``DataError`` and
    ``CalibrationError`` for files that cannot be read or used.
    """
    files = {"OLD": model_file(options.old), "NEW": model_file(options.new)}
    models = {label: read_subject(file) for label, file in files.items()}
    if not options.verify:
        models = {label: model.stage_one() for label, model in models.items()}
    word = one_word(list(models.values()))
    old, new = models.values()
    points = _point_of("OLD", options.old, old, options.point), _point_of("NEW", options.new, new, options.point)
    with scoring(options, list(files.values()), [old, new], verify=options.verify) as (scored,):
        warn_of_seen_recordings(models, scored)
        first, second = scored.sets
        if first.only_synthetic:
            note("warning: all positives are synthetic; with people the answer can be another")
        found = paired_differences((old, new), (first, second), (points[0].threshold, points[1].threshold))
        weighed = Weighing(found, (promise_of(points[0], first), promise_of(points[1], second)))
        _warn_of_other_promises(points)
        own = [(label, one) for label, one in zip(files, points, strict=True) if isinstance(one, OperatingPoint)]
        for line in warnings_of(pair for pair in own if fires_often(pair[1])):
            note(line)
        content = {
            "old": options.old,
            "new": options.new,
            "differences": [{**asdict(one), "difference": one.difference, "gain": one.gain} for one in found],
            "promises": {
                side: None if one is None else {**asdict(one), "broken": one.is_broken, "exceeded": one.is_exceeded}
                for side, one in zip(("old", "new"), weighed.promises, strict=True)
            },
            "outcome": weighed.outcome,
            "verdict": str(weighed),
            "fingerprint": scored.fingerprint,
        }
        give_results(options, content, lambda: _print(options, f"'{word}': {scored.description}", points, weighed))


def _point_of(side: str, name: str, model: Subject, wanted: str | None) -> _Point:
    """The point of one of the two models. ``ConfigError`` that says which of them has none."""
    try:
        return model.card.point() if isinstance(model, ForeignModel) else model.card.point(wanted)
    except ConfigError as error:
        raise ConfigError(f"{side} ({name}): {error}") from error


def _print(options: CompareOptions, heading: str, points: tuple[_Point, _Point], weighed: Weighing) -> None:
    screen = console()
    for line in weighed.promise_lines:
        screen.print(line, soft_wrap=True)
    screen.print(printable(heading), soft_wrap=True)
    for label, name, point in zip(("OLD", "NEW"), (options.old, options.new), points, strict=True):
        screen.print(
            printable(f"{label}  {name} at {point.name}, threshold {threshold(point.threshold)}"), soft_wrap=True
        )
    screen.print(_table(weighed.differences))
    screen.print(str(weighed), soft_wrap=True)


def _warn_of_other_promises(points: tuple[_Point, _Point]) -> None:
    """A model that fires more often finds more, and is no better for that."""
    old, new = (point.name for point in points)
    if any(isinstance(point, Cutoff) for point in points):
        note("warning: a cutoff of another engine promises nothing; --engine compares at equal rates")
    elif old != new:
        note(
            f"warning: OLD is at {old} and NEW at {new}, which promise different things; --point sets the same for both"
        )


def _table(found: Sequence[PairedDifference]) -> Table:
    columns = ("OLD", "NEW", "NEW - OLD", "only OLD", "only NEW")
    made = table("each at its own threshold; NEW - OLD with its 95 % interval", "", *columns)
    for one in found:
        form = one.form
        difference = interval(one.difference, one.low, one.high, form=f"+{form}") + (" *" if one.gain else "")
        both = (f"{one.first:{form}}", f"{one.second:{form}}")
        made.add_row(one.name, *both, difference, str(one.only_first), str(one.only_second))
    return made
