"""Wake-word engines of others: a record each, from installed packages, and the protocol of a running one.

A package adds one with an entry point of the group ``wakeword.contenders`` that has the engine's name and refers to its
``Contender`` record; ``wakeword-export`` adds microWakeWord and openWakeWord so::

    [project.entry-points."wakeword.contenders"]
    myengine = "my_package.listening:ENGINE"

This module and the files of the engines import nothing heavy: a benchmark measures what the import of an engine takes.
"""

import importlib.metadata
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from wakeword.base.errors import ConfigError
from wakeword.base.plugins import load_plugin, plugin_names

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENTRY_POINTS = "wakeword.contenders"
"""Group of the entry points through which packages add engines."""


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
    """As its entry point has it."""
    title: str
    """As its makers write it."""
    distribution: str
    """The package on PyPI that runs it."""
    package: str
    """The module that a program imports."""
    open: Callable[[Sequence[Path]], RunningEngine]
    """Files of one word or more -> a new stream."""
    read: Callable[[Path, bytes], ForeignFiles | None] = lambda path, data: None
    """Path and content of a file -> its parts; ``None`` if it is of another kind. ``ModelError`` if it cannot be used."""
    check: Callable[[Path], None] = lambda folder: None
    """Refuse the files of ``read``, in a folder, that the engine cannot run. ``ModelError``."""
    where: str = ""
    """Where its users set a threshold."""
    install: str = 'pip install "wakeword[peers]"'

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


def contenders() -> Iterator[Contender]:
    """All engines, each loaded when it is due.

    Raises as ``contender_named`` does, after all others, so that a broken package takes none of them away.
    """
    failures = []
    for name in plugin_names(ENTRY_POINTS):
        try:
            yield contender_named(name)
        except ConfigError as error:
            failures.append(error)
    if failures:
        raise failures[0]


def contender_named(name: str) -> Contender:
    """The engine of that name. Raises ``ConfigError`` if there is none, or if its package cannot be used."""
    found = load_plugin(ENTRY_POINTS, name, ConfigError, kind=Contender)
    if found is None:
        known = ", ".join(plugin_names(ENTRY_POINTS))
        raise ConfigError(f'expected an engine among {known} (pip install "wakeword[peers]" adds some), got {name!r}')
    return found
