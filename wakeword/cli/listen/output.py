"""Lines on stdout, whose reader may stop reading."""

import os
import select
import sys

from wakeword.cli.formats import FORMATS, FormatName
from wakeword.detection import Detection


class DetectionLines:
    """Prints detections on stdout, each immediately, as long as there is a reader.

    A reader that stops, such as ``head -1``, is not an error. Raises ``OSError`` if a line cannot be written for another
    reason, such as a full disk.
    """

    def __init__(self, form: FormatName) -> None:
        # A service may be started without stdout.
        self._stream = sys.stdout or open(os.devnull, "w")  # noqa: PTH123, SIM115
        self._reader_left = False
        self._write = FORMATS[form].writer(self._stream)
        self._poll = None
        if hasattr(select, "poll"):
            try:
                self._poll = select.poll()
                self._poll.register(self._stream.fileno(), 0)
            except (OSError, ValueError):  # not a real file, as in a test
                self._poll = None

    @property
    def wanted(self) -> bool:
        """Whether there may still be a reader; known before a line is printed if the system has ``poll``."""
        if self._poll is not None and not self._reader_left and self._poll.poll(0):
            self._leave()
        return not self._reader_left

    def print(self, file: str | None, detection: Detection) -> None:
        """Print a detection in ``file``, ``None`` for live audio."""
        if self._reader_left:
            return
        try:
            self._write(file, detection)
        except BrokenPipeError:
            self._leave()

    def _leave(self) -> None:
        self._reader_left = True
        # The unwritten text is still in Python's buffer, which is flushed again at exit.
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, self._stream.fileno())
        os.close(null)
