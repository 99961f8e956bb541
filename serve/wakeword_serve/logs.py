"""The server's log on stderr, a line for each message."""

import logging
import sys
import time
from datetime import datetime

from wakeword.base.text import printable

_WARNINGS_SECONDS = 60.0
_MAX_WARNINGS = 5
"""Warnings of one code in that time."""

logger = logging.getLogger("wakeword.serve")


class ClientWarnings:
    """Warnings of what clients do: at most five of a code in a minute, so that no client can fill the log.

    With ``--debug`` each is in the log.
    """

    def __init__(self) -> None:
        self._counts: dict[str, tuple[float, int]] = {}
        """By code: when its minute began, and how many there were since."""

    def warn(self, peer: str, message: str, code: str) -> None:
        """The client at ``peer`` was told ``message``; ``code`` is one of the server's own."""
        now = time.monotonic()
        since, number = self._counts.get(code, (now, 0))
        if now - since >= _WARNINGS_SECONDS:
            since, number = now, 0
        self._counts[code] = since, number + 1
        logger.log(logging.WARNING if number < _MAX_WARNINGS else logging.DEBUG, "%s: %s", peer, message)


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        level = "" if record.levelno <= logging.INFO else f"{record.levelname.lower()}: "
        moment = datetime.fromtimestamp(record.created).isoformat(" ", "milliseconds")
        # Nothing in names of files, and nothing that clients send, may forge a line or command a terminal.
        line = f"{moment} {level}{printable(' '.join(record.getMessage().splitlines()))}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def set_up_logs(*, debug: bool) -> None:
    """Send the log of the server to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Text())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("wakeword").setLevel(logging.DEBUG if debug else logging.INFO)
