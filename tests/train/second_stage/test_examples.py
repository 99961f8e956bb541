"""The background's embeddings are kept by recording: another set of recordings computes only those that are new."""

from pathlib import Path

import numpy as np
import pytest
import torch
from soundfile import write
from support.builders import colours

from wakeword.base.events import SILENT
from wakeword_tools.kinds import Kind, Split
from wakeword_train.data.augment import AugmentationConfig
from wakeword_train.data.clips import Clip
from wakeword_train.data.store import ClipStore
from wakeword_train.second_stage.looks import examples as module
from wakeword_train.second_stage.looks.examples import ExampleMaker, Recordings


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> list[Clip]:
    folder = tmp_path_factory.mktemp("background")
    found = []
    for index in range(3):
        path = folder / f"{index}.wav"
        write(path, 0.1 * colours(2.0, np.random.default_rng(index)), 16_000)
        found.append(Clip(path, Kind.BACKGROUND, "", str(index), Split.TRAIN))
    return found


def embedded(clips: list[Clip], cache: Path) -> Recordings:
    stores = {Kind.BACKGROUND: ClipStore(clips)}
    maker = ExampleMaker(stores, AugmentationConfig(), cache, seed=0, events=SILENT)
    return maker.recordings()


def test_a_recording_has_the_same_embeddings_in_any_company(
    clips: list[Clip], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed = []
    original = module.embeddings_of_recording
    monkeypatch.setattr(module, "embeddings_of_recording", lambda *a: computed.append(1) or original(*a))
    alone = embedded(clips[1:2], tmp_path / "alone")
    computed.clear()
    first = embedded(clips[:2], tmp_path / "kept")
    assert len(computed) == 4  # two recordings, each as it is and varied
    second = embedded(clips[1:], tmp_path / "kept")
    assert len(computed) == 6
    for recordings, row in ((first, 1), (second, 0)):
        assert torch.equal(recordings.clean[row], alone.clean[0])
        assert torch.equal(recordings.varied[row], alone.varied[0])
    assert not torch.equal(first.varied[0], first.clean[0])
    assert not torch.equal(first.varied[0], first.varied[1])
