"""The server's log on stderr: lines for people, or JSON objects for programs."""

import json
import logging
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum

from wakeword.base.text import printable


class LogFormat(StrEnum):
    """How log lines are written."""

    TEXT = "text"
    JSON = "json"


_FIELDS = ("event", "peer", "word", "score", "timestamp", "code")
"""What a line of JSON has in addition to time, level and message, where it is known."""


_WARNINGS_SECONDS = 60.0
_MOST_WARNINGS = 5
"""Warnings of one code in that time."""

logger = logging.getLogger("wakeword.serve")


class ClientWarnings:
    """Warnings of what clients do: at most five of a code in a minute, so that no client can fill the log.

    Those beyond are counted, and said by ``summarise``; with ``--debug`` each is in the log.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock``: seconds."""
        self._clock = clock
        self._counts: dict[str, tuple[float, int]] = {}
        """By code: when its minute began, and how many there were since."""

    def warn(self, peer: str, message: str, code: str) -> None:
        """The client at ``peer`` was told ``message``; ``code`` is one of the server's own."""
        self.summarise()
        since, number = self._counts.get(code, (self._clock(), 0))
        self._counts[code] = since, number + 1
        level = logging.WARNING if number < _MOST_WARNINGS else logging.DEBUG
        logger.log(level, "%s: %s", peer, message, extra={"event": "error", "peer": peer, "code": code})

    def summarise(self) -> None:
        """Say how many warnings of the minutes that are over were left out. Called now and then."""
        now = self._clock()
        for code, (since, number) in list(self._counts.items()):
            if now - since < _WARNINGS_SECONDS:
                continue
            del self._counts[code]
            if number > _MOST_WARNINGS:
                logger.warning(
                    "%d further warnings '%s' in %.0f s are not shown",
                    number - _MOST_WARNINGS,
                    code,
                    now - since,
                    extra={"event": "error", "code": code},
                )


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        level = "" if record.levelno <= logging.INFO else f"{record.levelname.lower()}: "
        moment = datetime.fromtimestamp(record.created).isoformat(" ", "milliseconds")
        message, peer = record.getMessage(), getattr(record, "peer", None)
        if peer is not None and peer not in (record.args or ()):
            message = f"{peer}: {message}"
        # Nothing in names of files, and nothing that clients send, may forge a line or command a terminal.
        line = f"{moment} {level}{printable(' '.join(message.splitlines()))}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        content = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        content |= {name: getattr(record, name) for name in _FIELDS if hasattr(record, name)}
        if record.exc_info:
            content["trace"] = self.formatException(record.exc_info)
        return json.dumps(content)


def set_up_logs(form: LogFormat, *, debug: bool) -> None:
    """Send the log of the server to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if form is LogFormat.JSON else _Text())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("wakeword").setLevel(logging.DEBUG if debug else logging.INFO)
