"""The server's log on stderr: lines for people, or JSON objects for programs."""

import json
import logging
import sys
from datetime import UTC, datetime
from enum import StrEnum

from wakeword.escaping import printable


class LogFormat(StrEnum):
    """How log lines are written."""

    TEXT = "text"
    JSON = "json"


_FIELDS = ("event", "peer", "word", "score", "timestamp", "code")
"""What a line of JSON has in addition to time, level and message, where it is known."""


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        level = "" if record.levelno <= logging.INFO else f"{record.levelname.lower()}: "
        moment = datetime.fromtimestamp(record.created).isoformat(" ", "milliseconds")
        # Of the names of files and of what clients send nothing may forge a line or command a terminal.
        line = f"{moment} {level}{printable(' '.join(record.getMessage().splitlines()))}"
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
