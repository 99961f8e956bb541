"""The pages of accuracy with every table: how it was measured, and a page of each word.

Every number on them comes from the record of the measurement.
"""

from collections.abc import Mapping
from typing import Any

from wakeword_experiments.accuracy.accuracy_tables import (
    error_tables,
    learning_curve,
    paired_table,
    rates_table,
    recall_table,
)
from wakeword_experiments.accuracy.measures import TARGETS
from wakeword_tools.measure.rates import RateKind
from wakeword_tools.measure.thresholds import allowed_at_rate

INDEX = "README.md"
"""The page on how it was measured, in the folder of the words' pages."""

_PROTOCOL = """\
- **Splits.** Recordings are dealt by speaker into train, validation and test exactly as the model's training dealt them;
  its card has the shares. A recording without a speaker's name counts as a separate speaker; copies of one recording
  count once. Alexa, computer and jarvis have no names, so people of their test were heard in training
  ([how many](../voice-groups.md)); the intervals treat their clips as independent, which they are not.
- **Thresholds** are chosen on the validation split alone, and rates are reported on the test split alone. A false positive
  rate (FPR) is the mean of that of *other words* (recorded) and that of *close words* (synthesised words that sound like
  the keyword), regardless of the numbers of clips. False accepts an hour (FA/h) are counted as the detector counts them,
  in read speech without the word.
- **Close words** are spoken by espeak-ng, and by flite where it is installed: {clips} clips in each split, in texts and
  voices of that split only.
- **Recall** is of recorded positives only, never of synthetic ones. A clip is scored from a fresh state with a second of
  its own noise floor before and after it, and its score is the highest in that time. *Noisy* is the same clip with sounds
  of the test split mixed in, {snr} below its word; the thresholds are the same.
- **Other engines** process the same samples under the same rules. For engines that score more often than every {hop}, the
  best score of each {hop} counts, so that events are counted on one grid.
- **Brackets** are exact 95 % intervals: Clopper and Pearson's for clips, Garwood's for events an hour. They hold for the
  clips at a given threshold. The rates on the test show how far off the threshold itself is, which was estimated from the
  validation clips.
"""


def page_name(keyword: str) -> str:
    """The file name of a word's page, without its folder."""
    return f"{'-'.join(keyword.split())}.md"


def snr_of(record: Mapping[str, Any]) -> str:
    """The ratio of the noisy condition as text."""
    return f"{record['settings']['snr']:g} dB"


def note_of(record: Mapping[str, Any]) -> list[str]:
    """What a reader must know of the measured models before anything else, if the record says it."""
    return [record["note"]] if "note" in record else []


def made(record: Mapping[str, Any]) -> str:
    """The sentence on how and when the record was made."""
    packages = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    by = f"Made by `{record['command']}` on {record['date']}" if "command" in record else f"Made on {record['date']}"
    return f"{by} with {packages}."


def index_page(record: Mapping[str, Any], *, summary: str) -> str:
    """How it was measured, with links to the words' pages; ``summary`` is the page for users, as seen from here."""
    words = [f"- [{one['keyword']}]({page_name(one['keyword'])})" for one in record["keywords"]]
    # Records without a hop were made with one of 80 ms.
    hop = f"{record['settings'].get('hop_ms', 80):g} ms"
    protocol = _PROTOCOL.format(clips=record["settings"]["near_clips"], snr=snr_of(record), hop=hop)
    head = ["# How accuracy was measured", "", *(line for note in note_of(record) for line in (note, ""))]
    return "\n".join([*head, protocol, f"[Accuracy]({summary}) is the summary. Every table, by word:", "", *words, ""])


def word_page(result: Mapping[str, Any], record: Mapping[str, Any], *, figures: str) -> str:
    """The page in Markdown: ``result`` is the word's part of ``record``, ``figures`` the relative path of the record."""
    settings = record["settings"]
    rows = result["contenders"]
    snr = snr_of(record)
    parts = [
        f'# Accuracy of "{result["keyword"]}"',
        f"[How it was measured, and what the terms mean]({INDEX}).",
        _splits(result),
        f"Recall in per cent, clean / at {snr}, with thresholds from validation:",
        recall_table(rows, lambda point: point),
        "What those thresholds gave on the test split:",
        rates_table(rows),
        "*Oracle*: recall with thresholds set on the negatives of the test itself, which are not known in advance.",
        recall_table(rows, lambda point: point["oracle"]),
        *_others(result),
    ]
    for pair in result["paired"]:
        parts += paired_table(pair, snr)
    parts += error_tables(result["errors"], settings)
    parts += learning_curve(rows)
    parts.append(f"{made(record)} Every figure: [{figures.rpartition('/')[2]}]({figures}).")
    return "\n\n".join(parts) + "\n"


def _splits(result: Mapping[str, Any]) -> str:
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


def _counted(split: Mapping[str, Any]) -> str:
    return (
        f"{split['positives']['clips']} recorded positives of {split['positives']['speakers']} speakers, "
        f"{split['generic']['clips']} other words of {split['generic']['speakers']} speakers, "
        f"{split['close']['clips']} close words ({split['close']['words']} texts, {split['close']['speakers']} voices), "
        f"{split['background']['hours']:.2f} h of speech by {split['background']['speakers']} readers"
    )


def _others(result: Mapping[str, Any]) -> list[str]:
    parts = []
    unlike = [row["name"] for row in result["contenders"] if row.get("same_background") is False]
    if unlike:
        parts.append(
            f"According to the cards, {', '.join(unlike)} had other long recordings in the validation split: the test "
            "split here may have been part of their training."
        )
    if result["absent"]:
        listed = "; ".join(f"{name}: {reason}" for name, reason in result["absent"].items())
        parts.append(f"Engines not in the tables: {listed}.")
    if result["elsewhere"]:
        parts.append(result["elsewhere"])
    return parts
