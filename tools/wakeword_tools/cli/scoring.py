"""The part that ``calibrate`` and ``evaluate`` share: find recordings, and score them with progress on stderr."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wakeword.cli.console import note, progress
from wakeword.model import Model
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.recordings import Change, Files, Scored, find_files, score_files


@dataclass(frozen=True)
class Folders:
    """Recordings, or folders of them, by kind."""

    positives: Sequence[Path]
    negatives: Sequence[Path]
    near_negatives: Sequence[Path]
    background: Sequence[Path]

    def find(self) -> dict[Kind, list[Path]]:
        """The files of each kind; see ``wakeword_tools.measure.recordings.find_files``."""
        return find_files(
            {
                Kind.POSITIVE: self.positives,
                Kind.NEGATIVE: self.negatives,
                Kind.NEAR_NEGATIVE: self.near_negatives,
                Kind.BACKGROUND: self.background,
            }
        )


def score(
    what: str, models: Sequence[Model], files: Files, *, change: Change | None = None, quiet: bool = False
) -> Scored:
    """Score all files, with progress and warnings (except with ``quiet``) on stderr."""
    sizes = {path: path.stat().st_size for some in files.values() for path in some}
    done = 0
    with progress(what, sum(sizes.values())) as update:

        def advance(path: Path) -> None:
            nonlocal done
            done += sizes[path]
            update(done)

        return score_files(models, files, change=change, advance=advance, warn=_ignore if quiet else note)


def _ignore(message: str) -> None:
    pass
