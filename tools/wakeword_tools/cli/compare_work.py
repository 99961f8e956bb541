"""The work of ``wakeword compare``: two models and recordings to differences and a verdict."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict

from rich.table import Table

from wakeword.base.errors import ConfigError
from wakeword.base.files import write_json
from wakeword.base.text import printable
from wakeword.cli.console import note
from wakeword.cli.tables import console, table
from wakeword.format.operating_point import OperatingPoint
from wakeword.format.point_warnings import fires_often, warnings_of
from wakeword.model.installed import model_file
from wakeword.model.model import Model, load_model, read_model_bytes
from wakeword_tools.cli.compare import CompareOptions
from wakeword_tools.cli.evaluate_work import warn_of_seen_recordings
from wakeword_tools.cli.measure_tables import interval, threshold
from wakeword_tools.cli.scoring import scoring
from wakeword_tools.measure.paired import PairedDifference, paired_differences


def compare_models(options: CompareOptions) -> None:
    """Measure both models on the same recordings, and print the differences and the verdict.

    Raises ``ConfigError`` for models of different words or without such a point, ``ModelError``, ``DataError`` and
    ``CalibrationError`` for files that cannot be read or used.
    """
    names = {"OLD": options.old, "NEW": options.new}
    models = {label: load_model(name) for label, name in names.items()}
    if not options.verify:
        models = {label: model.stage_one() for label, model in models.items()}
    words = {model.card.phrase.casefold() for model in models.values()}
    if len(words) > 1:
        raise ConfigError(f"expected two models of one word, to compare on the same recordings, got {sorted(words)}")
    old, new = models.values()
    points = _point_of("OLD", options.old, old, options.point), _point_of("NEW", options.new, new, options.point)
    data = [read_model_bytes(model_file(name)) for name in names.values()]
    with scoring(options, [old, new], data=data, verify=options.verify) as (scored,):
        warn_of_seen_recordings(models, scored)
        first, second = scored.sets
        if first.only_synthetic:
            note("warning: all positives are synthetic; with people the answer can be another")
        found = paired_differences((old, new), (first, second), (points[0].threshold, points[1].threshold))
        _warn_of_laxer_threshold(found, points)
        for line in warnings_of(pair for pair in zip(names, points, strict=True) if fires_often(pair[1])):
            note(line)
        content = {
            "old": options.old,
            "new": options.new,
            "differences": [{**asdict(one), "difference": one.difference, "gain": one.gain} for one in found],
            "verdict": verdict(found),
            "fingerprint": scored.fingerprint,
        }
        if options.as_json:
            print(json.dumps(content, indent=1, allow_nan=False))
        else:
            _print(options, f"'{old.card.phrase}': {scored.description}", points, found)
        if options.report is not None:
            write_json(options.report, content)


def _point_of(side: str, name: str, model: Model, wanted: str | None) -> OperatingPoint:
    """The point of one of the two models. ``ConfigError`` that says which of them has none."""
    try:
        return model.card.point(wanted)
    except ConfigError as error:
        raise ConfigError(f"{side} ({name}): {error}") from error


def _print(
    options: CompareOptions,
    heading: str,
    points: tuple[OperatingPoint, OperatingPoint],
    found: Sequence[PairedDifference],
) -> None:
    screen = console()
    screen.print(printable(heading), soft_wrap=True)
    for label, name, point in zip(("OLD", "NEW"), (options.old, options.new), points, strict=True):
        screen.print(
            printable(f"{label}  {name} at {point.name}, threshold {threshold(point.threshold)}"), soft_wrap=True
        )
    screen.print(_table(found))
    screen.print(verdict(found), soft_wrap=True)


def _warn_of_laxer_threshold(found: Sequence[PairedDifference], points: tuple[OperatingPoint, OperatingPoint]) -> None:
    """A model that fires more often finds more, and is no better for that."""
    old, new = (point.name for point in points)
    if old != new:
        note(
            f"warning: OLD is at {old} and NEW at {new}, which promise different things; --point sets the same for both"
        )
    if len(found) == 1:
        note("warning: only recall is compared, and a laxer threshold alone finds more; give --background too")


def _table(found: Sequence[PairedDifference]) -> Table:
    columns = ("OLD", "NEW", "NEW - OLD", "only OLD", "only NEW")
    made = table("each at its own threshold; NEW - OLD with its 95 % interval", "", *columns)
    for one in found:
        form = ".2f" if one.name == "FA per hour" else ".1%"
        difference = interval(one.difference, one.low, one.high, form=f"+{form}") + (" *" if one.gain else "")
        both = (f"{one.first:{form}}", f"{one.second:{form}}")
        made.add_row(one.name, *both, difference, str(one.only_first), str(one.only_second))
    return made


def verdict(found: Sequence[PairedDifference]) -> str:
    """Whether the second model is better, in a sentence: only what an interval without zero shows counts."""
    better = [one.name for one in found if one.gain > 0]
    worse = [one.name for one in found if one.gain < 0]
    if better and worse:
        return f"NEW is better in {', '.join(better)} and worse in {', '.join(worse)}: a trade, not a gain."
    if better or worse:
        return f"NEW is {'better' if better else 'worse'}: {', '.join(better or worse)}."
    recall = found[0]
    needed = recall.trials_needed
    more = (
        "no recording tells them apart; more or harder ones are needed."
        if needed is None
        else f"for the difference in recall about {math.ceil(needed):,} recordings would be needed, if it is real."
    )
    return f"These recordings cannot tell which is better: {more}"
