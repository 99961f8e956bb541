"""A fork and the end of the process come between two blocks of audio, never inside one."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from wakeword.base.standstill import Order, Standstill

BUSY = """if True:
    import os, sys, threading, time
    import numpy as np
    from wakeword import Detector, DetectorPool, load_model

    model = load_model(sys.argv[1])
    noise = (0.1 * np.random.default_rng(0).standard_normal(1_280)).astype(np.float32)
    detector, pool = Detector(model, gate=False), DetectorPool(model, gate=False)
    stream = pool.open()
    rounds = [0, 0, 0]

    def push():
        while True:
            detector.push(noise)
            rounds[0] += 1

    def process():
        while True:
            stream.push(noise)
            pool.process()
            rounds[1] += 1

    def load():
        while True:
            load_model(sys.argv[1])
            rounds[2] += 1

    for work in (push, process, load):
        threading.Thread(target=work, daemon=True).start()
    while min(rounds) < 2:
        time.sleep(0.01)
"""


def run(code: str, model: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", code, model], capture_output=True, text=True, timeout=120)


def test_the_end_does_not_interrupt_daemon_threads_inside_a_library(models: Path) -> None:
    """Several times, as an abort is a matter of chance; most of the time it came without the wait."""
    for _ in range(4):
        done = run(BUSY, models / "low.onnx")
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_uses_the_detectors_it_inherits_and_makes_new_ones(models: Path) -> None:
    code = (
        BUSY
        + """
    for _ in range(3):
        before = list(rounds)
        child = os.fork()
        if not child:
            detector.push(noise)
            stream.push(noise)
            pool.process()
            stream.close()
            pool.close()
            detector.close()
            with Detector(load_model(sys.argv[1])) as own:
                own.push(noise)
                own.flush()
            os._exit(7)
        # A child that waits for ever is ended by the time limit of the test.
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        while any(now <= then + 1 for now, then in zip(rounds, before)):  # the parent goes on
            time.sleep(0.01)
    print("well")
    """
    )
    done = run(code, models / "low.onnx")
    assert (done.returncode, done.stdout, done.stderr) == (0, "well\n", "")


def test_a_lock_is_got_from_a_thread_that_takes_it_over_and_over() -> None:
    standstill = Standstill()
    lock, rounds, stopped = standstill.new_lock(Order.READER), [0], threading.Event()

    def work() -> None:
        while not stopped.is_set():
            if standstill.is_closed:
                standstill.wait()
            with lock:
                rounds[0] += 1

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(20):
        standstill.close()
        done = rounds[0]
        standstill.wait()  # not for the one who closed it
        assert rounds[0] == done
        standstill.open()
    stopped.set()
    thread.join(10)
    assert not thread.is_alive()


def test_locks_may_be_made_while_others_are_waited_for() -> None:
    standstill = Standstill()
    kept: list[object] = [standstill.new_lock(Order.READER) for _ in range(500)]
    stopped = threading.Event()

    def make() -> None:
        while not stopped.is_set() and len(kept) < 20_000:
            kept.append(standstill.new_lock(Order.READER))

    thread, interval = threading.Thread(target=make), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        thread.start()
        for _ in range(20):
            standstill.close()
            standstill.open()
    finally:
        sys.setswitchinterval(interval)
        stopped.set()
        thread.join(10)
    assert not thread.is_alive()
    assert len(kept) > 500
