"""Making the quick recogniser: its file says what its network says, and its lessons say what is in them."""

import numpy as np
import onnxruntime
import pytest
import torch

from scripts.ear.ear_alignment import Alignment
from scripts.ear.ear_speech import SpokenUtterance, Way
from scripts.ear.ear_windows import BEFORE, AlignedSpeech, Surroundings
from scripts.ear.quick_network import QuickNetwork, bands_of_power, quick_graph
from scripts.ear.quick_teaching import QuickLessons, make_lessons, teach_quick
from wakeword.audio.features import FeatureConfig, dct_matrix, mfcc
from wakeword.base.types import Array
from wakeword.verify.embedding import WARM_UP, EmbeddingNetwork
from wakeword.verify.phoneme_verifier import BLANK, WORD_BOUNDARY

TOKENS = (BLANK, WORD_BOUNDARY, "a", "m", "s")


class Teacher:
    """Hears an "a" wherever it is loud."""

    tokens = TOKENS

    def log_probabilities(self, samples: Array) -> Array:
        loud = np.abs(samples.reshape(-1, 320)).max(axis=1) > 0.05
        found = np.full((len(loud), len(TOKENS)), -14.0, np.float32)
        found[np.arange(len(loud)), np.where(loud, 2, 0)] = 0
        return found


@pytest.fixture(scope="module")
def network() -> QuickNetwork:
    torch.manual_seed(0)
    network = QuickNetwork(len(TOKENS), width=16, mean=-8.0, deviation=4.0)
    for _ in range(3):  # so that the normalisations have something to normalise
        network(torch.randn(4, 40, 32) * 4 - 8)
    return network.eval()


@pytest.fixture(scope="module")
def lessons() -> QuickLessons:
    random = np.random.default_rng(0)
    samples = np.zeros(6 * 16_000, np.float16)
    for start in range(8_000, len(samples), 16_000):
        samples[start : start + 6_000] = random.normal(0, 0.2, 6_000)
    one = SpokenUtterance("somebody", ((Way(("AA",), True),),), samples)
    starts = np.arange(25, 300, 50)
    alignment = Alignment(starts=starts, phones=["AA"] * len(starts), words=np.arange(len(starts)), loss=0.1)
    speech = AlignedSpeech([one], [alignment], [np.full(len(starts), 2)], TOKENS.index(WORD_BOUNDARY))
    noises = [random.normal(0, 0.05, 5 * 16_000).astype(np.float32) for _ in range(2)]
    around = Surroundings([np.eye(1, 400, dtype=np.float32)[0]], noises)
    return make_lessons(speech, around, Teacher(), 40, 0)  # type: ignore[arg-type]


def power_of(steps: int) -> Array:
    random = np.random.default_rng(1)
    return (random.random((8 * steps, 257)) * 1e7).astype(np.float32)


def test_the_file_says_step_by_step_what_the_network_says(network: QuickNetwork) -> None:
    file = quick_graph(network, TOKENS).SerializeToString()
    graph = EmbeddingNetwork(onnxruntime.InferenceSession(file))
    power, caches, found = power_of(20), graph.start(), []
    for step in range(20):
        steps, caches = graph.advance(power[8 * step : 8 * step + 8], caches)
        found.append(steps)
    with torch.no_grad():
        log_mel = torch.from_numpy(np.log(power @ bands_of_power() + FeatureConfig().log_offset))[None]
        said = torch.log_softmax(network(log_mel), dim=2)[0].numpy()
    assert np.allclose(np.concatenate(found).reshape(-1, len(TOKENS)), said, atol=1e-4)


def test_what_it_keeps_between_steps_is_replaced_within_the_warm_up(network: QuickNetwork) -> None:
    graph = EmbeddingNetwork(onnxruntime.InferenceSession(quick_graph(network, TOKENS).SerializeToString()))
    power = power_of(WARM_UP + 4)
    begun = [np.full_like(one, 7.0) for one in graph.start()]
    clean, other = graph.advance(power, graph.start())[0], graph.advance(power, begun)[0]
    assert np.array_equal(clean[WARM_UP:], other[WARM_UP:])
    assert not np.array_equal(clean[WARM_UP - 1], other[WARM_UP - 1])


def test_its_energies_are_those_of_the_mfcc(lessons: QuickLessons) -> None:
    """So the MFCC of a pack say what it would hear there."""
    random = np.random.default_rng(2)
    samples = (random.normal(0, 0.1, 16_000) * np.sin(np.arange(16_000) / 900)).astype(np.float32)
    frames = np.lib.stride_tricks.sliding_window_view(samples, 400)[::160]
    window = 32_767 * (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400))
    power = np.abs(np.fft.rfft(frames * window, 512)) ** 2
    ours = np.log(power @ bands_of_power() + FeatureConfig().log_offset)
    theirs = mfcc(samples) @ dct_matrix(FeatureConfig()).T
    assert np.abs(ours - theirs)[:, 4:].mean() < 0.25


def test_lessons_hold_what_is_heard_in_clean_sound_and_nothing_where_nobody_speaks(lessons: QuickLessons) -> None:
    assert lessons.log_mel.shape[1:] == ((BEFORE + 32_000) // 160, 32)
    assert lessons.tokens == (BLANK, "a")
    assert np.allclose(lessons.said.sum(axis=2), 1, atol=0.01)
    ways = np.bincount(lessons.numbers, minlength=len(lessons.said))
    alone = lessons.said[:, :, 0].min(axis=1) > 0.99
    assert set(ways) == {1, 3}
    assert alone[ways == 1].all()
    assert not alone[ways == 3].all()


def test_it_learns_what_the_recogniser_says_and_always_the_same(lessons: QuickLessons) -> None:
    losses: list[float] = []
    taught = [
        teach_quick(lessons, width=16, steps=60, batch=16, progress=lambda _, loss: losses.append(loss))
        for _ in range(2)
    ]
    assert losses[:60] == losses[60:]
    assert np.mean(losses[50:60]) < 0.7 * np.mean(losses[:5])
    for one, other in zip(*(one.state_dict().values() for one in taught), strict=True):
        assert torch.equal(one, other)
