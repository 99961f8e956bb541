"""The cost of listening is measured on audio that no gate skips, and graded by the share of a core that it takes."""

import time

import numpy as np
import pytest

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.checkup import processor
from wakeword.checkup.processor import cost, examine_processor, speech_like

KEYWORD = "marvin"


def test_the_audio_never_pauses() -> None:
    audio = speech_like(2.0, np.random.default_rng(0))
    assert (audio.dtype, audio.shape) == (np.int16, (2 * SAMPLE_RATE,))
    levels = np.sqrt(np.square(audio.reshape(-1, SAMPLE_RATE // 50).astype(float)).mean(axis=1))
    # The quietest 20 ms are near -50 dBFS, far above a quiet room; the loudest are 20 dB above them.
    assert levels.min() > 100
    assert levels.max() > 10 * levels.min()


def test_the_cost_is_that_of_pushing_every_block_once() -> None:
    pushed = []

    def push(block: int) -> None:
        pushed.append(block)
        until = time.process_time() + 0.01
        while time.process_time() < until:
            pass

    cpu_ms, elapsed = cost(push, [1, 2, 3], 0.5)
    assert pushed == [1, 2, 3]
    # 30 ms for half a second of audio; other processes may run in between.
    assert cpu_ms == pytest.approx(60, rel=0.2)
    assert elapsed >= 0.9 * cpu_ms / 1_000


def test_the_cost_of_listening_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "_SECONDS", 0.5)
    found = examine_processor(KEYWORD)
    assert found.value is not None
    assert 0 < found.value < 1_000
    assert f"{found.value:.1f} ms of CPU" in found.text


@pytest.mark.parametrize(
    ("cpu_ms", "real_time_factor", "verdict"),
    [(50, 0.05, "ok"), (50, 0.3, "warn"), (300, 0.3, "warn"), (50, 0.8, "bad"), (900, 0.1, "bad")],
)
def test_the_busier_of_processor_and_clock_decides(
    monkeypatch: pytest.MonkeyPatch, cpu_ms: float, real_time_factor: float, verdict: str
) -> None:
    monkeypatch.setattr(processor, "cost", lambda *_: (cpu_ms, real_time_factor))
    found = examine_processor(KEYWORD)
    assert (found.value, found.unit, found.verdict) == (cpu_ms, "ms/s", verdict)
    assert bool(found.advice) == (verdict != "ok")


def test_a_model_that_does_not_run_is_a_finding() -> None:
    found = examine_processor("nonesuch")
    assert (found.value, found.verdict) == (None, "bad")
    assert "nonesuch" in found.text
