"""What known voices do to false wakes: the rules that are measured are a detector's."""

from pathlib import Path

import numpy as np
import pytest

from wakeword.base.files import file_sha256
from wakeword.verify import known_voices
from wakeword.verify.known_voices import KnownVoice, Voices
from wakeword_experiments.known_voice.false_wakes import Enrolled, WordWindows, fires
from wakeword_experiments.known_voice.one_home import logit

ALIKE = 0.7


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.9])
def test_a_window_fires_as_in_a_detector(threshold: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = tmp_path / "speakers.onnx"
    network.write_bytes(b"network")
    me, other = np.eye(192, dtype=np.float32)[:2]
    random = np.random.default_rng(1)
    cosines, scores = random.uniform(0.3, 0.9, 200), random.uniform(0.02, 0.99, 200)
    directions = np.array([one * me + np.sqrt(1 - one**2) * other for one in cosines], np.float32)
    windows = WordWindows([("", 0.0)] * 200, np.array([logit(one) for one in scores]), directions)
    near = Enrolled(me, ALIKE).near(directions)
    for rule in ("known voice", "only"):
        known = KnownVoice("me", tuple(me.tolist()), ALIKE, 10, file_sha256(network))
        voices = Voices((known,), network, only=rule == "only")
        found = fires(windows, near, rule, logit(threshold))
        for number, direction in enumerate(directions):
            monkeypatch.setattr(known_voices, "direction_of", lambda *_, direction=direction: direction)
            _, at_least = voices.judge(threshold, np.zeros(0, np.float32))
            assert found[number] == (scores[number] >= at_least)
    assert np.array_equal(fires(windows, near, "no voice", logit(threshold)), scores >= threshold)
