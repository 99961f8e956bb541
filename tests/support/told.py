"""What long work tells, kept for a test."""

from collections.abc import Callable
from dataclasses import dataclass, field

from wakeword.base.events import Events


@dataclass
class Told(Events):
    """Keeps lines and shares; ``then`` is called with each share."""

    then: Callable[[float], None] = lambda done: None
    lines: list[str] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)

    def note(self, line: str) -> None:
        self.lines.append(line)

    def share(self, done: float) -> None:
        self.shares.append(done)
        self.then(done)
