"""How long to wait for a process: by the time that it could work, on a machine that has other work too."""

import os
import time
from pathlib import Path

_MOST = 10
"""No process is waited for more than so many times its seconds."""
_HELD_BACK = "RTD"
"""States of a process that is not waiting for anything of its own: for a core, to be continued, for a disk."""


def state_of(pid: int) -> tuple[str, float] | None:
    """The letter of a process's state and the CPU seconds that it has used; ``None`` where the system does not say.

    Source: proc_pid_stat(5).
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        return fields[0], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return None


class Patience:
    """Waits ``seconds`` for a process, and longer while it is kept from working: on a busy machine, or suspended."""

    def __init__(self, pid: int | None, seconds: float) -> None:
        self._pid, self._seconds = pid, seconds
        now = time.monotonic()
        self.deadline, self._latest = now + seconds, now + _MOST * seconds
        began = self._state()
        self._used_before = began[1] if began is not None else 0.0

    def is_over(self) -> bool:
        """Whether the process had its time; the ``deadline`` moves where it had not."""
        now = time.monotonic()
        if now < self.deadline:
            return False
        state = self._state()
        if now >= self._latest or state is None or state[0] not in _HELD_BACK:
            return True
        lack = self._seconds - (state[1] - self._used_before)
        if lack <= 0:
            return True
        self.deadline = min(self._latest, now + lack)
        return False

    def _state(self) -> tuple[str, float] | None:
        return None if self._pid is None else state_of(self._pid)
