"""The work of ``wakeword compare``: two models and recordings to differences and a verdict."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from wakeword.base.errors import ConfigError
from wakeword.base.files import write_json
from wakeword.base.text import printable
from wakeword.cli.console import note
from wakeword.cli.job_options import JobSettings
from wakeword.cli.tables import console, table
from wakeword.format.operating_point import OperatingPoint
from wakeword.format.point_warnings import fires_often, warnings_of
from wakeword.model.installed import model_file
from wakeword.model.model import Model, load_model, read_model_bytes
from wakeword_tools.cli.evaluate_work import warn_of_seen_recordings
from wakeword_tools.cli.measure_tables import interval, threshold
from wakeword_tools.cli.scoring import Loaded, Places, Sharing, scoring
from wakeword_tools.measure.better import Weighing, promise_of
from wakeword_tools.measure.paired import PairedDifference, paired_differences
from wakeword_tools.measure.recordings import Scored


@dataclass(frozen=True)
class ComparisonSettings:
    """The models and recordings of a comparison."""

    old: str
    new: str
    places: Places
    point: str | None
    """Operating point of both; ``None``: the default one of each."""
    verify: bool
    report: Path | None
    as_json: bool
    """Whether JSON is printed, and not tables."""
    jobs: JobSettings


def compare_models(settings: ComparisonSettings) -> None:
    """Measure both models on the same recordings, and print the differences and the verdict.

    Raises ``ConfigError`` for models of different words or without such a point, ``ModelError``, ``DataError`` and
    ``CalibrationError`` for files that cannot be read or used.
    """
    sharing = Sharing(settings.jobs, settings.report)
    names = (settings.old, settings.new)
    old, new = (_loaded(name, verify=settings.verify) for name in names)
    words = {model.card.phrase.casefold() for model in (old, new)}
    if len(words) > 1:
        raise ConfigError(f"expected two models of one word, to compare on the same recordings, got {sorted(words)}")
    points = _point_of("OLD", settings.old, old, settings.point), _point_of("NEW", settings.new, new, settings.point)
    loaded = Loaded([old, new], [read_model_bytes(model_file(name)) for name in names], settings.verify)
    with scoring(loaded, settings.places.find(old.card.phrase), sharing) as (scored,):
        _compare(settings, (old, new), points, scored)


def _point_of(side: str, name: str, model: Model, wanted: str | None) -> OperatingPoint:
    """The point of one of the two models. ``ConfigError`` that says which of them has none."""
    try:
        return model.card.point(wanted)
    except ConfigError as error:
        raise ConfigError(f"{side} ({name}): {error}") from error


def _compare(
    settings: ComparisonSettings,
    models: tuple[Model, Model],
    points: tuple[OperatingPoint, OperatingPoint],
    scored: Scored,
) -> None:
    old, new = models
    warn_of_seen_recordings({"OLD": old, "NEW": new}, scored)
    if scored.sets[0].only_synthetic:
        note("warning: all positives are synthetic; with people the answer can be another")
    first, second = scored.sets
    found = paired_differences((old, new), (first, second), (points[0].threshold, points[1].threshold))
    weighed = Weighing(found, (promise_of(points[0], first), promise_of(points[1], second)))
    _warn_of_other_promises(points)
    named = zip(("OLD", "NEW"), points, strict=True)
    for line in warnings_of((name, point) for name, point in named if fires_often(point)):
        note(line)
    content = _content(settings, weighed, scored)
    if settings.as_json:
        print(json.dumps(content, indent=1, allow_nan=False))
    else:
        _print(settings, f"'{old.card.phrase}': {scored.description}", points, weighed)
    if settings.report is not None:
        write_json(settings.report, content)


def _content(settings: ComparisonSettings, weighed: Weighing, scored: Scored) -> dict[str, Any]:
    """For JSON."""
    found, promises = weighed.differences, zip(("old", "new"), weighed.promises, strict=True)
    return {
        "old": settings.old,
        "new": settings.new,
        "differences": [{**asdict(one), "difference": one.difference, "gain": one.gain} for one in found],
        "promises": {
            side: None if one is None else {**asdict(one), "broken": one.is_broken, "exceeded": one.is_exceeded}
            for side, one in promises
        },
        "outcome": weighed.outcome,
        "verdict": str(weighed),
        "fingerprint": scored.fingerprint,
    }


def _print(
    settings: ComparisonSettings,
    heading: str,
    points: tuple[OperatingPoint, OperatingPoint],
    weighed: Weighing,
) -> None:
    screen = console()
    for line in weighed.promise_lines:
        screen.print(line, soft_wrap=True)
    screen.print(printable(heading), soft_wrap=True)
    for label, name, point in zip(("OLD", "NEW"), (settings.old, settings.new), points, strict=True):
        screen.print(
            printable(f"{label}  {name} at {point.name}, threshold {threshold(point.threshold)}"), soft_wrap=True
        )
    screen.print(_table(weighed.differences))
    screen.print(str(weighed), soft_wrap=True)


def _loaded(name: str, *, verify: bool) -> Model:
    model = load_model(name)
    return model if verify else model.stage_one()


def _warn_of_other_promises(points: tuple[OperatingPoint, OperatingPoint]) -> None:
    """A model that fires more often finds more, and is no better for that."""
    old, new = (point.name for point in points)
    if old != new:
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
