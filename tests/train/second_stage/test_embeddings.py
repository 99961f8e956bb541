"""Embeddings of looks are those that the running engine computes, and what is kept on disk is what was computed."""

from pathlib import Path

import numpy as np
import pytest
import torch
from support.builders import colours

from wakeword.model.installed import assets_folder
from wakeword.verify.embedding import EmbeddingNetwork, embeddings_of
from wakeword.verify.shared import EMBEDDING_FILE, load_embedding
from wakeword_train.model.two_stage import shipped_digests
from wakeword_train.second_stage.looks import cutter
from wakeword_train.second_stage.looks import examples as module
from wakeword_train.second_stage.looks.cutter import WARMED_LOOK_SAMPLES
from wakeword_train.second_stage.looks.examples import embeddings_of_looks, embeddings_of_recording, kept_arrays


@pytest.fixture(scope="module")
def network() -> EmbeddingNetwork:
    return load_embedding(assets_folder() / "encoders" / EMBEDDING_FILE, shipped_digests().embedding)


def test_a_look_without_variation_has_the_embeddings_of_the_stream(
    network: EmbeddingNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutter, "WARP", 0.0)
    monkeypatch.setattr(cutter, "TILT", 0.0)
    samples = colours(5.0, np.random.default_rng(0))
    stream = embeddings_of(network, samples)
    last = len(stream) - 3
    end = last * 1_280 + 7 * 160 + 344
    look = torch.from_numpy(samples[end - WARMED_LOOK_SAMPLES : end])
    (found,) = embeddings_of_looks(network, look[None], torch.Generator().manual_seed(0))
    expected = stream[last - 15 : last + 1]
    assert np.abs(found.numpy() - expected).max() < 2e-3 * np.abs(expected).max()


def test_variation_changes_a_look_and_is_repeatable(network: EmbeddingNetwork) -> None:
    looks = torch.from_numpy(colours(3.0, np.random.default_rng(0))[:WARMED_LOOK_SAMPLES])[None]
    first, second, other = (
        embeddings_of_looks(network, looks, torch.Generator().manual_seed(seed)) for seed in (0, 0, 1)
    )
    assert torch.equal(first, second)
    assert not torch.equal(first, other)


def test_a_recording_is_embedded_as_the_engine_does(network: EmbeddingNetwork) -> None:
    samples = colours(2.0, np.random.default_rng(0))
    found = embeddings_of_recording(network, torch.from_numpy(samples))
    assert torch.equal(found, torch.from_numpy(embeddings_of(network, samples).astype(np.float16)))


def test_what_was_kept_is_not_computed_again_and_what_is_damaged_is(tmp_path: Path) -> None:
    calls = []

    def compute() -> dict[str, torch.Tensor]:
        calls.append(1)
        return {"one": torch.arange(6, dtype=torch.float16).view(2, 3)}

    folder = tmp_path / "kept"
    for expected in (1, 1):
        assert torch.equal(kept_arrays(folder, {"key": 1}, compute)["one"], compute()["one"])
        calls.pop()
        assert len(calls) == expected
    kept_arrays(folder, {"key": 2}, compute)
    assert len(calls) == 2
    for file in folder.iterdir():
        file.write_bytes(file.read_bytes()[:50])
    kept_arrays(folder, {"key": 1}, compute)
    assert len(calls) == 3
    assert not [file for file in folder.iterdir() if file.suffix != ".npz"]


def test_embeddings_of_another_version_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept_arrays(tmp_path, {"key": 1}, lambda: {"one": torch.zeros(1)})
    monkeypatch.setattr(module, "_VERSION", -1)
    assert float(kept_arrays(tmp_path, {"key": 1}, lambda: {"one": torch.ones(1)})["one"]) == 1
