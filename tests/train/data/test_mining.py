"""The hardest places of the background are found, and batches are drawn from them."""

import dataclasses
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from support.first_stages import train
from support.small_world import RATE, small_config, tones, write_world
from torch import Tensor

from wakeword.base.errors import ConfigError
from wakeword.format.card import DEFAULT_HOP
from wakeword_tools.kinds import Kind, Split
from wakeword_train import DataFolders
from wakeword_train.data.batches import BatchSampler, load_stores
from wakeword_train.data.clips import Clip
from wakeword_train.data.frontend import Frontend
from wakeword_train.data.mining import MiningConfig, hardest_places
from wakeword_train.data.store import ClipStore
from wakeword_train.epochs import score_windows
from wakeword_train.model.network import WakeWordNetwork
from wakeword_train.training import gather_clips

WINDOW, HOP = 98, 160 * DEFAULT_HOP


def loudest(windows: Tensor) -> Tensor:
    """A score that is highest for loud windows."""
    return windows[:, :, 0].mean(dim=1)


def long_recording(path: Path, *, seconds: float, loud_at: float) -> Clip:
    samples = 1e-3 * np.random.default_rng(0).standard_normal(round(seconds * RATE))
    start = round(loud_at * RATE)
    samples[start : start + RATE] *= 200
    soundfile.write(path, samples.astype(np.float32), RATE)
    return Clip(path, Kind.BACKGROUND, "speech", path.stem, Split.TRAIN)


@pytest.fixture
def background(tmp_path: Path) -> ClipStore:
    # The second is longer than a piece that is scored at a time, and loud only after the first piece.
    clips = [
        long_recording(tmp_path / "a.wav", seconds=4, loud_at=2.0),
        long_recording(tmp_path / "b.wav", seconds=65, loud_at=40.0),
    ]
    return ClipStore(clips)


def places(store: ClipStore, count: int) -> list[tuple[int, int]]:
    rows, offsets = hardest_places(store, loudest, frontend=Frontend(), window=WINDOW, count=count)
    return list(zip(rows.tolist(), offsets.tolist(), strict=True))


def test_the_places_do_not_depend_on_threads(background: ClipStore) -> None:
    torch.manual_seed(0)
    score = partial(score_windows, WakeWordNetwork(n_features=32, hidden_size=8, pooling="attention"))

    def found(threads: int) -> tuple[Tensor, ...]:
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            best = hardest_places(background, score, frontend=Frontend(), window=WINDOW, count=50)
            assert torch.get_num_threads() == threads
            return best
        finally:
            torch.set_num_threads(before)

    one, two = found(1), found(2)
    assert all(torch.equal(some, others) for some, others in zip(one, two, strict=True))
    assert len(one[0]) == 50


def test_the_hardest_place_of_each_recording_is_found(background: ClipStore) -> None:
    found = places(background, 4)
    assert {row for row, _ in found} == {0, 1}
    loud = {0: 2 * RATE, 1: 40 * RATE}
    assert all(abs(offset - loud[row]) <= 2 * HOP for row, offset in found)


def test_every_hop_of_every_recording_is_scored_once(background: ClipStore) -> None:
    found = places(background, 10_000)
    assert len(found) == len(set(found))
    span = Frontend().config.samples_in(WINDOW)
    for row, length in enumerate(background.lengths.tolist()):
        assert sorted(offset for r, offset in found if r == row) == list(range(0, length - span + 1, HOP))


def test_a_recording_shorter_than_a_window_has_no_place(tmp_path: Path) -> None:
    store = ClipStore([long_recording(tmp_path / "a.wav", seconds=0.5, loud_at=0.1)])
    assert places(store, 5) == []


def sampler_of(tmp_path: Path, share: float) -> BatchSampler:
    long_recording(tmp_path / "speech.wav", seconds=20, loud_at=12.0)
    config = small_config()
    stores = load_stores(
        gather_clips(config, DataFolders(speech_commands=write_world(tmp_path / "world"))), Split.TRAIN
    )
    stores[Kind.BACKGROUND] = ClipStore([long_recording(tmp_path / "long.wav", seconds=20, loud_at=12.0)])
    return BatchSampler(
        stores,
        mix=dataclasses.replace(config.mix, positive=0.01, negative=0.0, fragment=0.0, background=0.99),
        augmentation=dataclasses.replace(
            config.augmentation, noise_probability=0, reverb_probability=0, level_low=-30, level_high=-30
        ),
        window=WINDOW,
        batch_size=64,
        mining=MiningConfig(places=8, share=share),
        generator=torch.Generator().manual_seed(0),
    )


def loud_windows(sampler: BatchSampler) -> int:
    """Number of background windows in a batch whose level changes, as at the edges of the loud second."""
    batch = sampler.next()
    return int((batch.frames[batch.labels < 0.5][:, :, 0].std(dim=1) > 3).sum())


def test_batches_are_drawn_from_the_places_found(tmp_path: Path) -> None:
    sampler = sampler_of(tmp_path, share=1.0)
    before = loud_windows(sampler)

    def edges(windows: Tensor) -> Tensor:
        return windows[:, :, 0].std(dim=1)

    sampler.mine(edges)
    assert loud_windows(sampler) > 2 * before + 20


def test_rounds_are_spread_over_the_epochs_after_the_warm_up() -> None:
    assert MiningConfig(rounds=3).epochs(5, 20) == {5, 10, 15}
    assert MiningConfig(rounds=0).epochs(5, 20) == set()
    assert MiningConfig(rounds=4).epochs(2, 4) == {2, 3}


def test_a_run_with_background_mines_and_repeats(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    (tmp_path / "long").mkdir()
    for name in "abcd":
        samples = np.concatenate([tones((400.0,), random) for _ in range(8)])
        soundfile.write(tmp_path / "long" / f"{name}.wav", samples, RATE)
    world = DataFolders(speech_commands=write_world(tmp_path / "world"), background=[tmp_path / "long"])

    def losses(mining: MiningConfig) -> list[float]:
        result = train(small_config(method="bce", mining=mining), world, tmp_path / "m.onnx")
        return [report.loss for report in result.reports]

    mined, again, plain = (losses(MiningConfig(rounds=rounds, places=10)) for rounds in (1, 1, 0))
    assert mined == again
    # Equal up to the round before the third epoch, and different from there.
    assert mined[:2] == plain[:2]
    assert mined[2:] != plain[2:]


@pytest.mark.parametrize("wrong", [{"rounds": -1}, {"places": 0}, {"share": 1.5}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"expected (rounds|places|share), a"):
        MiningConfig(**wrong)  # type: ignore[arg-type]
