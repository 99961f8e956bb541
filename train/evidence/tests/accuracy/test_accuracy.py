"""Cards say how recordings were dealt; other engines are heard by one rule, or named where they are missing."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from support.builders import card

from wakeword.base.errors import ConfigError
from wakeword.format.card import ModelCard
from wakeword_experiments.accuracy import accuracy_contenders
from wakeword_experiments.accuracy.accuracy_contenders import peer, peers
from wakeword_experiments.accuracy.held_out import data_folders, dealing
from wakeword_tools.contenders.seam import Contender
from wakeword_tools.measure.subject import HOP_SAMPLES


class Loudness:
    """Another engine's stream: its score is the loudness of the block, and it remembers the loudest since its reset."""

    def __init__(self) -> None:
        self.resets = 0
        self.loudest = 0.0

    def push(self, block: np.ndarray) -> float:
        assert block.shape == (HOP_SAMPLES,)
        assert block.dtype == np.int16
        self.loudest = max(self.loudest, float(np.abs(block).max()) / 32_768)
        return self.loudest

    def reset(self) -> None:
        self.resets += 1
        self.loudest = 0.0

    @property
    def cutoff(self) -> float:
        return 0.5


def trained(**changes: object) -> ModelCard:
    """A card with the settings by which its recordings were dealt."""
    config = {"split": "dealt", "validation_share": 0.15, "test_share": 0.3, "hold_out_recorded": False, **changes}
    return dataclasses.replace(card("alexa"), training={"config": config})


def test_models_that_were_dealt_differently_are_refused() -> None:
    assert dealing({"one": trained(), "two": trained()}).test_share == 0.3
    with pytest.raises(ConfigError, match=r"one has test_share = 0\.3 and two 0\.2") as caught:
        dealing({"one": trained(), "two": trained(test_share=0.2)})
    assert "\n" not in str(caught.value)
    with pytest.raises(ConfigError, match="lacks split"):
        dealing({"old": dataclasses.replace(card("alexa"), training={"config": {}})})


def test_folders_follow_the_shipped_recipes(tmp_path: Path) -> None:
    for word in ("jarvis", "alexa", "computer"):
        (tmp_path / "wake_words" / word).mkdir(parents=True)
    folders = data_folders(tmp_path, "alexa")
    assert [folder.name for folder in folders.positives] == ["alexa"]
    assert [folder.name for folder in folders.negatives] == ["computer", "jarvis"]
    of_other = data_folders(tmp_path, "stop")
    assert list(of_other.positives) == []
    assert [folder.name for folder in of_other.negatives] == ["alexa", "computer", "jarvis"]


def test_missing_peers_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(files: object) -> Loudness:
        raise OSError("its library\nis gone")

    installed = Contender("micro", "micro", "pymicro-wakeword", "json", broken)
    missing = Contender("open", "open", "openwakeword", "no_such_package", broken)
    monkeypatch.setattr(accuracy_contenders, "PEERS", (installed, missing))
    working, absent = peers()
    assert working == []
    assert absent["openwakeword"] == "not installed"
    assert absent["pymicro-wakeword"] == "installed, but did not run: OSError: its library is gone"


def test_a_peer_hears_every_recording_in_whole_blocks_from_a_fresh_state() -> None:
    stream = Loudness()
    one = peer("stub", "1.0", stream, size=7, cutoff=0.5)
    samples = np.random.default_rng(0).uniform(-0.9, 0.9, round(2.5 * HOP_SAMPLES)).astype(np.float32)
    blocks = np.abs(np.round(np.pad(samples, (0, -len(samples) % HOP_SAMPLES)) * 32_767)).reshape(-1, HOP_SAMPLES)
    expected = np.maximum.accumulate(blocks.max(axis=1)) / 32_768
    for _ in range(2):
        np.testing.assert_array_equal(one.score(samples), expected)
    assert stream.resets == 2
    assert (one.name, one.facts) == ("stub 1.0", {"ours": False, "version": "1.0", "bytes": 7, "cutoff": 0.5})
