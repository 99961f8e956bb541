"""The live score meter of ``wakeword listen``."""

import math
import sys
import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

if TYPE_CHECKING:
    from wakeword import Detector
    from wakeword.audio import Samples

_REFRESH_SECONDS = 0.1
# A word lifts the score for a few hops only; the bar falls slowly, so that the eye sees it.
_FALL = 0.9
_SILENCE_DB = -80.0


class Meter:
    """A bar for each keyword's score, the level, and what was lost, on stderr. A context manager."""

    def __init__(self, detector: "Detector") -> None:
        self._detector = detector
        self._held = dict.fromkeys(detector.keywords, 0.0)
        self._drawn = 0.0
        # Rich would send redirected output to stderr, which is right only where both are the same screen.
        self._live = Live(
            console=Console(stderr=True), auto_refresh=False, transient=True, redirect_stdout=sys.stdout.isatty()
        )

    def __enter__(self) -> "Meter":
        self._live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._live.stop()

    def update(self, block: "Samples", lost: int) -> None:
        """Take the newest block and the number of blocks lost so far; draw, if it is time to."""
        for keyword, score in self._detector.scores.items():
            self._held[keyword] = max(self._held[keyword], score)
        now = time.monotonic()
        if now - self._drawn < _REFRESH_SECONDS:
            return
        self._drawn = now
        self._live.update(self._table(_level(block), lost), refresh=True)
        self._held = {keyword: _FALL * score for keyword, score in self._held.items()}

    def _table(self, level: float, lost: int) -> Table:
        table = Table.grid(padding=(0, 2))
        for keyword, score in self._held.items():
            threshold = self._detector.thresholds[keyword]
            style = "bold green" if score >= threshold else "cyan"
            table.add_row(keyword, _bar(score, style), f"{score:.3f}", f"threshold {threshold:.3f}")
        table.add_row("level", _bar(1 - level / _SILENCE_DB, "yellow"), f"{level:.0f} dB", f"{lost} block(s) lost")
        return table


def _bar(share: float, style: str) -> ProgressBar:
    return ProgressBar(total=1, completed=min(1, max(0, share)), width=40, complete_style=style, finished_style=style)


def _level(block: "Samples") -> float:
    """Root mean square of a block in dB of full scale, at least ``_SILENCE_DB``."""
    from wakeword.audio import to_mono

    samples = to_mono(block)
    power = float((samples**2).mean()) if len(samples) else 0.0
    return max(_SILENCE_DB, 10 * math.log10(power + 1e-12))
