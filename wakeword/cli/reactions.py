"""What a detection sets off: a program to run, files to keep."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from wakeword.cli.console import complain
from wakeword.errors import ConfigError

if TYPE_CHECKING:
    from wakeword import Detection

MAX_RUNNING = 16
"""Programs of ``--exec`` that may run at a time; one that never ends must not pile up for days."""


class Runner:
    """Runs a program at each detection and does not wait for it.

    ``command`` is split as a shell would, but no shell runs it. The program finds ``WAKEWORD_KEYWORD``,
    ``WAKEWORD_SCORE``, ``WAKEWORD_START`` and ``WAKEWORD_END`` (seconds) in its environment, and ``WAKEWORD_AUDIO``
    if the audio is saved. Raises ``typer.BadParameter`` for an empty or unfinished command and ``ConfigError`` if
    there is no such program.
    """

    def __init__(self, command: str) -> None:
        try:
            self._arguments = shlex.split(command)
        except ValueError as error:
            raise typer.BadParameter(f"--exec {command!r}: {error}") from error
        if not self._arguments:
            raise typer.BadParameter("--exec: expected a command, got an empty one")
        if shutil.which(self._arguments[0]) is None:
            raise ConfigError(f"--exec: there is no program {self._arguments[0]!r} that can be run; check its path")
        self._running: list[subprocess.Popen[bytes]] = []

    def __call__(self, detection: "Detection", audio: Path | None) -> None:
        for process in self._running:
            if process.poll():
                complain(f"--exec: {self._arguments[0]} ended with status {process.returncode}")
        self._running = [process for process in self._running if process.returncode is None]
        if len(self._running) >= MAX_RUNNING:
            complain(f"--exec skipped: {MAX_RUNNING} of its programs are still running")
            return
        environment = {
            **os.environ,
            "WAKEWORD_KEYWORD": detection.keyword,
            "WAKEWORD_SCORE": str(detection.score),
            "WAKEWORD_START": str(detection.start),
            "WAKEWORD_END": str(detection.end),
            **({} if audio is None else {"WAKEWORD_AUDIO": str(audio)}),
        }
        # Its output goes to stderr, so that stdout holds detections only. A session of its own keeps Ctrl-C, which
        # ends the listening, from it.
        self._running.append(
            subprocess.Popen(
                self._arguments,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr,
                stderr=sys.stderr,
                start_new_session=True,
            )
        )


class Saver:
    """Saves each detection: its audio as 16-bit WAV, and beside it a JSON file that tells what was found when.

    The JSON file comes last, so that whoever sees it finds the audio. Raises ``ConfigError`` if
    ``folder`` is a file and ``OSError`` if it cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"--save: expected a folder, got the file {folder}; choose another")
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        # With microseconds, so that two listeners started together do not write over each other's files.
        self._run = f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}"
        self._saved = 0

    def __call__(self, detection: "Detection") -> Path:
        import numpy as np

        from wakeword.audio import write_audio
        from wakeword.files import replacing

        self._saved += 1
        keyword = re.sub(r"[^\w-]+", "_", detection.keyword)
        path = self._folder / f"{keyword}-{self._run}-{self._saved:04d}.wav"
        samples = np.clip(np.rint(detection.audio * 32_768), -32_768, 32_767).astype(np.int16)
        with replacing(path) as temporary:
            write_audio(temporary, samples)
        content = {
            "keyword": detection.keyword,
            "score": detection.score,
            "start": detection.start,
            "end": detection.end,
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "audio": path.name,
        }
        with replacing(path.with_suffix(".json")) as temporary:
            temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        return path


class Reactions:
    """What ``listen`` does at a detection beside printing it. A failure is reported and listening goes on."""

    def __init__(self, command: str | None, folder: Path | None) -> None:
        self._run = None if command is None else Runner(command)
        self._save = None if folder is None else Saver(folder)

    def __call__(self, detection: "Detection") -> None:
        audio = None
        try:
            if self._save is not None:
                audio = self._save(detection)
        except OSError as error:
            complain(f"--save: {error}")
        try:
            if self._run is not None:
                self._run(detection, audio)
        except OSError as error:
            complain(f"--exec: {error}")
