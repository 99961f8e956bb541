"""Laws of what is heard of a stream where the package that takes an echo out is not installed."""

import importlib.util

import numpy as np
import pytest

from wakeword import ConfigError, Detector, DetectorPool, FileSource, Model
from wakeword.model.installed import assets_folder

DEMO = assets_folder() / "audio" / "demo.flac"
LINE = r'^packages are missing: wakeword-echo; pip install "wakeword\[echo\]"$'


@pytest.fixture(autouse=True)
def without_echo(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "wakeword_echo" else find(name))


def test_a_playback_is_refused_in_one_line_and_leaves_the_stream(low_model: Model) -> None:
    """Also where nothing plays: the answer does not wait for the first sound."""
    blocks = list(FileSource(DEMO).blocks())
    detector, other = Detector(low_model), Detector(low_model)
    for number, block in enumerate(blocks):
        if number % 5 == 1:
            with pytest.raises(ConfigError, match=LINE):
                detector.push(block, np.zeros_like(block))
        assert detector.push(block) == other.push(block)
        assert detector.scores == other.scores
    assert detector.flush() == other.flush()


def test_a_rate_or_a_source_of_a_playback_is_refused_before_any_audio(low_model: Model) -> None:
    with pytest.raises(ConfigError, match=LINE):
        Detector(low_model, playback_rate=48_000)
    with pytest.raises(ConfigError, match=LINE):
        next(Detector(low_model).run(FileSource(DEMO), playback=FileSource(DEMO)))
    with DetectorPool(low_model) as pool, pytest.raises(ConfigError, match=LINE):
        pool.open(playback_rate=48_000)
