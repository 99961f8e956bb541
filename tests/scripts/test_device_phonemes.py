"""Phonemes for other engines: a lesson says what is heard in it, and whole numbers say what the network says."""

import numpy as np
import pytest
import torch

from scripts.ear import distilling
from scripts.ear.distilling import DeviceLessons, make_lessons, teach_in_rounds
from scripts.ear.ear_alignment import Alignment
from scripts.ear.ear_speech import SpokenUtterance, Way
from scripts.ear.ear_windows import AlignedSpeech, Surroundings
from scripts.ear.micro_teaching import LATE, as_features, quantised, teach_micro, told_of
from wakeword.base.types import Array
from wakeword.verify.phoneme_verifier import BLANK, WORD_BOUNDARY
from wakeword_export.micro.mixed_net import OF_FEATURES, STRIDE

pytest.importorskip("pymicro_features", reason="needs pymicro-features, through which a device hears")

TOKENS = ("a", "m", WORD_BOUNDARY, BLANK)


class Teacher:
    """Hears an "a" wherever it is loud."""

    tokens = (BLANK, "s", *TOKENS[:3])

    def log_probabilities(self, samples: Array) -> Array:
        loud = np.abs(samples.reshape(-1, 320)).max(axis=1) > 0.05
        found = np.full((len(loud), len(self.tokens)), -14.0, np.float32)
        found[np.arange(len(loud)), np.where(loud, 2, 0)] = 0
        return found


@pytest.fixture(scope="module")
def lessons() -> DeviceLessons:
    random = np.random.default_rng(0)
    samples = np.zeros(8 * 16_000, np.float16)
    for start in range(8_000, len(samples), 16_000):
        samples[start : start + 6_000] = random.normal(0, 0.2, 6_000)
    one = SpokenUtterance("somebody", ((Way(("AA",), True),),), samples)
    starts = np.arange(25, 400, 50)
    alignment = Alignment(starts=starts, phones=["AA"] * len(starts), words=np.arange(len(starts)), loss=0.1)
    speech = AlignedSpeech([one], [alignment], [np.full(len(starts), 2)], 4)
    noises = [random.normal(0, 0.05, 5 * 16_000).astype(np.float32) for _ in range(2)]
    around = Surroundings([np.eye(1, 400, dtype=np.float32)[0]], noises)
    teacher: Teacher = Teacher()
    return make_lessons(speech, samples, around, teacher, TOKENS, as_features, 40, 0)  # type: ignore[arg-type]


def test_lessons_are_windows_in_surroundings_with_what_the_teacher_hears(lessons: DeviceLessons) -> None:
    assert lessons.heard.shape == (len(lessons.numbers), 300, 40)
    assert lessons.said.shape == (40, 150, len(TOKENS))
    assert np.allclose(lessons.said.sum(axis=2), 1, atol=1e-2)
    ways = np.bincount(lessons.numbers, minlength=40)
    assert set(ways) == {1, 3}
    alone = lessons.said[ways == 1]
    assert (alone[:, :, TOKENS.index(BLANK)] == 1).all()
    assert (lessons.said[ways == 3][:, :, 0] > 0.9).any()


def test_what_is_told_is_said_late_and_nothing_of_it_is_lost(lessons: DeviceLessons) -> None:
    said = np.zeros((1, 150, len(TOKENS)), np.float16)
    said[:, :, TOKENS.index(BLANK)] = 1
    said[0, 60] = (0, 1, 0, 0)  # at 1.2 s
    one = DeviceLessons(lessons.heard[:1], np.array([0]), said, TOKENS)
    (told,) = told_of(one, np.array([0]), 100)
    assert np.allclose(told.sum(axis=1), 1)
    assert told[:, 1].argmax() == 1_210 // 30 + LATE
    assert told[:, 1].sum() == pytest.approx(1)


def test_it_learns_the_same_twice_and_its_whole_numbers_say_what_it_says(lessons: DeviceLessons) -> None:
    losses = list[float]()

    def tell(step: int, loss: float) -> None:
        losses.append(loss)

    settings = {"width": 12, "layers": 2, "batch": 16, "seed": 1}
    network = teach_micro(lessons, steps=60, progress=tell, **settings)
    assert np.mean(losses[-10:]) < 0.7 * np.mean(losses[:10])
    again = teach_micro(lessons, steps=60, **settings)
    assert all(torch.equal(one, other) for one, other in zip(network.parameters(), again.parameters(), strict=True))
    whole = quantised(network, lessons)
    assert whole.tokens == TOKENS
    frames = lessons.heard[3]
    with torch.no_grad():
        said = network(torch.from_numpy(frames[None].astype(np.float32) * np.float32(OF_FEATURES.scale)))[0].numpy()
    steps = (whole.steps(frames).astype(np.float32) - whole.outputs.zero) * np.float32(whole.outputs.scale)
    found = steps @ whole.weight.T + whole.bias
    assert found.shape == (300 // STRIDE, len(TOKENS))
    assert np.abs(found - said).mean() < 0.1 * np.abs(said - said.mean(axis=1, keepdims=True)).mean()
    assert (found.argmax(axis=1) == said.argmax(axis=1)).mean() > 0.9


def test_silence_that_is_sure_takes_no_steps_from_the_sounds(lessons: DeviceLessons) -> None:
    network = teach_micro(lessons, width=8, layers=1, steps=2)
    usual = quantised(network, lessons).largest
    bias: torch.Tensor = network.head.state_dict()["bias"]
    bias[TOKENS.index(BLANK)] += 50
    assert quantised(network, lessons).largest == usual
    bias[TOKENS.index("a")] += 50
    assert quantised(network, lessons).largest > 40


def test_a_network_gets_the_mean_of_the_ends_of_its_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    network, rounds = torch.nn.BatchNorm1d(1), list[tuple[bool, int]]()

    def teach(network: torch.nn.Module, loss_of_batch, *, steps: int, **_) -> None:  # type: ignore[no-untyped-def]
        rounds.append((loss_of_batch.keywords["words"], steps))
        for one in network.state_dict().values():
            one.fill_(2 ** len(rounds))

    monkeypatch.setattr(distilling, "teach", teach)
    teach_in_rounds(network, torch.zeros, steps=10, rate=1e-3, decay=0, progress=lambda *_: None)
    assert rounds == [(False, 10), (True, 5), (True, 5), (True, 5)]
    for one in ("weight", "running_var"):
        assert float(network.state_dict()[one]) == pytest.approx((4 + 8 + 16) / 3)
