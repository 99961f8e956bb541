"""Pieces of HTML: text from outside, sounds, lists and commands to copy."""

import base64
import html
import io
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import soundfile

from wakeword.audio.pcm import SAMPLE_RATE, read_audio
from wakeword.base.errors import AudioError, SynthesisError
from wakeword_tools.texts.wordlike import readable

_LONGEST = 3 * SAMPLE_RATE
_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
h1{margin-bottom:0}.good,.fair,.weak{padding:.8rem 1rem;border-radius:.5rem}.good{background:#dff3e3}
.fair{background:#fdf2d0}.weak{background:#fbe0dd}table{border-collapse:collapse}
td,th{padding:.2rem .8rem .2rem 0;text-align:left}
svg{width:100%;max-width:34rem}svg path{fill:none;stroke:#0b62a4;stroke-width:2}svg circle{fill:#c33}svg line{stroke:#ccc}
svg text{font-size:11px;fill:#555}audio{height:2rem;vertical-align:middle}li{margin:.3rem 0}
code,pre{background:#eee;padding:.1rem .3rem}pre{padding:.5rem .8rem;overflow-x:auto}pre code{padding:0}
details{margin-top:2rem}summary{font-size:1.2rem;cursor:pointer}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}.good{background:#1f3d27}.fair{background:#463b12}
.weak{background:#4a211d}code,pre{background:#333}svg text{fill:#aaa}svg path{stroke:#6bb3e8}}
"""


def document(title: str, parts: Iterable[str]) -> str:
    """A page of pieces of HTML. It may load nothing but what it holds."""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        'media-src data:">'
        f"<title>{text(title)}</title><style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def text(content: str) -> str:
    """Text from outside, escaped."""
    return html.escape(content)


def spoken(word: str) -> str:
    """What was spoken, in letters, escaped: for phonemes in ``[[...]]`` a spelling that sounds like them."""
    if "[[" not in word:
        return text(word)
    try:
        return text(f"sounds like “{readable(word)}”")
    except SynthesisError:
        return "a sound without a spelling"


def bullets(items: Iterable[str]) -> str:
    """A list of pieces of HTML; empty without any."""
    rows = "".join(f"<li>{item}</li>" for item in items)
    return f"<ul>{rows}</ul>" if rows else ""


def commands(lines: Sequence[str]) -> str:
    """Commands to copy, one a line; empty without any."""
    return f"<pre><code>{text(chr(10).join(lines))}</code></pre>" if lines else ""


def sound(path: Path) -> str:
    """A player that holds the first seconds of a file; empty for a file that cannot be read any more."""
    try:
        samples = read_audio(path)[:_LONGEST]
    except (AudioError, OSError):
        return ""
    held = io.BytesIO()
    soundfile.write(held, samples, SAMPLE_RATE, format="FLAC", subtype="PCM_16")
    data = base64.b64encode(held.getvalue()).decode()
    return f'<audio controls preload="none" src="data:audio/flac;base64,{data}"></audio>'


_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 520, 220, 46, 34

COLOURS = ("#0b62a4", "#c8553d", "#3a8f63", "#8a5fa8", "#d98c21", "#7a7a7a")
Points = Sequence[tuple[float, float]]


def curves_of_thresholds(curves: Sequence[Points], *, chosen: Points) -> str:
    """The share found, 0..1, against the false accepts an hour, as steps; what is ``chosen`` is marked.

    Several models have each a colour of ``COLOURS``. Empty without points.
    """
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
        "".join('<circle cx="{:.1f}" cy="{:.1f}" r="5"/>'.format(*place(*one)) for one in chosen),
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


def _tick_below(x: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{_HEIGHT - 18}" text-anchor="middle">{html.escape(text)}</text>'


def _ticks_left(height: Callable[[float], float]) -> str:
    return "".join(
        f'<text x="{_LEFT - 6}" y="{height(share) + 4:.1f}" text-anchor="end">{share:.0%}</text>'
        f'<line x1="{_LEFT}" x2="{_WIDTH - 10}" y1="{height(share):.1f}" y2="{height(share):.1f}"/>'
        for share in (0.0, 0.5, 1.0)
    )
