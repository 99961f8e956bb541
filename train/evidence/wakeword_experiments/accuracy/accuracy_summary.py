"""The page of accuracy for users: the shipped models compared, what the figures mean and which threshold to take.

Every number on it comes from the records of the measurements.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wakeword_experiments.accuracy.accuracy_page import INDEX, made, note_of, page_name, snr_of
from wakeword_experiments.accuracy.measures import TARGETS
from wakeword_experiments.figures_report import markdown_table
from wakeword_tools.measure.rates import RateKind, Target

Record = Mapping[str, Any]


@dataclass(frozen=True)
class _Outcome:
    """What a model does at one threshold on the test split: rates from 0 to 1, and events in hours."""

    clean: float
    noisy: float
    other_words: float
    close_words: float
    false_accepts: int
    hours: float


def summary_page(record: Record, *, figures: str, words: str, folds: Mapping[str, Record], notes: str = "") -> str:
    """The page in Markdown.

    ``figures`` is the path of the record, ``words`` that of the folder of the words' pages and ``notes`` that of the
    hand-written notes, all relative to the page. ``folds`` has a record of ``measure_folds`` for each word whose shipped
    model can only be measured that way; its first method is that of the shipped model.
    """
    keywords = record["keywords"]
    snr = snr_of(record)
    outcomes = {one["keyword"]: _shipped(one, folds.get(one["keyword"])) for one in keywords}
    parts = [
        f"# {record['title']}",
        *note_of(record),
        "Recall is the share of recordings of the word that a shipped model finds, which it was not trained on: as "
        f"recorded / with noise at {snr}. Thresholds come from validation recordings. Of marvin, seven and stop the people "
        "are others than those of training; of alexa, computer and jarvis they are not (below).",
        recall_overview(keywords, outcomes, folds),
        *(_by_folds(keyword, one, figures) for keyword, one in folds.items()),
        "False alarms at the same thresholds, on recordings that were not used to set them: close words that fire / other "
        "words that fire / false accepts.",
        _alarms(outcomes),
        _COLUMNS.format(snr=snr),
        _CHOICE,
        _LIMITS.format(hours=f"{min(_background(one, 'validation') for one in keywords):.2f}"),
        *_peers(keywords),
        _links(keywords, figures, words, notes),
        made(record),
    ]
    return "\n\n".join(parts) + "\n"


def recall_overview(
    keywords: Sequence[Record], outcomes: Mapping[str, Sequence[_Outcome]], folds: Mapping[str, Record]
) -> str:
    """Recall, clean / noisy, of the shipped model of each word by target."""
    return markdown_table(
        ["", "recordings", *map(_heading, TARGETS)],
        [
            [
                one["keyword"] + (", by folds" if one["keyword"] in folds else ""),
                one["sides"]["test"]["positives"]["clips"],
                *(f"{100 * at.clean:.0f} / {100 * at.noisy:.0f} %" for at in outcomes[one["keyword"]]),
            ]
            for one in keywords
        ],
    )


def _alarms(outcomes: Mapping[str, Sequence[_Outcome]]) -> str:
    return markdown_table(
        ["", *map(_heading, TARGETS)],
        [
            [
                keyword,
                *(
                    f"{100 * at.close_words:.1f} % / {100 * at.other_words:.1f} % / {at.false_accepts} in {at.hours:.2f} h"
                    for at in found
                ),
            ]
            for keyword, found in outcomes.items()
        ],
    )


def _peers(keywords: Sequence[Record]) -> list[str]:
    """The shipped models and other engines' models of the same word; nothing if there are none."""
    lines = [
        [
            one["keyword"],
            f"wakeword ({row['method']})" if row["ours"] else row["name"],
            *(
                f"{100 * at.clean:.1f} / {100 * at.noisy:.1f} %; {100 * at.close_words:.1f} %; {at.false_accepts}"
                for at in _outcomes(row)
            ),
        ]
        for one in keywords
        if any(not row["ours"] for row in one["contenders"])
        for row in [one["contenders"][0], *(row for row in one["contenders"] if not row["ours"])]
    ]
    if not lines:
        return []
    return [
        "## Other engines",
        "Words of which another engine has a model, on the same recordings and by the same rules: recall; close words "
        "that fire; false accepts in the speech of the test.",
        "What each side was trained on differs. Ours heard recordings of the collection that the test is from, most people "
        "of the test among them where they have no names, close words of the generator and the speech engines that made "
        "those of the test (in other texts and voices), and other readers of the corpus of the false accepts. What theirs "
        "heard is not published: any of this, or none. So ours are at home here, and a gap in the table is no gap in a "
        "user's room.",
        markdown_table(["", "engine", *map(_heading, TARGETS)], lines),
    ]


