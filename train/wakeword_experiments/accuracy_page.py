"""The page of accuracy: every number on it comes from the record of the measurement."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wakeword.thresholds import allowed_at_rate
from wakeword_experiments.accuracy_measures import TARGETS
from wakeword_experiments.report import Row, distinct, markdown_table, select
from wakeword_tools.measures import RateKind, Target

_NONE = "–"


def page(record: Mapping[str, Any], *, figures: str, notes: str = "") -> str:
    """The page in Markdown. ``figures``: where the record lies, as seen from the page; ``notes`` stand at the end."""
    parts = [f"# {record['title']}", *_protocol(record["settings"])]
    for result in record["keywords"]:
        parts += _keyword(result, record["settings"])
    if notes.strip():
        parts.append(notes.strip())
    packages = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    made = f"Made by `{record['command']}` on {record['date']}" if "command" in record else f"Made on {record['date']}"
    parts.append(f"{made} with {packages}. Every figure: [{figures.rpartition('/')[2]}]({figures}).")
    return "\n\n".join(parts) + "\n"


def _protocol(settings: Mapping[str, Any]) -> list[str]:
    snr = f"{settings['snr']:g} dB"
    return [
        "How many recordings of its word a model finds at a rate of false alarms that was set beforehand, on people whom "
        "it was not trained on, and what other engines' models of the same word do on the same recordings.",
        "- **Sides.** Recordings are dealt by speaker into train, validation and test exactly as the model's training "
        "dealt them; its card tells how. A recording without a speaker's name counts as a speaker of its own; copies of "
        "one recording count once.\n"
        "- **Thresholds** are chosen on the validation side alone and reported on the test side alone. A false positive "
        "rate (FPR) is the mean of that of *other words* (recorded) and that of *close words* (synthesised words that "
        "sound like the keyword), one half each whatever the number of clips. False accepts an hour (FA/h) are counted "
        "as the detector counts them, in read speech without the word.\n"
        f"- **Close words** are spoken by espeak-ng, and by flite where it is installed: {settings['near_clips']} clips "
        "on each side, in texts and voices of that side only.\n"
        "- **Recall** is of recorded positives only, never of synthetic ones. A clip is heard from a fresh state with a "
        "second of its own noise floor before it and after it, and its score is the best of all that come within. "
        f"*Noisy* is the same clip with sounds of the test side mixed in, {snr} under its word; thresholds stay as they "
        "are.\n"
        "- **Other engines** hear the same samples under the same rules. Engines that score more often than every 80 ms "
        "give the best score of each 80 ms, so that events are counted on one grid.\n"
        "- **Brackets** are exact 95 % intervals: Clopper and Pearson's for clips, Garwood's for events an hour. They "
        "hold for the clips at a given threshold; that the threshold itself rests on so many validation clips shows in "
        "the rates it gave on the test.",
    ]


def _keyword(result: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    rows = result["contenders"]
    snr = f"{settings['snr']:g} dB"
    parts = [
        f"## {result['keyword']}",
        _sides(result),
        f"Recall in per cent, clean / at {snr}, with thresholds from validation:",
        _recall_table(rows, lambda point: point),
        "What those thresholds gave on the test side:",
        _rates_table(rows),
        "*Oracle*: recall with thresholds set on the negatives of the test itself, which nobody has in advance.",
        _recall_table(rows, lambda point: point["oracle"]),
        *_others(result),
    ]
    for pair in result["paired"]:
        parts += _pair(pair, snr)
    parts += _errors(result["errors"], settings)
    parts += _learning_curve(rows)
    return parts


def _sides(result: Mapping[str, Any]) -> str:
    validation, test = result["sides"]["validation"], result["sides"]["test"]
    share = result["dealing"]
    hours = validation["background"]["hours"]
    rates = [target for target in TARGETS if target.kind is RateKind.FA_PER_HOUR]
    allowed = "; ".join(
        f"{target.value:g} FA/h allows {allowed_at_rate(hours, target.value)} in the {hours:.2f} h of validation"
        for target in rates
    )
    published = "S" if share["split"] == "dealt" else "Speech Commands is split as published; other s"
    kept = " Every recorded positive is kept for the test." if share["hold_out_recorded"] else ""
    return (
        f"Validation: {_counted(validation)}. Test: {_counted(test)}; {result['sides']['noise']} sounds for the noise. "
        f"{published}peakers are dealt, {100 * share['validation_share']:g} % to validation and "
        f"{100 * share['test_share']:g} % to the test.{kept} {allowed}."
    )


def _counted(side: Mapping[str, Any]) -> str:
    return (
        f"{side['positives']['clips']} recorded positives of {side['positives']['speakers']} speakers, "
        f"{side['generic']['clips']} other words of {side['generic']['speakers']} speakers, "
        f"{side['close']['clips']} close words ({side['close']['words']} texts, {side['close']['speakers']} voices), "
        f"{side['background']['hours']:.2f} h of speech by {side['background']['speakers']} readers"
    )


def _heading(target: Target) -> str:
    return f"{100 * target.value:g} % FPR" if target.kind is RateKind.FPR else f"{target.value:g} FA/h"


def _recall_table(rows: Sequence[Row], part: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> str:
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


def _rates_table(rows: Sequence[Row]) -> str:
    header = ["", "target", "threshold", "FPR other words, %", "FPR close words, %", "FPR mixed, %", "FA/h"]
    lines = []
    for row in rows:
        for target in TARGETS:
            point = row["points"][target.name]
            heard = point["false_accepts_per_hour"]
            lines.append(
                [
                    row["name"],
                    _heading(target),
                    f"{point['threshold']:.4f}" + ("*" if point["saturated"] else ""),
                    _percent(point["generic"]),
                    _percent(point["close"]),
                    f"{100 * point['mixed']:.1f}",
                    f"{heard['value']:.1f} [{heard['low']:.1f}, {heard['high']:.1f}] "
                    f"({heard['count']} in {heard['trials']:.2f} h)",
                ]
            )
    told = "\n\n\\* more negatives of the validation than the target allows share the highest score; the threshold"
    any_saturated = any(point["saturated"] for row in rows for point in row["points"].values())
    return markdown_table(header, lines) + (f"{told} lies above it." if any_saturated else "")


def _others(result: Mapping[str, Any]) -> list[str]:
    parts = []
    unlike = [row["name"] for row in result["contenders"] if row.get("same_background") is False]
    if unlike:
        parts.append(
            f"The long recordings on the validation side of {', '.join(unlike)} were others by its card: what is the test "
            "side here may have been heard in its training."
        )
    if result["absent"]:
        listed = "; ".join(f"{name}: {reason}" for name, reason in result["absent"].items())
        parts.append(f"Engines that are not in the tables: {listed}.")
    if result["elsewhere"]:
        parts.append(result["elsewhere"])
    return parts


def _pair(pair: Mapping[str, Any], snr: str) -> list[str]:
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
        f"### {pair['first']} against {pair['second']}",
        "The same seed and the same positives, another method. Recordings that only one of the two finds, each at its own "
        "threshold, and the exact McNemar test: how likely so uneven a split would be, were the two equally good.",
        markdown_table(["target", "", "clips", f"only {pair['first']}", f"only {pair['second']}", "p"], lines),
    ]


def _errors(found: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
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
        f"### Errors of {found['name']} at {settings['errors_at']}",
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


def _learning_curve(rows: Sequence[Row]) -> list[str]:
    """A table for each method whose models differ in the number of recordings that they were trained on."""
    tables = []
    for method in distinct(rows, "method"):
        known = [row for row in select(rows, method=method) if row["recorded"] is not None]
        of_method = sorted(known, key=lambda row: (row["recorded"], row["name"]))
        if len(distinct(of_method, "recorded")) < 2:
            continue
        tables.append(
            markdown_table(
                [f"{method}: recorded positives in training", "seed", *map(_heading, TARGETS)],
                [
                    [row["recorded"], row["seed"], *(_clean_and_noisy(row["points"][t.name]) for t in TARGETS)]
                    for row in of_method
                ],
            )
        )
    if not tables:
        return []
    told = "Recall in per cent, clean / noisy, against the recordings trained on."
    if any(row.get("encoder") for row in rows):
        told += (
            " The encoder that training began with is not counted: unless it left this word out, its own teaching heard "
            "recordings of it on the train side."
        )
    return ["### Learning curve", told, *tables]
