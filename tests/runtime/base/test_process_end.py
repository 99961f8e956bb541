"""The end of the process comes between two blocks of audio, never inside one."""

import subprocess
import sys
from pathlib import Path

BUSY = """if True:
    import sys, threading, time
    import numpy as np
    from wakeword import Detector, DetectorPool, load_model

    model = load_model(sys.argv[1])
    noise = (0.1 * np.random.default_rng(0).standard_normal(1_280)).astype(np.float32)
    detector, pool = Detector(model, gate=False), DetectorPool(model, gate=False)
    stream = pool.open()
    rounds = [0, 0]

    def push():
        while True:
            detector.push(noise)
            rounds[0] += 1

    def process():
        while True:
            stream.push(noise)
            pool.process()
            rounds[1] += 1

    for work in (push, process):
        threading.Thread(target=work, daemon=True).start()
    while min(rounds) < 2:
        time.sleep(0.01)
"""


def test_the_end_does_not_interrupt_daemon_threads_inside_a_library(models: Path) -> None:
    """Several times, as an abort is a matter of chance; most of the time it came without the wait."""
    for _ in range(4):
        command = [sys.executable, "-c", BUSY, models / "low.onnx"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, "")
