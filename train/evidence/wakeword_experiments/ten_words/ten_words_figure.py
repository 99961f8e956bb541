"""The picture: the gain of each method over cross-entropy, word by word, with both intervals."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from wakeword_experiments.one_class.one_class_figures import COLOURS
from wakeword_experiments.ten_words.effects import Effect
from wakeword_experiments.ten_words.ten_words_plan import METHODS


def forest(gains: Sequence[Effect], over_all: Mapping[str, tuple[float, float]]) -> Figure:
    """A line for each of ``gains``: words as dots, the mean, the interval over words, and thinly that ``over_all``."""
    figure = Figure(figsize=(6.4, 0.7 * len(gains) + 1.0), layout="constrained")
    axes = figure.subplots()
    names = [METHODS[one.better.method] for one in gains]
    for place, (name, one) in enumerate(zip(names, gains, strict=True)):
        colour = COLOURS[place % len(COLOURS)]
        axes.plot(over_all[name], [place, place], color=colour, linewidth=0.9)
        axes.plot([one.low, one.high], [place, place], color=colour, linewidth=3.5, solid_capstyle="butt")
        axes.plot(one.mean, place, "D", color=colour, markersize=6, markeredgecolor="white")
        dots = np.fromiter(one.gains.values(), np.float64)
        axes.plot(dots, np.full(len(dots), place - 0.25), ".", color=colour, markersize=5, alpha=0.6)
    axes.axvline(0, color="#444444", linewidth=0.8)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel(
        "points of recall more than cross-entropy at 3 % mixed false positives\n"
        "(dots: words; thick: 95 % over words; thin: 95 % over words, speakers and seeds)",
        fontsize=9,
    )
    axes.tick_params(labelsize=8)
    axes.grid(axis="x", color="#e3e3e0", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    return figure
