"""A process that may not work is waited for; one that hangs is not."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.counting import isolated

from wakeword.batch.jobs import processes
from wakeword.batch.jobs.processes import Patience, state_of

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs the state of processes in /proc")


@contextmanager
def program(code: str) -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-c", f"print(flush=True); {code}"], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
    finally:
        process.kill()
        process.communicate()


def test_the_cpu_time_of_a_process_is_its_own() -> None:
    state = state_of(os.getpid())
    assert state is not None
    assert state[1] == pytest.approx(time.process_time(), abs=1.0)
    assert state_of(2**30) is None


def test_a_process_that_waits_for_something_has_its_seconds_and_no_more() -> None:
    with program("import time; time.sleep(60)") as pid:
        waited = Patience(pid, 0.3)
        assert not waited.is_over()
        time.sleep(0.4)
        assert waited.is_over()


def test_a_process_that_works_all_the_time_has_its_seconds_of_work() -> None:
    with program("exec('while True: pass')") as pid:
        waited, began = Patience(pid, 0.3), state_of(pid)
        assert began is not None
        while not waited.is_over():
            time.sleep(0.01)
        ended = state_of(pid)
        assert ended is not None
        assert ended[1] - began[1] >= 0.28


def test_a_suspended_process_is_waited_for_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    with program("import time; time.sleep(60)") as pid:
        os.kill(pid, signal.SIGSTOP)
        waited = Patience(pid, 0.2)
        time.sleep(0.3)
        assert not waited.is_over()
        monkeypatch.setattr(waited, "_latest", time.monotonic())
        time.sleep(0.3)
        assert waited.is_over()


def test_an_unknown_process_has_its_seconds_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "state_of", lambda pid: None)
    waited = Patience(os.getpid(), 0.1)
    time.sleep(0.15)
    assert waited.is_over()


def slow(folder: str) -> str:
    (Path(folder) / "pid").write_text(str(os.getpid()))
    time.sleep(0.3)
    return "done"


def test_work_that_was_suspended_for_longer_than_it_may_take_is_done(tmp_path: Path) -> None:
    def suspend() -> None:
        while not (tmp_path / "pid").is_file() or not (tmp_path / "pid").read_text():
            time.sleep(0.005)
        pid = int((tmp_path / "pid").read_text())
        os.kill(pid, signal.SIGSTOP)
        time.sleep(2.5)
        os.kill(pid, signal.SIGCONT)

    thread = threading.Thread(target=suspend)
    thread.start()
    assert dict(isolated(slow, [str(tmp_path)], timeout=1.5)) == {0: "done"}
    thread.join()
