"""The page of accuracy of one word, with every table: every number on it comes from the record of the measurement."""

from collections.abc import Mapping
from typing import Any

from wakeword_experiments.accuracy.measures import TARGETS
from wakeword_experiments.accuracy.tables import error_tables, learning_curve, paired_table, rates_table, recall_table
from wakeword_tools.measure.rates import RateKind
from wakeword_tools.measure.thresholds import allowed_at_rate


def page_name(keyword: str) -> str:
    """The file name of a word's page, without its folder."""
    return f"{'-'.join(keyword.split())}.md"


def snr_of(record: Mapping[str, Any]) -> str:
    """The ratio of the noisy condition as text."""
    return f"{record['settings']['snr']:g} dB"


def made(record: Mapping[str, Any]) -> str:
    """The sentence that says with what the record was made, and when."""
    packages = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    by = f"Made by `{record['command']}` on {record['date']}" if "command" in record else f"Made on {record['date']}"
    return f"{by} with {packages}."


def word_page(result: Mapping[str, Any], record: Mapping[str, Any], *, figures: str, summary: str) -> str:
    """The page in Markdown: ``result`` is the word's part of ``record``.

    ``figures`` is where the record lies and ``summary`` the page for users, as seen from the page.
    """
    settings = record["settings"]
    rows = result["contenders"]
    snr = snr_of(record)
    parts = [
        f'# Accuracy of "{result["keyword"]}"',
        f"[Accuracy]({summary}) says how it was measured, and what the terms mean.",
        _sides(result),
        f"Recall in per cent, clean / at {snr}, with thresholds from validation:",
        recall_table(rows, lambda point: point),
        "What those thresholds gave on the test side:",
        rates_table(rows),
        "*Oracle*: recall with thresholds set on the negatives of the test itself, which nobody has in advance.",
        recall_table(rows, lambda point: point["oracle"]),
        *_others(result),
    ]
    for pair in result["paired"]:
        parts += paired_table(pair, snr)
    parts += error_tables(result["errors"], settings)
    parts += learning_curve(rows)
    parts.append(f"{made(record)} Every figure: [{figures.rpartition('/')[2]}]({figures}).")
    return "\n\n".join(parts) + "\n"


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
