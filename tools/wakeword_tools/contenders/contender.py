"""One wake-word engine as a record, and the protocol of a running one.

This module and the files of the engines import nothing heavy: a benchmark measures what the import of an engine takes.
"""

import importlib.metadata
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

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


class ForeignFiles(NamedTuple):
    """What a file of another engine says of itself, and the content that the engine needs."""

    phrase: str
    names_phrase: bool
    """Whether the file names the phrase; otherwise it is from the file's name."""
    cutoff: float
    """The score above which the engine reports the word, as the file or its makers set it."""
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
    takes: str = ""
    """The file that it takes, as in ``FILE.json``."""
    read: Callable[[Path, bytes], ForeignFiles | None] = lambda path, data: None
    """Path and content of a file -> its parts; ``None`` if it is of another kind. ``ModelError`` if it cannot be used."""
    check: Callable[[Path], None] = lambda folder: None
    """Refuse the files of ``read``, in a folder, that the engine cannot run. ``ModelError``."""
    where: str = ""
    """Where its users set a threshold."""
    install: str = "pip install '.[peers]'"

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
