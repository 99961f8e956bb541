"""Lines on stdout. Its reader may stop reading."""

import sys

from wakeword.audio.detection import Detection
from wakeword.cli.console import discard, has_reader
from wakeword.cli.formats import FORMATS, TERMINAL, FormatName


class DetectionLines:
    """Prints detections on stdout, each immediately, as long as there is a reader.

    A reader that stops, such as ``head -1``, is not an error. Raises ``OSError`` if a line cannot be written for another
    reason, such as a full disk.
    """

    def __init__(self, form: FormatName) -> None:
        self._stream = sys.stdout
        self._reader_left = False
        is_for_a_person = form is FormatName.TEXT and self._stream.isatty()
        self._write = (TERMINAL if is_for_a_person else FORMATS[form]).writer(self._stream)

    @property
    def wanted(self) -> bool:
        """Whether there may still be a reader; known before a line is printed if the system has ``poll``."""
        if not self._reader_left and not has_reader(self._stream):
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
        discard(self._stream)
