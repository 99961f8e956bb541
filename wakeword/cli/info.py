"""``wakeword info``: what a model listens for and how often it is right and wrong, or its whole card as JSON."""

import json
import textwrap
from collections.abc import Iterator
from typing import Annotated

import typer

from wakeword.base.text import counted, printable
from wakeword.cli.console import note
from wakeword.cli.options import MODEL_HELP
from wakeword.cli.ranges import model_names, option
from wakeword.format.card import ModelCard
from wakeword.format.operating_point import OperatingPoint, Rate
from wakeword.format.point_warnings import hourly_shown, range_shown, recall_shown, warnings_of
from wakeword.model.model import load_model


def info(
    model: Annotated[str, typer.Argument(autocompletion=model_names, help=MODEL_HELP)],
    as_json: Annotated[bool, option("--json", "Print the whole card as JSON, and the limits of every point.")] = False,
) -> None:
    """Show what a model listens for, and how often it is right and wrong."""
    loaded = load_model(model)
    card = loaded.card
    if as_json:
        print(json.dumps({**json.loads(card.to_json()), "digest": loaded.digest}, indent=2))
    else:
        _ = loaded.second_stage  # what cannot be used is an error, however little is shown
        for name, text in _summary(card):
            _print_entry(name, text)
        _print_entry("more", "--json shows the whole card")
    chosen = [point for point in card.operating_points if as_json or point.name == card.default_point]
    for line in warnings_of((card.phrase, point) for point in chosen):
        note(line)


def _summary(card: ModelCard) -> Iterator[tuple[str, str]]:
    """What a user asks first: names and texts."""
    yield "listens for", printable(card.phrase)
    if card.language != "en":
        heard = ", ".join(f"{hours:.1f} h {printable(name)}" for name, hours in card.hours_by_language.items())
        yield "language", f"{printable(card.language)}; speech that training heard: {heard or 'not known'}"
    about = "version", printable(card.edition)
    points = ", ".join(printable(point.name) for point in card.operating_points if point.name != card.default_point)
    if card.default_point is None:
        yield "default point", f"none; give --threshold or --point ({points or 'it has none: calibrate it'})"
        yield about
        return
    point = card.point()
    of_people = point.by_folds is not None or point.synthetic == 0
    yield "finds people" if of_people else "finds", _found(point)
    yield "fires wrongly", "; ".join(_wrong(point)) or "not measured: wakeword calibrate measures it"
    others = f"; others: {points}" if points else ""
    if card.MEASURED_WITH in card.training:
        yield "measured", "with an earlier version's recogniser; see wakeword evaluate"
    yield "default point", f"{printable(point.name)}, from a score of {point.threshold:.4g} on{others}"
    yield about


def _found(point: OperatingPoint) -> str:
    """Recall with its interval, and what it was measured on."""
    value, low, high = recall_shown(point)
    shown = f"{value:.0%} of the time ({range_shown(low, high)})"
    if (folds := point.by_folds) is not None:
        found = round(point.recall * point.positives)
        own = f"; this file alone found {found} of {point.positives}" if point.positives else ""
        return (
            f"{shown}: {folds.recall.count} of {folds.recall.trials:g} recordings of the whole word, by "
            f"{counted(folds.models, 'model')} of this recipe that did not know the speaker{own}"
        )
    kind = "recordings" if point.synthetic == 0 else "synthetic clips" if point.synthetic else "clips"
    if point.positives:
        return f"{shown}: {round(value * point.positives)} of {point.positives} {kind} kept from training"
    return f"{shown}: {printable(point.data)}"


def _wrong(point: OperatingPoint) -> Iterator[str]:
    """False accepts an hour and shares of words that fire."""
    rate, measured = hourly_shown(point), point.false_accepts_per_hour
    if rate is not None:
        if point.by_folds is not None:
            source = f"mean of these models, {point.by_folds.hours:.1f} h each"
        else:
            source = (
                "" if measured is None else f"{measured.low:.2f} to {measured.high:.2f}, from {measured.trials:.1f} h"
            )
        yield f"{rate:.2f} times an hour of speech ({source})"
    if point.fpr_near_negatives is not None:
        yield f"at {_share(point.fpr_near_negatives)} words that sound like it"
    if point.fpr_negatives is not None:
        yield f"at {_share(point.fpr_negatives)} other words"


def _share(rate: Rate) -> str:
    """For instance ``12 of 238 (5 %)``."""
    return f"{rate.count} of {rate.trials:g} ({rate.value:.0%})"


def _print_entry(name: str, text: str) -> None:
    """Print a name and its text, in lines of 80 columns with the text below itself."""
    lines = textwrap.wrap(text, 65, break_on_hyphens=False) or [""]
    for number, line in enumerate(lines):
        print(f"{name if number == 0 else '':<15}{line}")
