"""Tables of a word's accuracy page, each made from a part of the record."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wakeword_experiments.accuracy.measures import TARGETS
from wakeword_experiments.figures_report import Row, distinct, markdown_table, select
from wakeword_tools.measure.rates import RateKind, Target

_NONE = "–"


def _heading(target: Target) -> str:
    return f"{100 * target.value:g} % FPR" if target.kind is RateKind.FPR else f"{target.value:g} FA/h"


def recall_table(rows: Sequence[Row], part: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> str:
    """Recall clean and noisy of each contender; ``part`` picks the point itself or its oracle."""
    header = ["", "method", "seed", "recorded positives", "KB", *map(_heading, TARGETS)]
    return markdown_table(
        header,
        [
            [
                row["name"],
                *_provenance(row),
                round(row["bytes"] / 1000),
                *(_clean_and_noisy(part(row["points"][target.name])) for target in TARGETS),
            ]
            for row in rows
        ],
    )


def _provenance(row: Row) -> list[object]:
    return [_NONE if row.get(field) is None else row[field] for field in ("method", "seed", "recorded")]


def _clean_and_noisy(point: Mapping[str, Any]) -> str:
    return f"{_percent(point['clean'])} / {_percent(point['noisy'])}"


def _percent(rate: Mapping[str, Any]) -> str:
    return f"{100 * rate['value']:.1f} [{100 * rate['low']:.1f}, {100 * rate['high']:.1f}]"


def rates_table(rows: Sequence[Row]) -> str:
    """False alarms of each contender at each threshold."""
    header = ["", "target", "threshold", "FPR other words, %", "FPR close words, %", "FPR mixed, %", "FA/h"]
    lines = []
    for row in rows:
        for target in TARGETS:
            point = row["points"][target.name]
            rate = point["false_accepts_per_hour"]
            lines.append(
                [
                    row["name"],
                    _heading(target),
                    f"{point['threshold']:.4f}" + ("*" if point["saturated"] else ""),
                    _percent(point["generic"]),
                    _percent(point["close"]),
                    f"{100 * point['mixed']:.1f}",
                    f"{rate['value']:.1f} [{rate['low']:.1f}, {rate['high']:.1f}] "
                    f"({rate['count']} in {rate['trials']:.2f} h)",
                ]
            )
    note = "\n\n\\* more negatives of the validation than the target allows share the highest score; the threshold"
    any_saturated = any(point["saturated"] for row in rows for point in row["points"].values())
    return markdown_table(header, lines) + (f"{note} is above it." if any_saturated else "")


def paired_table(pair: Mapping[str, Any], snr: str) -> list[str]:
    """What only one of two methods finds."""
    lines = [
        [
            row["target"],
            "clean" if row["condition"] == "clean" else f"at {snr}",
            row["clips"],
            row["only_first"],
            row["only_second"],
            f"{row['p']:.2g}",
        ]
        for row in pair["rows"]
    ]
    return [
        f"## {pair['first']} against {pair['second']}",
        "The same seed and the same positives, another method. Recordings that only one of the two finds, each at its own "
        "threshold, and the exact McNemar test: the probability of so large a difference if both were equally good.",
        markdown_table(["target", "", "clips", f"only {pair['first']}", f"only {pair['second']}", "p"], lines),
    ]


def error_tables(found: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    """Close words that fire, by distance and by text, other words that fire, and positives that are missed."""
    snr = f"{settings['snr']:g} dB"
    missed = [
        [
            row["file"],
            row["speaker"],
            f"{row['seconds']:.2f}",
            f"{row['level']:.0f}",
            f"{row['snr']:.0f}",
            " and ".join([*["clean"] * row["missed_clean"], *[f"at {snr}"] * row["missed_noisy"]]),
        ]
        for row in found["missed"]
    ]
    parts = [
        f"## Errors of {found['name']} at {settings['errors_at']}",
        "Close words that fire, by their distance from the keyword in typical phoneme edits (bins of half an edit):",
        markdown_table(
            ["distance", "clips", "fire", "%"],
            [[row["distance"], row["trials"], row["count"], _percent(row)] for row in found["by_distance"]],
        ),
        "The close texts that fire most:" if found["texts"] else "No close text fires.",
        _words_table(found["texts"]),
        "The recorded other words that fire most:" if found["words"] else "No recorded other word fires.",
        _words_table(found["words"]),
        "Recorded positives that are missed; level and ratio of the word to the clip's own floor (60 dB at most) are "
        "estimates:"
        if missed
        else "No recorded positive is missed.",
        markdown_table(["file", "speaker", "s", "level, dB", "SNR, dB", "missed"], missed) if missed else "",
    ]
    return [part for part in parts if part]


def _words_table(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    far = "distance" in rows[0]
    return markdown_table(
        ["text", *(["distance"] if far else []), "fire", "of"],
        [
            [f"`{row['word']}`", *([f"{row['distance']:.2f}"] if far else []), row["fired"], row["clips"]]
            for row in rows
        ],
    )


def learning_curve(rows: Sequence[Row]) -> list[str]:
    """A table for each method whose models differ in the number of recordings that they were trained on."""
    tables = []
    for method in distinct(rows, "method"):
        known = [row for row in select(rows, method=method) if row["recorded"] is not None]
        of_method = sorted(known, key=lambda row: (row["recorded"], row["name"]))
        if len(distinct(of_method, "recorded")) < 2:
            continue
        tables.append(
            markdown_table(
                [f"{method}: recorded positives in training", "", "seed", *map(_heading, TARGETS)],
                [
                    [
                        row["recorded"],
                        row["name"],
                        row["seed"],
                        *(_clean_and_noisy(row["points"][t.name]) for t in TARGETS),
                    ]
                    for row in of_method
                ],
            )
        )
    if not tables:
        return []
    note = "Recall in per cent, clean / noisy, against the number of recordings trained on."
    if any(row.get("encoder") for row in rows):
        note += (
            " The encoder that training began with is not counted: unless this word was left out, it was trained on "
            "recordings of it in the train split."
        )
    return ["## Learning curve", note, *tables]
