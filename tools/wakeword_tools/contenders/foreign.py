"""Wake-word files of other engines: which engine a file belongs to, and what it says of itself.

Each engine of the registry is asked whether a file is one of its own; its own package runs it.
"""

import math
import tempfile
from dataclasses import dataclass
from pathlib import Path

from wakeword.base.errors import ConfigError
from wakeword.format.card import METADATA_KEY
from wakeword_tools.contenders.seam import Contender, ForeignFiles, RunningEngine, contender_named, contenders


@dataclass(frozen=True)
class Cutoff:
    """The threshold that a file names, or else its engine's makers. No rates were promised for it."""

    threshold: float
    name: str = "cutoff"


@dataclass(frozen=True)
class ForeignCard:
    """All that is known of a file of another engine without recordings."""

    engine: str
    phrase: str
    """The wake word; from the file's name if ``names_phrase`` is false."""
    names_phrase: bool
    cutoff: float
    """The engine fires above it."""
    where: str
    """Where a threshold for it is set, in words."""

    default_point = Cutoff.name

    @property
    def operating_points(self) -> tuple[Cutoff, ...]:
        """The cutoff as a threshold here, which fires at it too."""
        return (Cutoff(math.nextafter(self.cutoff, math.inf)),)

    def point(self, name: str | None = None) -> Cutoff:
        """The cutoff. ``ConfigError`` for another name."""
        (only,) = self.operating_points
        if name not in (None, only.name):
            raise ConfigError(f"a file of {self.engine} has no operating points but its {only.name}, got {name!r}")
        return only


class ForeignModel:
    """A model of another engine, in its files; a copy in another process opens the engine again."""

    def __init__(self, engine: Contender, parts: ForeignFiles) -> None:
        self.card = ForeignCard(engine.title, parts.phrase, parts.names_phrase, parts.cutoff, engine.where)
        self._engine, self._parts = engine.name, parts
        self._running: RunningEngine | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_running": None, "_folder": None}

    @property
    def engine(self) -> Contender:
        """The engine that runs it."""
        return contender_named(self._engine)

    @property
    def given(self) -> Path:
        """The file that the engine is opened with. ``ConfigError`` if its package is not installed."""
        engine = self.engine
        if not engine.is_installed:
            raise ConfigError(
                f"expected {engine.distribution}, which runs files of {engine.title}, found none: {engine.install}"
            )
        if self._folder is None:
            # The engines read files by their paths, microWakeWord's at each reset.
            self._folder = tempfile.TemporaryDirectory(prefix="wakeword-")
            for name, content in self._parts.files.items():
                (Path(self._folder.name) / name).write_bytes(content)
        return Path(self._folder.name) / self._parts.given

    @property
    def stream(self) -> RunningEngine:
        """The running engine, for one recording at a time; it is started when it is first asked for.

        Raises ``ConfigError`` as ``given``, and ``ModelError`` for a network that it cannot run.
        """
        if self._running is None:
            given = self.given
            self.engine.check(given.parent)
            self._running = self.engine.open([given])
        return self._running

    def stage_one(self) -> "ForeignModel":
        """The model itself, as of a model of one stage."""
        return self


def parse_foreign(path: Path, data: bytes) -> ForeignModel | None:
    """The model in a file that has this content; ``None`` if it is none of another engine that is known here.

    The engine is started, so that nothing else is wrong with it later. Raises as ``ForeignModel.stream`` does, and
    ``ModelError`` for a file that cannot be used.
    """
    # A file with a card is this project's: a package that adds an engine, and may be broken, has no say in it.
    for engine in () if METADATA_KEY.encode() in data else contenders():
        parts = engine.read(path, data)
        if parts is not None:
            model = ForeignModel(engine, parts)
            _ = model.stream
            return model
    return None
