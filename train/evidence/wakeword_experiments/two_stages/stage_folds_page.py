"""The page of the folds of a word with both stages, and sentences about them for the pages of accuracy."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wakeword.base.poisson import poisson_rate
from wakeword_experiments.figures_report import markdown_table
from wakeword_experiments.two_stages.two_stages_measure import interval_of, share

POINTS = ("fpr=0.03", "default")
CONDITIONS = ("clean", "noisy")
RECORD_PREFIX = "folds-two-stages-"
_ENCODER = {
    False: "The encoder with which first stages begin has not heard them either.",
    True: "The encoder with which first stages begin may have heard them, without being told what they say.",
}
Recordings = Sequence[Mapping[str, Any]]
"""Recordings of the word, as a fold's record has them."""


def folds_name(keyword: str) -> str:
    """Name of the record and of the page, without a suffix."""
    return f"{RECORD_PREFIX}{'-'.join(keyword.split())}"


def stage_folds_page(record: Mapping[str, Any], *, figures: str) -> str:
    """The page in Markdown; ``figures`` is a link to the record."""
    folds, cut = record["folds"], record["cut"]
    recordings, whole = _recordings(record)
    points, people = _points(recordings), len({one["speaker"] for one in recordings})
    rows = [
        [str(fold["fold"] + 1), *_counts(fold["recordings"], points), f"`{_default(fold)['name']}`", *_rates(fold)]
        for fold in folds
    ]
    rows.append(["**all**", *_counts(recordings, points, interval=True), "", _rate_of_all(folds), ""])
    if len(whole) < len(recordings):
        rows.append(["**whole clips**", *_counts(whole, points, interval=True), "", "", ""])
    shown = [name if name == "default" else f"`{name}`" for name in points]
    head = ["fold", *shown, "default point", "false accepts an hour (95 %)", "close words"]
    missed = [f"| {one['file']} | {', '.join(names)} |" for one in recordings if (names := _missed(one, points))]
    lines = [
        f'# "{record["keyword"]}" by folds, both stages',
        "",
        f"{_recipe(record)} trained {len(folds)} times (seed {record['seed']}), each time with the "
        f"recordings of other people kept for the test: {len(recordings)} recordings of {people} people, as recorded / "
        "with noise 10 dB below the word, with the 95 % interval by speaker. "
        f"{_ENCODER[record['encoder_heard_the_word']]} Validation, which chooses epochs, the default and the fusion, has "
        "one person and synthetic voices. False accepts are counted in the same held-out speech for each model, at "
        "thresholds from other speech.",
        "",
        *markdown_table(head, rows).splitlines(),
        "",
    ]
    if cut:
        lines += [f"These end inside the word and are left out of *whole clips*: {', '.join(cut)}.", ""]
    if missed:
        lines += ["| missed | at |", "| --- | --- |", *missed, ""]
    lines += [f"Made by `{record['command']}` on {record['date']}. [Figures]({figures}).", ""]
    return "\n".join(lines)


def _recipe(record: Mapping[str, Any]) -> str:
    """What was trained: ``earlier`` of the record tells where the recipe of the included model differs by now."""
    earlier = record.get("earlier")
    return f"An earlier recipe of the included model, {earlier}," if earlier else "The recipe of the included model"


def folds_sentence(record: Mapping[str, Any], *, page: str) -> str:
    """One sentence about what the folds find at their defaults; ``page`` is the name of their page."""
    recordings, whole = _recordings(record)
    names = " and ".join(f"`{name}`" for name in sorted({_default(fold)["name"] for fold in record["folds"]}))
    text = (
        f"Trained {len(record['folds'])} times without some of the people, "
        f'{"an earlier" if "earlier" in record else "the"} recipe of "{record["keyword"]}" finds at its defaults, {names}, '
        f"{_recall(recordings, 'default')} of all {len(recordings)} recordings"
    )
    if len(whole) < len(recordings):
        text += f", and {_recall(whole, 'default')} of the {len(whole)} that are whole"
    if rate := _rate_of_all(record["folds"]):
        text += f". In the mean these models have {rate} false accepts an hour"
    return f"{text} (`{page}`)."


def folds_recall(record: Mapping[str, Any]) -> str:
    """Recall of all recordings at the defaults, and how many they are."""
    recordings = _recordings(record)[0]
    return f"{_recall(recordings, 'default')} of {len(recordings)} recordings"


def whole_recordings(record: Mapping[str, Any]) -> Recordings:
    """The recordings of the word that do not end inside it."""
    return _recordings(record)[1]


def _recordings(record: Mapping[str, Any]) -> tuple[Recordings, Recordings]:
    """All recordings of the word, and those that are whole."""
    recordings = [one for fold in record["folds"] for one in fold["recordings"]]
    return recordings, [one for one in recordings if not any(name in one["file"] for name in record["cut"])]


def _points(recordings: Recordings) -> list[str]:
    """The points that every model has."""
    return [name for name in POINTS if all(name in one["found"] for one in recordings)]


def _default(fold: Mapping[str, Any]) -> Mapping[str, Any]:
    point: Mapping[str, Any] = fold["word"]["stages"]["both"]["points"]["default"]
    return point


def _counts(recordings: Recordings, points: Sequence[str], *, interval: bool = False) -> list[str]:
    """How many of the recordings are found at each point; with the share and its interval if asked for."""
    cells = []
    for name in points:
        clean, noisy = (sum(one["found"][name][condition] for one in recordings) for condition in CONDITIONS)
        recall = f", {_recall(recordings, name)}" if interval else ""
        cells.append(f"{clean} / {noisy} of {len(recordings)}{recall}")
    return cells


def _recall(recordings: Recordings, name: str) -> str:
    """Recall at a point in both conditions, with the interval of the first."""
    speakers = [one["speaker"] for one in recordings]
    clean, noisy = (
        share(np.array([one["found"][name][condition] for one in recordings]), speakers) for condition in CONDITIONS
    )
    low, high = interval_of(clean)
    return f"{100 * clean['rate']:.0f} / {100 * noisy['rate']:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def _rates(fold: Mapping[str, Any]) -> tuple[str, str]:
    """False accepts an hour with their interval, and the share of close words that fire, at the default of one model."""
    counted, close = fold["word"]["stages"]["both"]["cross_validated"], _default(fold)["close"]
    shown = f"{100 * close['clean']['rate']:.1f} %" if close else ""
    if not counted["hours"]:
        return "", shown
    low, high = poisson_rate(counted["events"], counted["hours"])
    rate = counted["events"] / counted["hours"]
    return f"{rate:.2f} ({low:.2f} to {high:.2f}) in {counted['hours']:.1f} h", shown


def _rate_of_all(folds: Sequence[Mapping[str, Any]]) -> str:
    """The mean of the models' false accepts an hour: of the same speech, so without an interval."""
    counted = [fold["word"]["stages"]["both"]["cross_validated"] for fold in folds]
    hours = sum(one["hours"] for one in counted)
    return f"{sum(one['events'] for one in counted) / hours:.2f}" if hours else ""


def _missed(recording: Mapping[str, Any], points: Sequence[str]) -> list[str]:
    """The points and conditions at which a recording is missed."""
    names = {"clean": "", "noisy": " at 10 dB"}
    return [
        f"{name}{names[condition]}"
        for name in points
        for condition in CONDITIONS
        if not recording["found"][name][condition]
    ]
