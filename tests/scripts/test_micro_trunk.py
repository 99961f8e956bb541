"""Laws of the trunk: it learns what its teachers say, twice the same, and students begin with the shipped one."""

from pathlib import Path

import numpy as np
import torch
from support.micro_nets import random_frames

from scripts.encoder.encoder_file import save_encoder
from scripts.encoder.micro_trunk import TrunkLessons, pretrained
from scripts.make_micro_trunk import FRAMES, SECONDS, stretches, words_joined
from wakeword_export.student.separable_network import TRUNK, StudentNetwork
from wakeword_train.model.network import begin_with_encoder, encoder_path


def lessons() -> TrunkLessons:
    """Of two kinds of stretches, in turn; each kind has a phoneme and a point of the embedding of its own."""
    kinds = torch.arange(14) % 2
    frames = torch.from_numpy(np.stack([random_frames(FRAMES, number) // 2 for number in range(14)]))
    phonemes = torch.zeros(14, 300, 3, dtype=torch.uint8)
    phonemes[torch.arange(14), :, 2 * kinds] = 255
    embedding = torch.randn(2, 1, 96, generator=torch.Generator().manual_seed(0)).expand(2, 74, 96)[kinds]
    return TrunkLessons((frames + (100 * kinds[:, None, None]).to(torch.uint8))[None], phonemes, embedding.half())


def test_it_learns_and_is_the_same_twice(tmp_path: Path) -> None:
    losses: list[float] = []
    first, second = (
        pretrained(lessons(), 12, seed=0, progress=lambda step, loss: losses.append(loss)) for _ in range(2)
    )
    assert losses[11] < 0.6 * losses[0]
    assert torch.equal(first.first.weight, second.first.weight)
    save_encoder(first, tmp_path / "own.npz", provenance={"steps": 12}, parts=TRUNK)
    network = StudentNetwork()
    assert begin_with_encoder(network, tmp_path / "own.npz", parts=TRUNK) == {"steps": 12}
    assert torch.allclose(network.first.weight, first.first.weight, atol=1e-3)


def test_students_begin_with_the_shipped_one() -> None:
    network = StudentNetwork()
    before = network.last.weight.clone()
    assert begin_with_encoder(network, encoder_path("micro"), parts=TRUNK)["hours"] > 9
    assert torch.equal(network.last.weight, before)
    assert network.state_dict()["norms.0.running_var"].std() > 0


def test_words_become_stretches_of_one_length() -> None:
    words = [np.full(16_000, level, np.float32) for level in (0.1, 0.9)] * 5
    joined = words_joined(words, np.random.default_rng(0))
    found = stretches(joined)
    assert {len(piece) for piece in found} == {SECONDS * 16_000}
    assert 0.15 < max(float(np.abs(piece).max()) for piece in found) <= 0.5
