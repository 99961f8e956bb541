"""Pieces of HTML: text from outside, sounds, lists and commands to copy."""

import base64
import html
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import soundfile

from wakeword.audio.pcm import SAMPLE_RATE, read_audio
from wakeword.base.errors import AudioError, SynthesisError
from wakeword_tools.texts.wordlike import readable

_LONGEST = 3 * SAMPLE_RATE


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
