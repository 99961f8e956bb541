"""The part that ``calibrate`` and ``evaluate`` share: find recordings, and score them with progress on stderr."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wakeword.cli.console import note, progress
from wakeword.model import Model
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.recordings import Change, Scored, Selection, score_files
from wakeword_tools.measure.selection import select


@dataclass(frozen=True)
class Folders:
    """Recordings, or folders of them, by kind."""

    positives: Sequence[Path]
    negatives: Sequence[Path]
    near_negatives: Sequence[Path]
    background: Sequence[Path]

    def find(self, keyword: str) -> Selection:
        """The files of each kind; see ``wakeword_tools.measure.selection.select``."""
        return select(
            {
                Kind.POSITIVE: self.positives,
                Kind.NEGATIVE: self.negatives,
                Kind.NEAR_NEGATIVE: self.near_negatives,
                Kind.BACKGROUND: self.background,
            },
            keyword,
            report=note,
        )


def score(
    what: str, models: Sequence[Model], chosen: Selection, *, change: Change | None = None, quiet: bool = False
) -> Scored:
    """Score all files, with progress and warnings (except with ``quiet``) on stderr."""
    sizes = {path: path.stat().st_size for some in chosen.files.values() for path in some}
    done = 0
    with progress(what, sum(sizes.values())) as update:

        def advance(path: Path) -> None:
            nonlocal done
            done += sizes[path]
            update(done)

        return score_files(models, chosen, change=change, advance=advance, warn=_ignore if quiet else note)


def _ignore(message: str) -> None:
    pass
