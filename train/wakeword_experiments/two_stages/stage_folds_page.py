"""The page of the folds of a word with both stages, and the sentence about them on the page of accuracy."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from wakeword_experiments.report import markdown_table
from wakeword_tools.measure.intervals import clopper_pearson, poisson_rate

POINTS = ("fpr=0.03", "default")
CONDITIONS = ("clean", "noisy")
FOLDS = "folds-two-stages-"
"""Beginning of the names of their records."""


def folds_name(keyword: str) -> str:
    """Name of the record and of the page, without a suffix."""
    return f"{FOLDS}{'-'.join(keyword.split())}"


def stage_folds_page(record: Mapping[str, Any], *, figures: str) -> str:
    """The page in Markdown; ``figures`` is a link to the record."""
    folds, cut = record["folds"], record["cut"]
    recordings = [one for fold in folds for one in fold["recordings"]]
    whole = [one for one in recordings if not _is_cut(one, cut)]
    rows = []
    for fold in folds:
        own = fold["recordings"]
        rows.append([str(fold["fold"] + 1), str(len(own)), *_cells(own), f"`{_point(fold)['name']}`", *_rates([fold])])
    rows.append(["**all**", str(len(recordings)), *_cells(recordings, interval=True), "", *_rates(folds)])
    if len(whole) < len(recordings):
        rows.append(["**whole clips**", str(len(whole)), *_cells(whole, interval=True), "", "", ""])
    points = [name if name == "default" else f"`{name}`" for name in _names(recordings)]
    head = ["fold", "recordings", *points, "its name", "false accepts an hour (95 %)", "close words"]
    missed = [f"| {one['file']} | {', '.join(_misses(one))} |" for one in recordings if any(_misses(one))]
    lines = [
        f'# "{record["keyword"]}" by folds, both stages',
        "",
        f"The recipe of the included model trained {len(folds)} times (seed {record['seed']}), each time with the "
        "recordings of other people kept for the test: as recorded / with noise 10 dB below the word, with the exact 95 % "
        f"interval ({len({one['speaker'] for one in recordings})} people). False accepts are counted in held-out speech at "
        "thresholds from other speech, once for each model. Validation, which chooses epochs "
        "and fits the fusion, has one person.",
        "",
        *markdown_table(head, rows).splitlines(),
        "",
    ]
    if cut:
        lines += [f"Cut off inside the word, and no whole clips: {', '.join(cut)}.", ""]
    if missed:
        lines += ["| missed | at |", "| --- | --- |", *missed, ""]
    lines += [f"Made by `{record['command']}` on {record['date']}. [Figures]({figures}).", ""]
    return "\n".join(lines)


def folds_sentence(record: Mapping[str, Any], *, page: str) -> str:
    """One sentence about what the folds find at their defaults; ``page`` is a link to their page."""
    recordings = [one for fold in record["folds"] for one in fold["recordings"]]
    whole = [one for one in recordings if not _is_cut(one, record["cut"])]
    text = (
        f'Trained {len(record["folds"])} times without some of the people, the recipe of "{record["keyword"]}" finds at '
        f"its default {_found(recordings)} of all {len(recordings)} recordings"
    )
    if len(whole) < len(recordings):
        text += f", and {_found(whole)} of the {len(whole)} that are whole"
    return f"{text} ([folds]({page}))."


def _found(recordings: Sequence[Mapping[str, Any]]) -> str:
    """Recall at the default in both conditions, with the interval of the first."""
    counts = [sum(one["found"]["default"][condition] for one in recordings) for condition in CONDITIONS]
    low, high = clopper_pearson(counts[0], len(recordings))
    shares = " / ".join(f"{100 * count / len(recordings):.0f}" for count in counts)
    return f"{shares} % ({100 * low:.0f} to {100 * high:.0f})"


def _is_cut(recording: Mapping[str, Any], cut: Sequence[str]) -> bool:
    return any(name in recording["file"] for name in cut)


def _names(recordings: Sequence[Mapping[str, Any]]) -> list[str]:
    """The points that every model has."""
    return [name for name in POINTS if all(name in one["found"] for one in recordings)]


def _point(fold: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = fold["word"]["stages"]["both"]["points"]["default"]
    return found


def _cells(recordings: Sequence[Mapping[str, Any]], *, interval: bool = False) -> Iterator[str]:
    for name in _names(recordings):
        counts = [sum(one["found"][name][condition] for one in recordings) for condition in CONDITIONS]
        text = f"{counts[0]} / {counts[1]} of {len(recordings)}"
        if interval:
            low, high = clopper_pearson(counts[0], len(recordings))
            shares = " / ".join(f"{100 * count / len(recordings):.0f}" for count in counts)
            text += f", {shares} % ({100 * low:.0f} to {100 * high:.0f})"
        yield text


def _rates(folds: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """False accepts an hour, and the share of close words that fire, at the default."""
    counted = [fold["word"]["stages"]["both"]["cross_validated"] for fold in folds]
    events, hours = sum(one["events"] for one in counted), sum(one["hours"] for one in counted)
    low, high = poisson_rate(events, hours)
    close = float(np.mean([_point(fold)["close"]["clean"]["rate"] for fold in folds]))
    return f"{events / hours:.2f} ({low:.2f} to {high:.2f}) in {hours:.1f} h", f"{100 * close:.1f} %"


def _misses(recording: Mapping[str, Any]) -> list[str]:
    names = {"clean": "", "noisy": " at 10 dB"}
    return [
        f"{name}{names[condition]}"
        for name in _names([recording])
        for condition in CONDITIONS
        if not recording["found"][name][condition]
    ]
