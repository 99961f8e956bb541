"""One wake-word engine as a record, and the protocol of a running one.

This module and the files of the engines import nothing heavy: a benchmark measures what the import of an engine takes.
"""

import importlib.metadata
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class RunningEngine(Protocol):
    """An engine that listens with its models."""

    def push(self, block: "NDArray[np.int16]") -> float:
        """The best score that became ready within the next ``(samples,)`` of 16 kHz; 0 if there is none."""
        ...

    def reset(self) -> None:
        """Start: forget all audio."""
        ...

    @property
    def cutoff(self) -> float:
        """The score above which the engine reports the word, as its makers set it."""
        ...


class ForeignFiles(NamedTuple):
    """What a file of another engine says of itself, and the content that the engine needs."""

    phrase: str
    names_phrase: bool
    """Whether the file names the phrase; otherwise it is from the file's name."""
    cutoff: float
    files: Mapping[str, bytes]
    """Name -> content."""
    given: str
    """The file that the engine is opened with."""


@dataclass(frozen=True)
class Contender:
    """A wake-word engine."""

    name: str
    """As in ``--engine NAME:FILE``."""
    title: str
    """As its makers write it."""
    distribution: str
    """The package on PyPI that runs it."""
    package: str
    """The module that a program imports."""
    open: Callable[[Sequence[Path]], RunningEngine]
    """Files of one word or more -> a new stream."""
    delay: float = 0.0
    """Seconds from one score to the next, which a word may have to wait."""
    takes: str = ""
    """The file that it takes, as in ``FILE.json``."""
    read: Callable[[Path, bytes], ForeignFiles | None] = lambda path, data: None
    """Path and content of a file -> its parts; ``None`` if it is of another kind. ``ModelError`` if it cannot be used."""
    check: Callable[[Path], None] = lambda folder: None
    """Refuse the files of ``read``, in a folder, that the engine cannot run. ``ModelError``."""
    where: str = ""
    """Where its users set a threshold."""
    install: str = "pip install '.[peers]'"
    listener: Callable[[Sequence[Path]], Callable[[Any], object]] | None = None
    """What an application runs, where that is cheaper than ``push``."""

    def start(self, files: Sequence[Path]) -> Callable[[Any], object]:
        """A new stream, as an application runs it: it takes the next block of 16 kHz mono int16, ``(samples,)``."""
        return self.open(files).push if self.listener is None else self.listener(files)

    @property
    def is_installed(self) -> bool:
        """Whether its package can be imported."""
        return importlib.util.find_spec(self.package) is not None

    @property
    def version(self) -> str:
        """The installed version, or ``?`` where the installer left none."""
        try:
            return importlib.metadata.version(self.distribution)
        except importlib.metadata.PackageNotFoundError:
            return "?"
