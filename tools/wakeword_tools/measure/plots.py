"""One figure of models' performance: ROC, DET, recall against false accepts an hour, and histograms of scores."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from wakeword.base.files import replacing
from wakeword.base.types import Scores
from wakeword_tools.measure.scores import ScoreSet, events_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HIGHEST_FPR = 0.2
_HIGHEST_RATE = 100.0
_GRID = 400
_COLORS = ("C3", "C4", "C5", "C6", "C8", "C9")
"""Colours of operating points."""
_RATES = (1e-3, 0.01, 0.05, 0.1, 0.2, 0.5, 0.8, 0.9, 0.95, 0.99)


def draw(
    path: Path, models: Mapping[str, ScoreSet], *, thresholds: Mapping[str, float] | None = None, title: str = ""
) -> None:
    """Write a PNG of four panels, atomically. ``models``: label -> scores; ``thresholds`` of the first one are marked.

    Panels without data show "not measured".
    """
    # The object interface draws without a display and without touching the user's settings.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 8), layout="constrained")
    FigureCanvasAgg(figure)
    roc, det, rate, histogram = figure.subplots(2, 2).flat
    figure.suptitle(title)
    first = next(iter(models.values()))
    for label, scores in models.items():
        _roc(roc, label, scores)
        _det(det, label, scores)
        _recall_by_rate(rate, label, scores)
    for (name, threshold), color in zip((thresholds or {}).items(), _COLORS, strict=False):
        _mark(roc, rate, name, threshold, first, color=color)
    _finish(roc, "ROC (points: dots on negatives, squares on near negatives)", "false positive rate", "recall")
    _finish(det, "DET", "false positive rate", "miss rate")
    _finish(rate, f"false accepts in {first.hours:.2f} h of background", "false accepts an hour", "recall")
    _histograms(histogram, first, thresholds or {}, next(iter(models)) if len(models) > 1 else "")
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=110, format="png")


def _finish(axes: "Axes", title: str, x: str, y: str, *, columns: int = 1) -> None:
    axes.set(title=title, xlabel=x, ylabel=y)
    axes.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8, ncols=columns, loc="upper left" if columns > 1 else "best")
    else:
        axes.text(0.5, 0.5, "not measured", transform=axes.transAxes, ha="center")


def rates_of(scores: ScoreSet, groups: Sequence[Scores]) -> tuple[Scores, Scores]:
    """The mean false positive rate of the groups of negatives, each ``(n,)``, and the recall, at every threshold that
    matters, highest first, both ``(thresholds,)``."""
    thresholds = np.unique(np.concatenate([scores.positives, *groups]))[::-1]
    fpr = np.mean([1 - np.searchsorted(np.sort(group), thresholds) / len(group) for group in groups], axis=0)
    recall = 1 - np.searchsorted(np.sort(scores.positives), thresholds) / len(scores.positives)
    return np.concatenate([[0.0], fpr]), np.concatenate([[0.0], recall])


def _roc(axes: "Axes", label: str, scores: ScoreSet) -> None:
    for name, negatives, style in (
        ("negatives", scores.negatives, "-"),
        ("near negatives", scores.near_negatives, "--"),
    ):
        if len(negatives):
            axes.step(*rates_of(scores, [negatives]), where="post", ls=style, label=f"{label} {name}".strip())
    axes.set(xlim=(0, _HIGHEST_FPR), ylim=(0, 1.02))


def _det(axes: "Axes", label: str, scores: ScoreSet) -> None:
    """Both rates on the scale of the normal deviate (Martin et al., "The DET curve", Eurospeech 1997)."""
    if not scores.groups:
        return
    fpr, recall = rates_of(scores, scores.groups)
    inside = (fpr > 0) & (fpr < 1) & (recall > 0) & (recall < 1)
    axes.plot(stats.norm.ppf(fpr[inside]), stats.norm.ppf(1 - recall[inside]), label=f"{label} all negatives".strip())
    ticks = stats.norm.ppf(_RATES)
    names = [f"{100 * value:g} %" for value in _RATES]
    axes.set_xticks(ticks, names, fontsize=7)
    axes.set_yticks(ticks, names, fontsize=7)
    # From 0.1 %, as usual sets have too few clips to show lower rates.
    axes.set(xlim=(ticks[0], ticks[6]), ylim=(ticks[0], ticks[-2]))


def _recall_by_rate(axes: "Axes", label: str, scores: ScoreSet) -> None:
    if not scores.hours:
        return
    # Recall changes only at the scores of positives; a score can be 0, but a threshold cannot.
    levels = np.unique(scores.positives[scores.positives > 0])[::-1]
    rates, recalls = [0.0], [0.0]
    for level in levels[:: max(1, len(levels) // _GRID)].tolist():
        rates.append(max(rates[-1], events_at(scores.streams, level) / scores.hours))
        recalls.append(float(np.mean(scores.positives >= level)))
        if rates[-1] > _HIGHEST_RATE:
            break
    axes.step(rates, recalls, where="post", label=label or "all positives")
    # Linear below one event in all of the background.
    axes.set_xscale("symlog", linthresh=1 / scores.hours)
    axes.set(ylim=(0, 1.02), xlim=(0, _HIGHEST_RATE))


def _mark(roc: "Axes", rate: "Axes", name: str, threshold: float, scores: ScoreSet, *, color: str) -> None:
    recall = float(np.mean(scores.positives >= threshold))
    for negatives, marker in ((scores.negatives, "o"), (scores.near_negatives, "s")):
        if len(negatives):
            label = name if marker == "o" or not len(scores.negatives) else None
            roc.plot(float(np.mean(negatives >= threshold)), recall, marker, color=color, ms=5, label=label)
    if scores.hours:
        rate.plot(events_at(scores.streams, threshold) / scores.hours, recall, "o", color=color, ms=5, label=name)


def _histograms(axes: "Axes", scores: ScoreSet, thresholds: Mapping[str, float], label: str) -> None:
    groups: dict[str, Scores | list[float]] = {
        "positives": scores.positives,
        "near negatives": scores.near_negatives,
        "negatives": scores.negatives,
        # The best of each second, as all windows of a stream would hide the other groups.
        "background, best of each second": [
            float(stream[i : i + 12].max()) for stream in scores.streams for i in range(0, len(stream), 12)
        ],
    }
    some = {name: _log_odds(np.asarray(values)) for name, values in groups.items() if len(values)}
    everything = np.concatenate(list(some.values()))
    bins = np.linspace(float(everything.min()), float(everything.max()) + 1e-9, 50)
    for (name, values), color in zip(some.items(), ("C0", "C1", "C2", "0.4"), strict=False):
        weights = np.full(len(values), 1 / len(values))
        axes.hist(values, bins.tolist(), weights=weights, histtype="step", color=color, label=name)
    for (name, threshold), color in zip(thresholds.items(), _COLORS, strict=False):
        axes.axvline(float(_log_odds(np.array([threshold]))[0]), color=color, lw=1.2, ls="--", label=name)
    axes.set_yscale("log")
    # Room for the legend, which would otherwise hide the curves.
    axes.set_ylim(top=30)
    _finish(axes, f"scores {label}".strip(), "score in log odds", "share of the group", columns=2)


def _log_odds(scores: Scores) -> Scores:
    clipped = np.clip(scores, 1e-12, 1 - 1e-12)
    odds: Scores = np.log(clipped) - np.log1p(-clipped)
    return odds
