"""Porcupine, which reports words and no scores, is swept over its sensitivities in one pass."""

import importlib.metadata
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from benchmarks.porcupine import KEY_VARIABLE, SENSITIVITIES, PorcupineEngine
from wakeword.base.errors import ConfigError
from wakeword_tools.contenders.seam import ENTRY_POINTS, contender_named
from wakeword_tools.measure.subject import HOP_SAMPLES, SubjectScorer, read_subject


class Fake:
    """Reports what is louder than 1 less its sensitivity."""

    frame_length = 512

    def __init__(self, *, access_key: str, keyword_paths: list[str], sensitivities: list[float]) -> None:
        self._least = 1 - sensitivities[0]

    def process(self, frame: np.ndarray) -> int:
        assert len(frame) == self.frame_length
        return 0 if np.abs(frame).max() / 32_768 > self._least else -1

    def delete(self) -> None:
        pass


@pytest.fixture
def word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    module = ModuleType("pvporcupine")
    module.__spec__ = SimpleNamespace(origin="fake")
    module.create = Fake
    monkeypatch.setitem(sys.modules, "pvporcupine", module)
    monkeypatch.setenv(KEY_VARIABLE, "key")
    file = tmp_path / "hey-marvin_linux.ppn"
    file.write_bytes(b"secret")
    found = importlib.metadata.entry_points

    def points(**wanted: str) -> list[EntryPoint]:
        own = EntryPoint("porcupine", "benchmarks.porcupine:ENGINE", ENTRY_POINTS)  # as a package would add it
        is_wanted = wanted.get("group") == ENTRY_POINTS and wanted.get("name", own.name) == own.name
        return [*([own] if is_wanted else []), *found(**wanted)]

    monkeypatch.setattr(importlib.metadata, "entry_points", points)
    return file


def test_a_threshold_fires_where_its_sensitivity_does(word: Path) -> None:
    model = read_subject(word)
    assert (model.card.phrase, model.card.names_phrase) == ("hey marvin", False)
    sound = np.random.default_rng(0).random(20 * HOP_SAMPLES).astype(np.float32) ** 200
    (scores,) = SubjectScorer([model]).score([sound])
    frames = np.abs(sound).reshape(-1, 512).max(axis=1).reshape(-1, HOP_SAMPLES // 512).max(axis=1)
    for sensitivity in SENSITIVITIES:
        threshold = 1 - sensitivity / 1.05
        assert ((scores[: len(frames)] >= threshold - 1e-9) == (frames > 1 - sensitivity)).all()
    assert 0 < (scores > PorcupineEngine.CUTOFF).sum() < len(scores)


def test_what_is_missing_is_named_in_one_line(word: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"expected an engine among .*porcupine.*, got 'another'"):
        contender_named("another")
    monkeypatch.delenv(KEY_VARIABLE)
    with pytest.raises(ConfigError, match=f"environment as {KEY_VARIABLE}, got none"):
        read_subject(word)
    monkeypatch.delitem(sys.modules, "pvporcupine")
    with pytest.raises(
        ConfigError, match="expected pvporcupine, which runs files of Porcupine, found none: pip install"
    ):
        read_subject(word)