def _heading(target: Target) -> str:
    return f"{100 * target.value:g} % mixed" if target.kind is RateKind.FPR else f"{target.value:g} FA/h"


def _shipped(result: Record, folds: Record | None) -> list[_Outcome]:
    """Outcomes by target: of the word's first model, or of its recipe by folds."""
    if folds is None:
        return _outcomes(result["contenders"][0])
    return [
        _Outcome(
            clean=row["clean"][0] / row["clean"][1],
            noisy=row["noisy"][0] / row["noisy"][1],
            other_words=row["generic"],
            close_words=row["close"],
            false_accepts=row["false_accepts"],
            hours=row["hours"],
        )
        for row in folds["methods"][0]["targets"]
    ]


def _outcomes(contender: Record) -> list[_Outcome]:
    points = [contender["points"][target.name] for target in TARGETS]
    return [
        _Outcome(
            clean=point["clean"]["value"],
            noisy=point["noisy"]["value"],
            other_words=point["generic"]["value"],
            close_words=point["close"]["value"],
            false_accepts=point["false_accepts_per_hour"]["count"],
            hours=point["false_accepts_per_hour"]["trials"],
        )
        for point in points
    ]


def _links(keywords: Sequence[Record], figures: str, words: str, notes: str) -> str:
    listed = ", ".join(f"[{one['keyword']}]({words}/{page_name(one['keyword'])})" for one in keywords)
    tried = f" [Notes]({notes}): what was tried, what helped and what did not." if notes else ""
    return (
        f"[How it was measured]({words}/{INDEX}). Every table, by word: {listed}. Every figure: "
        f"[{figures.rpartition('/')[2]}]({figures}).{tried}"
    )


def _background(result: Record, split: str) -> float:
    hours: float = result["sides"][split]["background"]["hours"]
    return hours


def _by_folds(keyword: str, record: Record, figures: str) -> str:
    page = figures.rpartition("/")[0] + f"/folds-{page_name(keyword)}"
    return (
        f'So few people say "{keyword}" in the recordings that its recipe was measured instead of the model: '
        f"{record['folds']} models, each tested on the people that it was not trained on ([folds]({page.lstrip('/')}))."
    )


_COLUMNS = """## What the columns mean

- **3 % mixed, 5 % mixed**: the threshold lets 3 or 5 % of the validation negatives pass. The rate is the mean of two: that
  of recorded *other words*, and that of *close words*, which are synthesised and sound like the keyword.
- **0.5 FA/h**: the threshold for half a false accept an hour in continuous speech without the word.
- **Noise**: sounds mixed in {snr} below the word. The thresholds are the same.

The operating points in the models were chosen during training. `fa_per_hour=0.5`, the default of `wakeword listen`, has
nearly the threshold of the last column. `fpr=0.03` and `fpr=0.05` are the mean of the two kinds too, in models that are
trained or calibrated now; in the included ones they still count all negatives together, of which close words are a third:
their thresholds are lower, so they find more words and fire on more close words than the columns here."""

_CHOICE = """## Which threshold to take

- A device that listens all day: the default, `fa_per_hour=0.5`.
- Where a false alarm costs little: `--point fpr=0.05`, which finds more words.
- Better than either: [calibrate](../../../docs/calibration.md) on hours of sound from your own rooms. If the model misses
  you, [fine-tune it on your own voice](../../../docs/enrolment.md)."""

_LIMITS = """## Limits

- Same people: recordings of alexa, computer and jarvis have no names of speakers, and each file was dealt as a person of
  its own. Some fifty people say these words several times, so most of those of the test are also in training, and the
  figures of these three words are of known voices. [Groups of voices](voice-groups.md) has the share; the included models
  are trained and measured by voice.
- Few people: the pages of the words give a 95 % interval with every figure, and of 15 recordings it spans 40 points.
- Few hours: the {hours} h of speech on the validation split are too few to set a threshold for half a false accept an hour.
- Strangers: on 4.9 h of other people's speech, with children and second-language speakers, the default points fire 2 to 40
  times an hour ([false accepts in the speech of strangers](strangers.md)).
- Read speech, and noise mixed in afterwards: television, distance and echo were not measured.
- One training run of each model."""
