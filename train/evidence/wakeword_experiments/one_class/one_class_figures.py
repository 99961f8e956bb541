"""Pictures of the experiments, drawn without pyplot's global state."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from wakeword_experiments.figures_report import Row, distinct, mean_and_spread, select
from wakeword_experiments.one_class.fitted import Points, Scorer

_ACCEPTED, _REJECTED = "#c9def2", "#f7f7f5"
_LINE, _POINTS = "#1f4e79", "#d98c21"
COLOURS = ("#1f4e79", "#c8553d", "#3a8f63", "#8a5fa8", "#7a7a7a", "#d98c21", "#4c9fb5")


def boundaries(
    scorers: Mapping[str, Scorer],
    train: Points,
    positives: Points,
    *,
    titles: Mapping[str, str],
    reach: float = 2.0,
    lift: int = 0,
    accept: float = 0.95,
    columns: int = 3,
) -> Figure:
    """The region that each method accepts in the plane of the first two coordinates, one panel per method.

    The threshold accepts a share ``accept`` of ``positives`` ``(n, 2 + lift)``. On the map the other ``lift`` coordinates
    are 0.
    """
    span = float(np.abs(train[:, 0]).max()) * 1.05
    x, y = np.meshgrid(np.linspace(-span, span, 321), np.linspace(-reach, reach, 161))
    flat = np.stack([x.ravel(), y.ravel()], axis=1)
    grid = np.concatenate([flat, np.zeros((len(flat), lift))], axis=1).astype(np.float32)
    figure, panels = _panels(len(scorers), width=4.2, height=2.2, columns=columns)
    for axes, (name, scorer) in zip(panels, scorers.items(), strict=False):
        threshold = float(np.quantile(scorer(positives), 1 - accept))
        accepted = (scorer(grid) >= threshold).reshape(x.shape).astype(float)
        axes.contourf(x, y, accepted, levels=[-0.5, 0.5, 1.5], cmap=ListedColormap([_REJECTED, _ACCEPTED]))
        axes.contour(x, y, accepted, levels=[0.5], colors=_LINE, linewidths=0.8)
        axes.plot(train[:, 0], train[:, 1], ".", color=_POINTS, markersize=1.2, rasterized=True)
        axes.set_title(titles.get(name, name), fontsize=10)
        axes.set_xlim(-span, span)
        axes.set_ylim(-reach, reach)
        axes.tick_params(labelsize=7)
    return figure


def curves(rows: Sequence[Row], *, x: str, value: str, line: str, x_label: str, value_label: str) -> Figure:
    """Mean and standard deviation over seeds of ``value`` against ``x``: a curve for each ``line``."""
    figure, (axes,) = _panels(1, width=5.4, height=3.6)
    places = np.array(sorted(distinct(rows, x)))
    names = distinct(rows, line)
    # Shifted, so that curves that coincide can be seen.
    apart = 0.06 * float(np.diff(places).min()) if len(places) > 1 else 0.0
    for number, (colour, name) in enumerate(zip(COLOURS, names, strict=False)):
        stats = [mean_and_spread(row[value] for row in select(rows, **{line: name, x: place})) for place in places]
        mean, spread = np.array(stats).T
        shifted = places + apart * (number - (len(names) - 1) / 2)
        error = np.nan_to_num(spread)
        axes.errorbar(
            shifted, mean, error, color=colour, label=name, marker="o", markersize=4, capsize=2, linewidth=0.8
        )
    axes.set_xticks(places)
    axes.set_xlabel(x_label, fontsize=9)
    _finish(axes, value_label)
    return figure


def bars(rows: Sequence[Row], *, down: str, values: Mapping[str, str], value_label: str) -> Figure:
    """Bars of mean and standard deviation over seeds, in a group for each of ``values`` (field: label), by ``down``."""
    figure, (axes,) = _panels(1, width=1.6 * len(values) + 2.4, height=3.2)
    names = distinct(rows, down)
    places: NDArray[np.float64] = np.arange(len(values), dtype=np.float64)
    width = 0.8 / len(names)
    for number, name in enumerate(names):
        stats = [mean_and_spread(row[value] for row in select(rows, **{down: name})) for value in values]
        mean, spread = np.array(stats).T
        offset = (number - (len(names) - 1) / 2) * width
        error_style = {"linewidth": 0.8, "ecolor": "#444444"}
        axes.bar(
            places + offset,
            mean,
            width * 0.92,
            yerr=np.nan_to_num(spread),
            color=COLOURS[number],
            label=name,
            capsize=2,
            error_kw=error_style,
        )
    axes.set_xticks(places, list(values.values()))
    _finish(axes, value_label)
    return figure


def _finish(axes: Axes, value_label: str) -> None:
    """Add the label of the values, a light grid, and the legend to the right of the plot."""
    axes.set_ylabel(value_label, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(axis="y", color="#e3e3e0", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _panels(n: int, *, width: float, height: float, columns: int = 3) -> tuple[Figure, list[Axes]]:
    """A figure of ``n`` panels, at most ``columns`` in a row."""
    columns = min(n, columns)
    lines = -(-n // columns)
    figure = Figure(figsize=(width * columns, height * lines), layout="constrained")
    grid = figure.subplots(lines, columns, squeeze=False)
    panels: list[Axes] = list(grid.flat)
    for unused in panels[n:]:
        unused.set_visible(False)
    return figure, panels[:n]
