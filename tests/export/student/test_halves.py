"""Laws of fitting: a half is the mean of its rounds, the same wherever it is fitted, and unlike the other."""

import dataclasses
import pickle

import numpy as np
import pytest
import torch
from support.micro_nets import random_frames

from wakeword_export.student import halves as module
from wakeword_export.student.drawn_windows import MicroSpeech, StudentScenes
from wakeword_export.student.halves import HalfWork, fit_student, half_of, halves
from wakeword_export.student.scenes import SCENE_FRAMES, Scenes
from wakeword_train.synthesis_config import StudentConfig

SMALL = StudentConfig(steps=3, batch_size=48, mining_rounds=1, mined=20)


def some_scenes(count: int, seed: int) -> Scenes:
    frames = random_frames(count * SCENE_FRAMES, seed).reshape(count, SCENE_FRAMES, -1)
    return Scenes(frames, np.full(count, 200))


@pytest.mark.filterwarnings("ignore:Detected call of:UserWarning")
def test_halves_differ_and_are_the_same_in_every_process() -> None:
    speech = MicroSpeech(torch.from_numpy(random_frames(900)), torch.tensor([0, 400]), torch.tensor([400, 500]))
    scenes = StudentScenes(*(some_scenes(8, seed) for seed in range(4)), speech)
    items = halves(SMALL)
    assert len({item.key for item in items}) == len(items) == 2
    there = pickle.loads(pickle.dumps(HalfWork(scenes, SMALL, 7))).begin(lambda *_: None)
    fitted = [half_of(there(item)).state_dict() for item in items]
    for item, weights in zip(items, fitted, strict=True):
        here = fit_student(scenes, SMALL, thinned=item.thinned, seed=7).state_dict()
        assert all(torch.equal(weights[name], here[name]) for name in here)
    assert not torch.equal(*(weights["last.weight"] for weights in fitted))


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
