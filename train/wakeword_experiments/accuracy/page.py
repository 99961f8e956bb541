"""The pages of accuracy with every table: how it was measured, and a page of each word.

Every number on them comes from the record of the measurement.
"""

from collections.abc import Mapping
from typing import Any

from wakeword_experiments.accuracy.measures import TARGETS
from wakeword_experiments.accuracy.tables import error_tables, learning_curve, paired_table, rates_table, recall_table
from wakeword_tools.measure.rates import RateKind
from wakeword_tools.measure.thresholds import allowed_at_rate

INDEX = "README.md"
"""The page on how it was measured, beside those of the words."""

_PROTOCOL = """# How accuracy was measured

- **Splits.** Recordings are dealt by speaker into train, validation and test exactly as the model's training dealt them;
  its card has the shares. A recording without a speaker's name counts as a speaker of its own; copies of one recording
  count once.
- **Thresholds** are chosen on the validation split alone, and rates are reported on the test split alone. A false positive
  rate (FPR) is the mean of that of *other words* (recorded) and that of *close words* (synthesised words that sound like
  the keyword), one half each whatever the number of clips. False accepts an hour (FA/h) are counted as the detector
  counts them, in read speech without the word.
- **Close words** are spoken by espeak-ng, and by flite where it is installed: {clips} clips in each split, in texts and
  voices of that split only.
- **Recall** is of recorded positives only, never of synthetic ones. A clip is heard from a fresh state with a second of its
  own noise floor before it and after it, and its score is the best of all that come within. *Noisy* is the same clip with
  sounds of the test split mixed in, {snr} under its word; thresholds stay as they are.
- **Other engines** hear the same samples under the same rules. Engines that score more often than every 80 ms give the best
  score of each 80 ms, so that events are counted on one grid.
- **Brackets** are exact 95 % intervals: Clopper and Pearson's for clips, Garwood's for events an hour. They hold for the
  clips at a given threshold. How far the threshold itself is off, which rests on so many validation clips, shows in the
  rates that it gave on the test.
"""


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


def index_page(record: Mapping[str, Any], *, summary: str) -> str:
    """How it was measured, with links to the words' pages; ``summary`` is the page for users, as seen from here."""
    words = [f"- [{one['keyword']}]({page_name(one['keyword'])})" for one in record["keywords"]]
    protocol = _PROTOCOL.format(clips=record["settings"]["near_clips"], snr=snr_of(record))
    return "\n".join([protocol, f"[Accuracy]({summary}) sums it up. Every table, by word:", "", *words, ""])


def word_page(result: Mapping[str, Any], record: Mapping[str, Any], *, figures: str) -> str:
    """The page in Markdown: ``result`` is the word's part of ``record``, and ``figures`` where that lies from here."""
    settings = record["settings"]
    rows = result["contenders"]
    snr = snr_of(record)
    parts = [
        f'# Accuracy of "{result["keyword"]}"',
        f"[How it was measured, and what the terms mean]({INDEX}).",
        _sides(result),
        f"Recall in per cent, clean / at {snr}, with thresholds from validation:",
        recall_table(rows, lambda point: point),
        "What those thresholds gave on the test split:",
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
            f"By its card the long recordings in the validation split of {', '.join(unlike)} were others: what is the test "
            "split here may have been heard in its training."
        )
    if result["absent"]:
        listed = "; ".join(f"{name}: {reason}" for name, reason in result["absent"].items())
        parts.append(f"Engines that are not in the tables: {listed}.")
    if result["elsewhere"]:
        parts.append(result["elsewhere"])
    return parts
