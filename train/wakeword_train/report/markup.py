"""Pieces of HTML: words, sounds, lists and commands to copy."""

import base64
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from wakeword.audio.audio_file import audio_bytes, read_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import AudioError, SynthesisError
from wakeword_tools.texts.wordlike import readable

_LONGEST = 3 * SAMPLE_RATE
_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
h1{margin-bottom:0}.good,.fair,.weak{padding:.8rem 1rem;border-radius:.5rem}.good{background:#dff3e3}
.fair{background:#fdf2d0}.weak{background:#fbe0dd}table{border-collapse:collapse}
td,th{padding:.2rem .8rem .2rem 0;text-align:left}
audio{height:2rem;vertical-align:middle}li{margin:.3rem 0}
code,pre{background:#eee;padding:.1rem .3rem}pre{padding:.5rem .8rem;overflow-x:auto}pre code{padding:0}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}.good{background:#1f3d27}.fair{background:#463b12}
.weak{background:#4a211d}code,pre{background:#333}}
"""


def document(title: str, parts: Iterable[str]) -> str:
    """A page of pieces of HTML. It may load nothing but what it holds."""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        'media-src data:">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def spoken(word: str) -> str:
    """What was spoken, in letters, escaped: for phonemes in ``[[...]]`` a spelling that sounds like them."""
    if "[[" not in word:
        return escape(word)
    try:
        return escape(f"sounds like “{readable(word)}”")
    except SynthesisError:
        return "a sound without a spelling"


def bullets(items: Iterable[str]) -> str:
    """A list of pieces of HTML; empty without any."""
    rows = "".join(f"<li>{item}</li>" for item in items)
    return f"<ul>{rows}</ul>" if rows else ""


def commands(lines: Sequence[str]) -> str:
    """Commands to copy, one a line; empty without any."""
    return f"<pre><code>{escape(chr(10).join(lines))}</code></pre>" if lines else ""


def sound(path: Path) -> str:
    """A player that holds the first seconds of a file; empty for a file that cannot be read any more."""
    try:
        samples = read_audio(path)[:_LONGEST]
    except (AudioError, OSError):
        return ""
    data = base64.b64encode(audio_bytes(samples, "FLAC")).decode()
    return f'<audio controls preload="none" src="data:audio/flac;base64,{data}"></audio>'
