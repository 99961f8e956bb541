"""Sources that a command can watch and end while the detector reads them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path

from wakeword.audio.sources import AudioSource
from wakeword.audio.stopping import StopSignals
from wakeword.base.errors import AudioFormatError
from wakeword.base.types import Samples


class Watched:
    """A source that passes its blocks to ``watch`` first.

    It ends when its own source does, at one of the signals ``stop``, or when ``watch`` returns ``False``.
    """

    def __init__(self, source: AudioSource, watch: Callable[[Samples], bool], *, stop: StopSignals) -> None:
        self.sample_rate = source.sample_rate
        self._source = source
        self._watch = watch
        self._stop = stop

    def blocks(self) -> Iterator[Samples]:
        return takewhile(self._watch, self._stop.blocks(self._source))


@contextmanager
def naming(path: Path | str) -> Iterator[None]:
    """Put the file's name before errors about its samples, which do not contain it."""
    try:
        yield
    except AudioFormatError as error:
        raise AudioFormatError(f"{path}: {error}") from error
