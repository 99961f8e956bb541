"""``listen --exec``: running a program at each detection without waiting for it."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillSaving
from contextlib import suppress
from pathlib import Path

import typer

from wakeword.audio.detection import Detection
from wakeword.base.errors import ConfigError, reason_of
from wakeword.cli.console import complain

MAX_RUNNING = 16
"""Programs that may run at the same time; programs that never end must not accumulate for days."""
_SECONDS_FOR_SAVING = 2.0
_SECONDS_TO_END = 1.0

_FOR_A_SHELL = re.compile(r"\d?[<>|&].*|.*;|.*(\{(keyword|score|start|end|audio)\}|\$WAKEWORD_).*", re.DOTALL)
"""A word that means something to a shell: an operator at its beginning, a semicolon at its end, or a variable."""


class Runner:
    """Runs a program at each detection, without a shell, and does not wait for it.

    ``command`` is split as a shell would. The program finds ``WAKEWORD_KEYWORD``, ``WAKEWORD_SCORE``,
    ``WAKEWORD_START`` and ``WAKEWORD_END`` (seconds) in its environment, and ``WAKEWORD_AUDIO`` if the audio is saved
    by then. After ``timeout`` seconds (0: never) it is ended, with all processes in its process group. Its output goes to
    stderr. Raises ``typer.BadParameter`` for an empty command, an unclosed quote or what only a shell understands, and
    ``ConfigError`` if there is no such program.
    """

    def __init__(self, command: str, *, timeout: float) -> None:
        try:
            self._arguments = shlex.split(command)
        except ValueError as error:
            raise typer.BadParameter(f"--exec {command!r}: {error}") from error
        if not self._arguments:
            raise typer.BadParameter("--exec: expected a command, got an empty one")
        # With -c the program has a language of its own, in which these words may mean something.
        if "-c" not in self._arguments and any(map(_FOR_A_SHELL.fullmatch, self._arguments)):
            shell = re.sub(r"\{(\w+)\}", lambda field: f"$WAKEWORD_{field[1].upper()}", command)
            line = shlex.quote(shlex.join(["sh", "-c", shell]))
            raise typer.BadParameter(
                f"--exec runs a program, without a shell; try: --exec {line}, with $WAKEWORD_KEYWORD for the word"
            )
        if shutil.which(self._arguments[0]) is None:
            raise ConfigError(
                f"--exec: expected an executable program, found no {self._arguments[0]!r}; check its path"
            )
        self._timeout = timeout or None
        self._places = threading.Semaphore(MAX_RUNNING)
        self._starting: set[Future[None]] = set()
        self._skipped = False

    def run(self, detection: Detection, saved: Future[Path | None] | None) -> None:
        """Run the program for a detection; ``saved`` is the path of its audio, which may still be being saved."""
        if not self._places.acquire(blocking=False):
            if not self._skipped:
                complain(f"--exec skipped: {MAX_RUNNING} of its programs are still running")
            self._skipped = True
            return
        self._skipped = False
        started: Future[None] = Future()
        self._starting = {start for start in self._starting if not start.done()} | {started}
        # A program that hangs must not keep the process from ending.
        threading.Thread(
            target=self._attend, args=(detection, saved, started), name="wakeword-exec", daemon=True
        ).start()

    def close(self, seconds_left: Callable[[], float | None]) -> None:
        """Wait until the last programs are started, or for the seconds that are left. Running programs are not stopped."""
        while any(not start.done() for start in self._starting) and seconds_left() != 0:
            time.sleep(0.01)

    def _attend(self, detection: Detection, saved: Future[Path | None] | None, started: Future[None]) -> None:
        try:
            try:
                process = self._start(detection, saved)
            finally:
                started.set_result(None)
            try:
                status = process.wait(self._timeout)
            except subprocess.TimeoutExpired:
                complain(f"--exec: {self._arguments[0]} was ended after {self._timeout:g} s")
                _end(process)
            else:
                if status:
                    how = f"killed by signal {-status}" if status < 0 else f"ended with status {status}"
                    complain(f"--exec: {self._arguments[0]} {how}")
        except Exception as error:  # of any kind: the program for the next detection can be started
            complain(f"--exec: {self._arguments[0]}: {reason_of(error)}")
        finally:
            self._places.release()

    def _start(self, detection: Detection, saved: Future[Path | None] | None) -> subprocess.Popen[bytes]:
        audio = None
        if saved is not None:
            # If the disk hangs, the program runs without the audio.
            with suppress(StillSaving):
                audio = saved.result(_SECONDS_FOR_SAVING)
        environment = {
            **os.environ,
            "WAKEWORD_KEYWORD": detection.keyword,
            "WAKEWORD_SCORE": str(detection.score),
            "WAKEWORD_START": str(detection.start),
            "WAKEWORD_END": str(detection.end),
            **({} if audio is None else {"WAKEWORD_AUDIO": str(audio)}),
        }
        # Its output goes to stderr, so that stdout has only detections. In a separate session it does not receive the
        # Ctrl-C that ends listening.
        return subprocess.Popen(
            self._arguments,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            stderr=sys.stderr,
            start_new_session=True,
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program that leads its own session, and everything it started there."""
    if sys.platform == "win32":
        process.kill()
    else:
        # Not waited for in between: until then no other process can get its process ID.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
            time.sleep(_SECONDS_TO_END)
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
