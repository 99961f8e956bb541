"""Sources that a command looks into, and can end, while the detector reads them."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from wakeword.errors import AudioFormatError

if TYPE_CHECKING:
    from wakeword import AudioSource
    from wakeword.audio import Samples


class Watched:
    """A source whose blocks are shown to ``watch`` on their way, with a count of the seconds so far.

    It ends when its own source does, or at one of the signals ``stop``.
    """

    def __init__(
        self, source: "AudioSource", watch: "Callable[[Samples], None]", *, stop: "StopSignals | None" = None
    ) -> None:
        self.sample_rate = source.sample_rate
        self.seconds = 0.0
        self._source = source
        self._watch = watch
        self._stop = stop

    def blocks(self) -> "Iterator[Samples]":
        for block in self._source.blocks() if self._stop is None else self._stop.blocks(self._source):
            self.seconds += len(block) / self.sample_rate
            self._watch(block)
            yield block


class _Stopped(BaseException):
    """Raised where the source is waited for, to leave a wait that may never end."""


class StopSignals:
    """Ctrl-C and SIGTERM end a source instead of the process. A context manager.

    The source ends between two blocks only, so that what a detection sets off is finished: its line, its files. Once
    stopped, the signals stay ignored: a second Ctrl-C must not turn the clean end into a failure.
    """

    def __init__(self) -> None:
        self._stopped = False
        self._waiting = False

    def blocks(self, source: "AudioSource") -> "Iterator[Samples]":
        """The blocks of ``source`` until a signal comes."""
        blocks = source.blocks()
        while not self._stopped:
            self._waiting = True
            try:
                block = next(blocks, None)
            finally:
                self._waiting = False
            if block is None:
                return
            yield block

    def _stop(self, number: int, frame: object) -> None:
        self._stopped = True
        if self._waiting:
            self._waiting = False
            raise _Stopped

    def __enter__(self) -> "StopSignals":
        self._previous = {number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, kind: type[BaseException] | None, *exc: object) -> bool:
        for number, handler in self._previous.items():
            signal.signal(number, signal.SIG_IGN if self._stopped else handler)
        return kind is _Stopped


@contextmanager
def naming(path: Path | str) -> Iterator[None]:
    """Put the file's name before complaints about its samples, which know nothing of files."""
    try:
        yield
    except AudioFormatError as error:
        raise AudioFormatError(f"{path}: {error}") from error
