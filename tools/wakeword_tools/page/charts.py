"""Two charts as SVG, without a library: a page must not load anything, and a line is a path."""

import html
import itertools
import math
from collections.abc import Callable, Sequence

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 520, 220, 46, 34

COLOURS = ("#0b62a4", "#c8553d", "#3a8f63", "#8a5fa8", "#d98c21", "#7a7a7a")
Points = Sequence[tuple[float, float]]


def curve_of_thresholds(points: Points, *, chosen: tuple[float, float] | None) -> str:
    """The share found, 0..1, against the false accepts an hour, as steps; ``chosen`` is marked. Empty without points."""
    return curves_of_thresholds([points], chosen=[] if chosen is None else [chosen])


def curves_of_thresholds(curves: Sequence[Points], *, chosen: Points) -> str:
    """The same for several models, each in its colour of ``COLOURS``. Empty without points."""
    shown = [[(max(rate, 0.1), share) for rate, share in points] for points in curves if points]
    if not shown:
        return ""
    low, high = math.log10(0.1), math.log10(max(20.0, *(rate for points in shown for rate, _ in points)))

    def place(rate: float, share: float) -> tuple[float, float]:
        across = (math.log10(max(rate, 0.1)) - low) / (high - low)
        return _LEFT + across * (_WIDTH - _LEFT - 10), 10 + (1 - share) * (_HEIGHT - _BOTTOM - 10)

    marks = [(rate, f"{rate:g}") for rate in (0.1, 0.5, 1, 2, 5, 10, 20)]
    axis = "".join(_tick_below(place(rate, 0)[0], "0" if rate == 0.1 else text) for rate, text in marks)
    colours = COLOURS if len(shown) > 1 else ("",)
    return _chart(
        "Share of the word found against mistakes an hour",
        axis + _ticks_left(lambda share: place(0.1, share)[1]),
        "".join(
            _path([place(*point) for point in points], colour)
            for points, colour in zip(shown, itertools.cycle(colours), strict=False)
        ),
        "".join(_dot(*place(*one)) for one in chosen),
        "mistakes in an hour of speech",
    )


def curve_of_epochs(recalls: Sequence[float]) -> str:
    """The share found of held-out clips, 0..1, after each epoch of the first stage. Empty without epochs."""
    if not recalls:
        return ""
    step = (_WIDTH - _LEFT - 10) / max(1, len(recalls) - 1)

    def height(share: float) -> float:
        return 10 + (1 - share) * (_HEIGHT - _BOTTOM - 10)

    numbers = sorted({1, (len(recalls) + 1) // 2, len(recalls)})
    axis = "".join(_tick_below(_LEFT + (number - 1) * step, str(number)) for number in numbers)
    line = _path([(_LEFT + index * step, height(share)) for index, share in enumerate(recalls)])
    return _chart("Share found after each epoch", axis + _ticks_left(height), line, "", "epoch")


def _chart(title: str, axes: str, line: str, mark: str, below: str) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{html.escape(title)}">{axes}{line}{mark}'
        f'<text x="{(_WIDTH + _LEFT) / 2:.0f}" y="{_HEIGHT - 2}" text-anchor="middle">{html.escape(below)}</text></svg>'
    )


def _path(places: Points, colour: str = "") -> str:
    text = " ".join(f"{'L' if index else 'M'}{x:.1f} {y:.1f}" for index, (x, y) in enumerate(places))
    return f'<path d="{text}" style="stroke:{colour}"/>' if colour else f'<path d="{text}"/>'


def _dot(x: float, y: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5"/>'


def _tick_below(x: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{_HEIGHT - 18}" text-anchor="middle">{html.escape(text)}</text>'


def _ticks_left(height: Callable[[float], float]) -> str:
    return "".join(
        f'<text x="{_LEFT - 6}" y="{height(share) + 4:.1f}" text-anchor="end">{share:.0%}</text>'
        f'<line x1="{_LEFT}" x2="{_WIDTH - 10}" y1="{height(share):.1f}" y2="{height(share):.1f}"/>'
        for share in (0.0, 0.5, 1.0)
    )
