"""A detector of several words for measurements of cost, which costs nothing else."""

import subprocess
import sys

import numpy as np

from benchmarks.own_engine import detector_for
from wakeword.checkup.processor import speech_like


def test_one_model_serves_as_several_keywords_and_never_fires() -> None:
    detector = detector_for("marvin", 3)
    assert len(detector.keywords) == 3
    assert not list(detector.push(speech_like(1.0, np.random.default_rng(0))))


def test_the_engine_is_imported_when_it_is_asked_for() -> None:
    """Otherwise the benchmark would not count that import as the start of the engine."""
    program = (
        "import sys; import benchmarks.own_engine as own; print('wakeword.engine' in sys.modules); "
        "from wakeword import Detector; before = set(sys.modules); own.detector_for('marvin', 1); "
        "print(*sorted(name for name in set(sys.modules) - before if name.startswith('wakeword_')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
