"""A detector of several words for measurements of cost, which costs nothing else."""

import subprocess
import sys
from pathlib import Path

import numpy as np
from support.builders import random_model_bytes

from benchmarks.own_engine import OURS, detector_for
from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.checkup.processor import speech_like
from wakeword.model.installed import assets_folder
from wakeword_tools.measure.subject import HOP_SAMPLES, SubjectScorer, first_end, read_subject


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


def test_our_own_streaming_interface_gives_the_scores_that_are_judged(tmp_path: Path) -> None:
    sound = read_audio(assets_folder() / "audio" / "demo.flac")[: 3 * SAMPLE_RATE]
    (tmp_path / "own.onnx").write_bytes(random_model_bytes("attention", 2))
    model = read_subject(file := tmp_path / "own.onnx")
    expected = SubjectScorer([model]).score([sound])[0]
    running, pcm = OURS.open([file]), (sound * 32_768).astype(np.int16)
    for _ in range(2):
        running.reset()
        scores = [running.push(hop) for hop in pcm[: len(pcm) // HOP_SAMPLES * HOP_SAMPLES].reshape(-1, HOP_SAMPLES)]
        first = first_end(model) // HOP_SAMPLES
        np.testing.assert_allclose(scores[first:], expected[: len(scores) - first], atol=1e-4)
