"""The live score meter of ``wakeword listen``."""

import sys
import time

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from wakeword.audio.level import level_of
from wakeword.base.text import counted, printable
from wakeword.base.types import Samples
from wakeword.engine import Detector
from wakeword.microphone.device import MicrophoneStats
from wakeword.microphone.microphone import Microphone

_REFRESH_SECONDS = 0.1
# A word raises the score for only a few hops; the bar falls slowly, so that it can be seen.
_FALL = 0.9
_SILENCE_DB = -80.0
_WIDTH = 40
"""Characters of a bar, and fewer where the screen is narrow."""


class Meter:
    """A bar for each keyword's score, the level, and what the microphone has counted, on stderr. A context manager."""

    def __init__(self, detector: Detector) -> None:
        self._detector = detector
        self._held = dict.fromkeys(detector.keywords, 0.0)
        self._drawn = 0.0
        # Rich would send redirected output to stderr, which is right only if both are the same screen.
        self._live = Live(
            console=Console(stderr=True, markup=False, emoji=False),
            auto_refresh=False,
            transient=True,
            redirect_stdout=sys.stdout.isatty(),
        )

    def __enter__(self) -> "Meter":
        self._live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._live.stop()

    def update(self, block: Samples, microphone: Microphone | None) -> None:
        """Take the newest block, ``(samples,)`` or ``(samples, channels)``, and its microphone; draw if it is time."""
        for keyword, score in self._detector.scores.items():
            self._held[keyword] = max(self._held[keyword], score)
        now = time.monotonic()
        if now - self._drawn < _REFRESH_SECONDS:
            return
        self._drawn = now
        self._live.update(
            self._table(level_of(block, _SILENCE_DB), microphone.stats if microphone else None), refresh=True
        )
        self._held = {keyword: _FALL * score for keyword, score in self._held.items()}

    def _table(self, level: float, stats: MicrophoneStats | None) -> Group:
        table = Table.grid(padding=(0, 2))
        for most in (None, _WIDTH, None, None):  # the bar alone gives way on a narrow screen
            table.add_column(no_wrap=most is None, max_width=most)
        for keyword, score in self._held.items():
            threshold = self._detector.thresholds[keyword]
            style = "bold green" if score >= threshold else "cyan"
            table.add_row(printable(keyword), _bar(score, style), f"{score:.3f}", f"threshold {threshold:.3f}")
        table.add_row("level", _bar(1 - level / _SILENCE_DB, "yellow"), f"{level:.0f} dB", "")
        return Group(table, *([describe(stats)] if stats else []))


def _bar(share: float, style: str) -> ProgressBar:
    """A bar that is filled up to ``share``, from 0 to 1."""
    return ProgressBar(1.0, share, complete_style=style, finished_style=style)


def describe(stats: MicrophoneStats) -> str:
    """A microphone's losses, in a few words."""
    lost = stats.dropped_blocks + stats.overflows
    gaps = f"{counted(stats.gaps, 'gap')}, {stats.gap_seconds:.1f} s" if stats.gaps else "no gap"
    return f"{counted(lost, 'block')} lost, {gaps}"
