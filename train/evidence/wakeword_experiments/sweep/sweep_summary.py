"""The rows of a sweep in one table and one figure, and the best setting with its interval."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wakeword.base.files import replacing
from wakeword.base.text import cell
from wakeword_experiments.sweep.sweep_work import Trained
from wakeword_tools.measure.intervals import clopper_pearson


@dataclass(frozen=True)
class Summary:
    """A setting over all words and seeds."""

    setting: str
    trainings: int
    score: float
    """Mean over words of the mean over seeds."""
    low: float
    high: float
    """95 % interval of a recall of this size on the validation clips of all words, once: further seeds add no clips."""
    lowest: float
    highest: float
    """Of all trainings."""


def summaries(rows: Sequence[Trained]) -> list[Summary]:
    """A summary of each setting whose trainings all succeeded, the best first; of equals the first in the file."""
    found = []
    for setting in dict.fromkeys(row.setting for row in rows):
        own = [row for row in rows if row.setting == setting]
        if any(row.error for row in own):
            continue
        words = list(dict.fromkeys(row.word for row in own))
        of_words = [[row for row in own if row.word == word] for word in words]
        score = sum(sum(row.score for row in some) / len(some) for some in of_words) / len(words)
        clips = sum(some[0].positives for some in of_words)
        low, high = clopper_pearson(min(score, 1.0) * clips, clips)
        scores = [row.score for row in own]
        found.append(Summary(setting, len(own), score, low, high, min(scores), max(scores)))
    return sorted(found, key=lambda one: -one.score)


def verdict(ranked: Sequence[Summary]) -> str:
    """A line about the best setting, and about those that validation cannot tell from it."""
    best, *others = ranked
    line = f"best by validation: {best.setting}, {best.score:.3f} ({best.low:.3f} to {best.high:.3f})"
    close = [one.setting for one in others if one.score >= best.low]
    return f"{line}; inside its interval too: {', '.join(close)}" if close else line


def write_table(path: Path, rows: Sequence[Trained]) -> None:
    """Every training as a line of CSV."""
    recalls = list(dict.fromkeys(name for row in rows for name in row.recall))
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(
            [
                "word",
                "setting",
                "seed",
                "score",
                *(f"recall {name}" for name in recalls),
                "positives",
                "epoch",
                "model",
                "error",
            ]
        )
        for row in rows:
            figures = [f"{row.recall[name]:.6f}" if name in row.recall else "" for name in recalls]
            score = "" if row.error else f"{row.score:.6f}"
            texts = [cell(row.word), cell(row.setting), row.seed, score, *figures]
            table.writerow([*texts, row.positives, row.epoch, cell(row.model), cell(row.error or "")])


def draw_figure(path: Path, rows: Sequence[Trained], ranked: Sequence[Summary]) -> None:
    """Each setting's mean with its interval, and every training as a point. PNG."""
    # The object interface draws without a display and without touching the user's settings.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 1.5 + 0.5 * len(ranked)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    words = list(dict.fromkeys(row.word for row in rows))
    for place, one in enumerate(reversed(ranked)):
        axes.errorbar(
            one.score,
            place,
            xerr=[[max(0.0, one.score - one.low)], [max(0.0, one.high - one.score)]],
            fmt="s",
            color="0.3",
        )
        for number, word in enumerate(words):
            scores = [row.score for row in rows if row.setting == one.setting and row.word == word]
            label = word if place == 0 else None
            axes.plot(scores, [place + 0.2] * len(scores), "o", color=f"C{number % 10}", ms=4, alpha=0.7, label=label)
    axes.set_yticks(range(len(ranked)), [one.setting for one in reversed(ranked)])
    axes.set_xlabel("validation score; the bar is the 95 % interval of the mean")
    axes.legend(fontsize="small")
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=120, format="png")
