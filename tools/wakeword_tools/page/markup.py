"""Pieces of HTML: text from outside, sounds, lists and commands to copy."""

import base64
import html
import itertools
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from wakeword.audio.pcm import SAMPLE_RATE, audio_bytes, read_audio
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
    data = base64.b64encode(audio_bytes(samples, "FLAC")).decode()
    return f'<audio controls preload="none" src="data:audio/flac;base64,{data}"></audio>'


_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 520, 220, 46, 34

COLOURS = ("#0b62a4", "#c8553d", "#3a8f63", "#8a5fa8", "#d98c21", "#7a7a7a")
Points = Sequence[tuple[float, float]]


def curves_of_thresholds(curves: Sequence[Points], *, chosen: Points) -> str:
    """The share found, 0..1, against the false accepts an hour, as steps; what is ``chosen`` is marked.

    Several models have each a colour of ``COLOURS``. Empty without points.
    """
    shown = [points for points in curves if points]
    if not shown:
        return ""
    low, high = math.log10(0.1), math.log10(max(20.0, *(rate for points in shown for rate, _ in points)))

    def x(rate: float) -> float:
        return _LEFT + (math.log10(max(rate, 0.1)) - low) / (high - low) * (_WIDTH - _LEFT - 10)

    def y(share: float) -> float:
        return 10 + (1 - share) * (_HEIGHT - _BOTTOM - 10)

    def label(across: float, down: float, anchor: str, words: str) -> str:
        return f'<text x="{across:.1f}" y="{down:.1f}" text-anchor="{anchor}">{words}</text>'

    parts = [label(x(rate), _HEIGHT - 18, "middle", f"{rate:g}") for rate in (0.5, 1, 2, 5, 10, 20)]
    parts += [
        label(_LEFT, _HEIGHT - 18, "middle", "0"),
        label(270, _HEIGHT - 2, "middle", "mistakes in an hour of speech"),
    ]
    for share in (0.0, 0.5, 1.0):
        parts.append(label(_LEFT - 6, y(share) + 4, "end", f"{share:.0%}"))
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - 10}" y1="{y(share):.1f}" y2="{y(share):.1f}"/>')
    for points, colour in zip(shown, itertools.cycle(COLOURS), strict=False):
        path = " ".join(f"{'L' if place else 'M'}{x(one[0]):.1f} {y(one[1]):.1f}" for place, one in enumerate(points))
        style = f' style="stroke:{colour}"' if len(shown) > 1 else ""
        parts.append(f'<path d="{path}"{style}/>')
    parts += [f'<circle cx="{x(rate):.1f}" cy="{y(share):.1f}" r="5"/>' for rate, share in chosen]
    title = "Share of the word found against mistakes an hour"
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{title}">{"".join(parts)}</svg>'
