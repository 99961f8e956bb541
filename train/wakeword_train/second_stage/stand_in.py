"""First stages that stand in for another where that one was trained."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from wakeword_tools.kinds import Kind, Split
from wakeword_train.data.clips import Clip


@dataclass(frozen=True)
class StandIn:
    """A first stage of the same settings that was trained without some of the background on which the other was."""

    path: Path
    unheard: frozenset[tuple[Path, tuple[float, float] | None]]
    """Recordings or parts of them that it was not trained on."""

    @classmethod
    def of(cls, path: Path, clips: Iterable[Clip]) -> "StandIn":
        """The model file of a training with these clips."""
        held_out = [clip for clip in clips if clip.kind is Kind.BACKGROUND and clip.split is Split.VALIDATION]
        return cls(path, frozenset((clip.path, clip.part) for clip in held_out))

    def may_judge(self, clip: Clip) -> bool:
        """Whether it was not trained on a clip."""
        return clip.kind is Kind.BACKGROUND and (clip.path, clip.part) in self.unheard
