"""Another engine is counted at its own threshold and at that of the speech, on the clips of the test alone."""

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from wakeword import ConfigError
from wakeword.base.types import Array, Scores
from wakeword_experiments.accuracy.accuracy_contenders import JudgedModel
from wakeword_experiments.two_stages import peers
from wakeword_experiments.two_stages.peers import measure_peer, measure_peers, peers_page
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.measure.subject import HOP_SAMPLES
from wakeword_train.config import TrainConfig
from wakeword_train.data.clips import Clip
from wakeword_train.training_run import DataFolders


def loudness(samples: Array) -> Scores:
    """An engine that takes what is loud for the word."""
    blocks = np.pad(samples, (0, -len(samples) % HOP_SAMPLES)).reshape(-1, HOP_SAMPLES)
    return np.abs(blocks).max(axis=1).astype(np.float64)


PEER = JudgedModel("loud 1.0", loudness, {"ours": False, "version": "1.0", "bytes": 1, "cutoff": 0.5})


def recording(folder: Path, name: str, kind: Kind, split: Split, levels: list[float]) -> Clip:
    """A second of silence before each loud moment."""
    path = folder / f"{name}.wav"
    samples = np.zeros(16_000 * 4 * len(levels), np.float32)
    for number, level in enumerate(levels):
        samples[16_000 * (4 * number + 1) :][:800] = level
    soundfile.write(path, samples, 16_000, subtype="FLOAT")
    return Clip(path, kind, name, name, split)


@pytest.fixture
def clips(tmp_path: Path) -> list[Clip]:
    return [
        recording(tmp_path, "a", Kind.POSITIVE, Split.TEST, [0.9]),
        recording(tmp_path, "b", Kind.POSITIVE, Split.TEST, [0.55]),
        recording(tmp_path, "c", Kind.POSITIVE, Split.TEST, [0.5]),
        recording(tmp_path, "heard", Kind.POSITIVE, Split.TRAIN, [0.9]),
        recording(tmp_path, "near", Kind.NEAR_NEGATIVE, Split.TEST, [0.7]),
        *(
            recording(tmp_path, f"speech {level}", Kind.BACKGROUND, Split.VALIDATION, [level])
            for level in (0.6, 0.2, 0.4)
        ),
        recording(tmp_path, "trained", Kind.BACKGROUND, Split.TRAIN, [0.9] * 9),
        recording(tmp_path, "noise", Kind.NOISE, Split.TEST, [0.01]),
    ]


def test_events_and_recall_at_both_thresholds(clips: list[Clip]) -> None:
    found = measure_peer(PEER, clips, lambda line: None)
    own, chosen = found["at_cutoff"], found["set"]
    assert [own["people"]["clean"][name] for name in ("found", "of")] == [2, 3]  # 0.5 itself is not above it
    assert own["close"]["clean"]["found"] == 1
    assert own["events"] == 1
    assert own["hours"] == pytest.approx(12 / 3600)
    # No event is allowed in so short a time, so the loudest moment of the speech must stay below.
    assert chosen["threshold"] > 0.599
    assert (chosen["events"], chosen["people"]["clean"]["found"]) == (0, 1)


def test_engines_of_an_earlier_record_stay(clips: list[Clip], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = JudgedModel("still 2.0", lambda samples: 0 * loudness(samples), {"cutoff": 0.5})
    monkeypatch.setattr(peers, "read_config", lambda path: TrainConfig(background_folds=2))
    monkeypatch.setattr(peers, "gather_clips", lambda config, folders: clips)
    figures = tmp_path / "peers.json"
    for working in (PEER, other):
        monkeypatch.setattr(peers, "peers", lambda working=working: ([working], {"gone": "not installed"}))
        measure_peers(tmp_path, DataFolders(), [], figures, command="c", report=lambda line: None)
    # With folds the speech of the train split counts too.
    (loud, _) = json.loads(figures.read_text(encoding="utf-8"))["peers"]
    assert loud["at_cutoff"]["events"] == 10
    page = figures.with_suffix(".md").read_text(encoding="utf-8")
    assert page.index("| loud 1.0 | its makers' | 67 / ") < page.index("| still 2.0 |")
    with pytest.raises(ConfigError, match="gone: not installed"):
        measure_peers(tmp_path, DataFolders(), ["gone"], figures, command="c", report=lambda line: None)


def test_the_page_says_how_many_people() -> None:
    share = {"found": 1, "of": 4, "rate": 0.25, "interval": [0.0, 0.8]}
    at = {"people": {"clean": share, "noisy": share}, "close": {}, "per_hour": [1.0, 0.5, 2.0], "hours": 3.0}
    record = {"keyword": "up", "command": "c", "date": "d", "peers": [{"name": "n", "at_cutoff": at, "set": at}]}
    assert "on the 4 recordings" in peers_page(record, figures="peers.json")
