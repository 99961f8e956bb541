"""Laws of fitting: a part is the mean of its rounds, the same wherever it is fitted, and unlike the others."""

import dataclasses
import pickle

import numpy as np
import pytest
import torch
from support.micro_nets import random_frames

from wakeword_export.student import parts as module
from wakeword_export.student.drawn_windows import MicroSpeech, StudentScenes
from wakeword_export.student.parts import PartWork, fit_student, parts_of, student_of
from wakeword_export.student.scenes import SCENE_FRAMES, Scenes
from wakeword_export.student.separable_network import FEATURES
from wakeword_train.synthesis_config import StudentConfig

SMALL = StudentConfig(steps=3, batch_size=48, mining_rounds=1, mined=20)


def some_scenes(count: int, seed: int) -> Scenes:
    frames = random_frames(count * SCENE_FRAMES, seed).reshape(count, SCENE_FRAMES, -1)
    return Scenes(frames, np.full(count, 200))


def all_scenes() -> StudentScenes:
    speech = MicroSpeech(torch.from_numpy(random_frames(1300)), torch.tensor([0, 400]), torch.tensor([400, 900]))
    return StudentScenes(*(some_scenes(8, seed) for seed in range(4)), speech)


@pytest.mark.filterwarnings("ignore:Detected call of:UserWarning")
def test_parts_differ_and_are_the_same_in_every_process() -> None:
    scenes, items = all_scenes(), parts_of(SMALL, has_head=True)
    assert len({item.key for item in items}) == len(items) == 3
    assert parts_of(SMALL, has_head=False) == items[1:]
    there = pickle.loads(pickle.dumps(PartWork(scenes, SMALL, 7))).begin(lambda *_: None)
    here = PartWork(scenes, SMALL, 7).begin(lambda *_: None)
    rows, windows = {item: there(item) for item in items}, torch.from_numpy(random_frames(400)).reshape(2, 200, 40)
    for item in items[::-1]:
        again = here(item)
        assert all(np.array_equal(rows[item][name], again[name]) for name in again)
    assert not np.array_equal(*(rows[item]["last.weight"] for item in items[1:]))
    both, head = student_of(rows.items(), windows)
    alone, no_head = student_of([(item, rows[item]) for item in items[1:]], windows)
    assert head is not None
    assert no_head is None
    assert np.allclose(both.last.scales, alone.last.scales / 2)
    assert len(both.first.bias) == 2 * FEATURES.first


def test_a_student_has_the_mean_of_the_weights_at_the_ends_of_its_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = list[StudentConfig]()

    def steps(network: torch.nn.Module, _: object, config: StudentConfig) -> list[torch.optim.Optimizer]:
        rounds.append(config)
        for one in network.state_dict().values():
            one.fill_(len(rounds) ** 2)
        return []

    monkeypatch.setattr(module, "_steps", steps)
    monkeypatch.setattr(module, "StudentBatches", lambda *_: None)
    config = dataclasses.replace(SMALL, steps=30, mining_rounds=8)
    network = fit_student(None, config, thinned=0.0, seed=0)  # type: ignore[arg-type]  # nothing is drawn
    assert [(one.steps, one.mining_rounds) for one in rounds] == [(30, 8), (10, 2), (10, 2)]
    for one in (*network.parameters(), *network.buffers()):
        assert not one.is_floating_point() or torch.allclose(one, torch.tensor((1 + 4 + 9) / 3))
