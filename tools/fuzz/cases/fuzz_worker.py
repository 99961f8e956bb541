"""One process with some cases of a target: it tells the outcome of each, and may hang or crash."""

import contextlib
import ctypes
import faulthandler
import json
import os
import resource
import select
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path
from random import Random
from typing import NoReturn

from benchmarks.memory import peak_memory, resident_memory
from fuzz.cases.laws import BrokenLawError, Case, FuzzTarget, outcome_of

MAX_GROWTH_MB = 30.0
"""Allowed difference of the memory at the end of a batch and after the first half of it.

Where it is more, the second half runs again, and what that adds counts: what libraries load at first use they keep."""
_MIN_FOR_GROWTH = 30
"""Smaller batches are not judged by their growth: libraries fill their caches."""
_MAX_ADDRESSES = 6 * 2**30
"""Bytes of address space: a case that wants more gets an error, and other programs keep their memory."""
_CLEAR_REFS = Path("/proc/self/clear_refs")


class Worker:
    """A forked process that runs the cases of ``seeds`` in folders of that name, until one breaks a law."""

    def __init__(self, target: FuzzTarget, case: Case, folder: Path, seeds: range) -> None:
        self._target = target
        self._pipe, writing = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self._child = os.fork()
        if self._child == 0:
            os.close(self._pipe)
            _work(target, case, folder, seeds, writing)
        os.close(writing)
        self._rest = b""
        self._used: resource.struct_rusage | None = None

    def next(self) -> tuple[str, str | None]:
        """The outcome of the next case, and the law that it broke, if any."""
        ending = time.monotonic() + self._target.seconds
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self._pipe], [], [], max(0.0, ending - time.monotonic()))
            if not ready:
                return "", f"hangs: not done after {self._target.seconds:.0f} s"
            read = os.read(self._pipe, 65_536)
            if not read:
                return "", f"ended its process with {self._wait()}"
            self._rest += read
        line, _, self._rest = self._rest.partition(b"\n")
        outcome, law = json.loads(line)
        return outcome, law

    def end(self) -> float:
        """End the process, if it still runs, and what it started; the CPU time that it took."""
        for kill in (os.killpg, os.kill):
            # It has no group before it makes one, and is no more after a crash.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if self._used is None or kill is os.killpg:
                    kill(self._child, signal.SIGKILL)
        os.close(self._pipe)
        if self._used is None:
            self._wait()
        assert self._used is not None
        return self._used.ru_utime + self._used.ru_stime

    def _wait(self) -> str:
        """Wait for its end; how it ended."""
        _, status, self._used = os.wait4(self._child, 0)
        return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {os.WEXITSTATUS(status)}"


def _work(target: FuzzTarget, case: Case, folder: Path, seeds: range, writing: int) -> NoReturn:
    """In the forked process: run the cases and write a line for each. Never returns to the program above."""
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (_MAX_ADDRESSES, _MAX_ADDRESSES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _give_back_freed_memory()
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        half = len(seeds) // 2
        settled: float | None = None
        for number, seed in enumerate(seeds):
            outcome, law = _attempt(target, case, Random(f"{seed}"), folder / str(seed))
            if number == half:
                settled = resident_memory()
            if law is None and number == len(seeds) - 1 >= _MIN_FOR_GROWTH and _grown(settled) > MAX_GROWTH_MB:
                law = _growth_again(target, case, folder, seeds[half + 1 :])
            os.write(writing, json.dumps([outcome, law]).encode() + b"\n")
            if law is not None:
                break
    finally:
        os._exit(0)


def _give_back_freed_memory() -> None:
    """Return the memory that the program above had freed, so that a case cannot hide its own need in it (glibc only)."""
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _grown(before: float | None) -> float:
    """How many MB of memory this process took since it had ``before``; 0 where that cannot be told."""
    now = resident_memory()
    return 0.0 if now is None or before is None else now - before


def _growth_again(target: FuzzTarget, case: Case, folder: Path, seeds: range) -> str | None:
    """The law that is broken if the cases of ``seeds``, which have run before, take memory once more."""
    before = resident_memory()
    for seed in seeds:
        _attempt(target, case, Random(f"{seed}"), folder / str(seed))
    grown = _grown(before)
    return f"memory grew by {grown:.0f} MB when {len(seeds)} cases ran again" if grown > MAX_GROWTH_MB else None


def _attempt(target: FuzzTarget, case: Case, random: Random, folder: Path) -> tuple[str, str | None]:
    """Run one case: its outcome and the law that it broke. Its folder is kept only in that case."""
    folder.mkdir()
    faulthandler.enable((folder / "crash.txt").open("w"))
    before = resident_memory()
    if _CLEAR_REFS.exists():
        _CLEAR_REFS.write_text("5")  # the peak begins again here
    try:
        outcome = outcome_of(target, case, random, folder)
        after = peak_memory()
        if _CLEAR_REFS.exists() and before is not None and after is not None and after - before > target.most_mb:
            raise BrokenLawError(f"took {after - before:.0f} MB of memory")
    except BrokenLawError as error:
        (folder / "traceback.txt").write_text(traceback.format_exc(), encoding="utf-8", errors="replace")
        return "", str(error)[:2_000]
    shutil.rmtree(folder, ignore_errors=True)
    return outcome, None
