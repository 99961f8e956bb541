"""Laws of what a head hears: the steps of the network of phonemes, for all scenes and for pieces of speech."""

import numpy as np
import pytest
import torch
from support.micro_nets import random_frames, random_phonemes

from wakeword_export.micro.int8_phonemes import MicroPhonemes
from wakeword_export.student import heard_scenes as module
from wakeword_export.student.drawn_windows import MicroSpeech, StudentBatches, StudentScenes
from wakeword_export.student.heard_scenes import heard_scenes
from wakeword_export.student.scenes import SCENE_FRAMES, Scenes
from wakeword_export.student.separable_network import StudentNetwork, heard_shape
from wakeword_train.synthesis_config import StudentConfig

KINDS = ("words", "near", "talk", "noise")
WARM_UP = 50


def given() -> StudentScenes:
    own = [
        Scenes(random_frames(count * SCENE_FRAMES, count).reshape(count, SCENE_FRAMES, 40), np.full(count, 300 + count))
        for count in (3, 4, 5, 2)
    ]
    parts = torch.tensor([0, 100, 1_300]), torch.tensor([100, 1_200, 400])  # two are shorter than a scene
    return StudentScenes(*own, MicroSpeech(torch.from_numpy(random_frames(1_700, 9)), *parts))


def steps_of(network: MicroPhonemes, frames: np.ndarray) -> np.ndarray:
    return (network.steps(frames)[WARM_UP:].astype(int) + 128).astype(np.uint8)


def test_it_is_what_the_network_gives_at_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "varied", lambda windows, generator: windows)
    monkeypatch.setattr(module, "restyled", lambda windows, share, generator: windows)
    network, scenes = random_phonemes(), given()
    heard = heard_scenes(scenes, network, torch.Generator().manual_seed(0))
    for kind in KINDS:
        before, after = getattr(scenes, kind), getattr(heard, kind)
        steps = np.stack([steps_of(network, frames) for frames in before.frames])
        assert np.array_equal(after.frames, np.concatenate([steps, steps]))
        assert (after.ends == before.ends[0] // 3 - WARM_UP).all()
    pieces = [part.numpy() for _, parts in heard.speech.parts() for part in parts]
    assert {piece.shape for piece in pieces} == {(90, 16)}
    frames = scenes.speech.frames.numpy()
    possible = [steps_of(network, frames[first : first + SCENE_FRAMES]) for first in range(100, 881)]
    assert 2 <= len(pieces) <= 4
    assert all(any(np.array_equal(piece, one) for one in possible) for piece in pieces)


def test_each_hearing_has_other_voices_and_the_same_seed_the_same() -> None:
    first, again, other = (
        heard_scenes(given(), random_phonemes(), torch.Generator().manual_seed(seed)).words.frames for seed in (0, 0, 1)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert not np.array_equal(first[:3], first[3:])


def test_a_head_is_to_know_the_word_from_its_end_on_and_nothing_joins_two_pieces() -> None:
    shape, steps = heard_shape(random_phonemes()), np.arange(90, dtype=np.uint8)[:, None].repeat(16, axis=1)
    own = Scenes(np.stack([steps] * 4), np.full(4, 60))
    speech = MicroSpeech(torch.from_numpy(np.concatenate([steps] * 3)), 90 * torch.arange(3), torch.tensor([90] * 3))
    config = StudentConfig(batch_size=128, mined=20)
    batches = StudentBatches(StudentScenes(own, own, own, own, speech), config, torch.Generator().manual_seed(0), shape)
    for _ in range(2):
        batch = batches.next()
        windows = (batch.windows / shape.values.scale).round()[:, :, 0]
        assert windows.shape[1] == 50
        assert (windows.diff(dim=1) == 1).all()
        # The first of ten outputs comes 0 to 3 steps after the word's last.
        assert {int(last) - 9 - 59 for last in windows[batch.targets == 1][:, -1]} == {0, 1, 2, 3}
        batches.mine(StudentNetwork(shape))
