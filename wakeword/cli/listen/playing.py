"""Sources that a command can watch and end while the detector reads them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from wakeword.audio.sources import AudioSource
from wakeword.audio.stopping import StopSignals
from wakeword.base.errors import AudioFormatError
from wakeword.base.types import Samples


class Watched:
    """A source that passes its blocks to ``watch`` first, with a count of the seconds so far.

    It ends when its own source does, at one of the signals ``stop``, or when ``watch`` returns ``False``.
    """

    def __init__(
        self, source: AudioSource, watch: Callable[[Samples], bool | None], *, stop: StopSignals | None = None
    ) -> None:
        self.sample_rate = source.sample_rate
        self.seconds = 0.0
        self._source = source
        self._watch = watch
        self._stop = stop

    def blocks(self) -> Iterator[Samples]:
        for block in self._source.blocks() if self._stop is None else self._stop.blocks(self._source):
            self.seconds += len(block) / self.sample_rate
            if self._watch(block) is False:
                return
            yield block


@contextmanager
def naming(path: Path | str) -> Iterator[None]:
    """Put the file's name before errors about its samples, which do not contain it."""
    try:
        yield
    except AudioFormatError as error:
        raise AudioFormatError(f"{path}: {error}") from error
