"""``serve --improve nightly``: each model of the followed folder learns from what was kept, at three in the night.

In a process of its own: the server needs none of the packages of training, and goes on with the old model until the new
file is whole.
"""

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from datetime import datetime, time, timedelta
from pathlib import Path

from wakeword.base.plugins import require_training_packages

_AT = time(3)
_SECONDS = 3_600.0
"""A process that takes longer is ended."""


def seconds_to_night(now: datetime) -> float:
    """Seconds from ``now``, local time, until it is next three o'clock; never 0, so that one night is one run."""
    night = datetime.combine(now.date(), _AT)
    return (night - now if night > now else night + timedelta(days=1) - now).total_seconds()


class Nightly:
    """Improves the models of ``folder`` every night, in a thread, until ``close``. ``report`` gets a line for each.

    ``options`` are of ``wakeword improve``. ``start`` raises ``ConfigError`` without the packages of training.
    """

    def __init__(self, folder: Path, options: Sequence[str], report: Callable[[str], None]) -> None:
        self._folder, self._options, self._report = folder, tuple(options), report
        self._closed = threading.Event()
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Begin to wait for the night."""
        require_training_packages()
        threading.Thread(target=self._run, name="wakeword-nightly", daemon=True).start()

    def close(self) -> None:
        """End, and a process too: the model that it worked on stays as it is."""
        self._closed.set()
        process = self._process
        if process is not None:
            process.terminate()

    def _run(self) -> None:
        while not self._closed.wait(seconds_to_night(datetime.now())):
            self.improve_all()

    def improve_all(self) -> None:
        """Improve each model, one after the other."""
        for path in sorted(self._folder.glob("*.onnx")):
            if self._closed.is_set():
                return
            if not path.name.startswith("."):
                self._improve(path)

    def _improve(self, path: Path) -> None:
        command = [sys.executable, "-P", "-m", "wakeword", "improve", str(path), *self._options]
        try:
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
                self._process = process
                if self._closed.is_set():
                    process.terminate()
                try:
                    _, said = process.communicate(timeout=_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    said = f"{path}: improve was ended after {_SECONDS:.0f} s"
        except OSError as error:
            said = f"{path}: improve could not be started: {error.strerror}"
        finally:
            self._process = None
        for line in said.splitlines()[-1:]:
            self._report(line.removeprefix("wakeword: "))
