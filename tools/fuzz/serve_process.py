"""``wakeword serve`` in a process of its own, watched from outside."""

import os
import re
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path

from wakeword.base.errors import ConfigError

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class ServeProcess:
    """A server of some models on a port of its own. A context manager; Linux only.

    Raises ``ConfigError`` if it does not start.
    """

    def __init__(self, *options: str) -> None:
        if not Path("/proc/self/stat").exists():
            raise ConfigError("expected Linux, where /proc says what a process uses")
        command = [sys.executable, "-m", "wakeword", "serve", "--uri", "tcp://127.0.0.1:0", *options]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self._last: deque[str] = deque(maxlen=20)
        self.faults: list[str] = []
        """Lines of its log that tell of errors of its own."""
        self.uri = self._ready()
        threading.Thread(target=self._drain, daemon=True).start()

    def _ready(self) -> str:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._last.append(line)
            if (found := re.search(r"serving .* (tcp://\S+:\d+)", line)) is not None:
                return found[1]
        raise ConfigError(f"expected a server, it ended: {''.join(self._last).strip()}")

    def _drain(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if "Traceback" in line or "please report" in line or "never retrieved" in line:
                self.faults.append(line.strip())

    def cpu_seconds(self) -> float:
        """CPU time used so far, by all its threads."""
        # The second field is the name of the program, in brackets.
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def resident_mb(self) -> float:
        """Memory held now, in MB of 2**20 bytes."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1_024  # type: ignore[index]

    def __enter__(self) -> "ServeProcess":
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.terminate()
        try:
            status = self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = None
        if status != 0:
            self.faults.append(f"expected the server to end with status 0 at SIGTERM, got {status}")
