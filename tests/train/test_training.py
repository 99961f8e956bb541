"""A run learns, is repeatable, and writes a model that the runtime accepts."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from support.first_stages import train
from support.small_world import small_config, write_world

from wakeword.audio.audio_file import read_audio
from wakeword.base.errors import ConfigError, DataError
from wakeword.model.model import read_model
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.measure.scores import clip_score
from wakeword_train import DataFolders, TrainConfig, epochs
from wakeword_train.epochs import best_epoch
from wakeword_train.training import TrainingResult, gather_clips
from wakeword_train.training_run import EpochReport, TrainingEvents


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> DataFolders:
    return DataFolders(speech_commands=write_world(tmp_path_factory.mktemp("world")))


def weights(path: Path) -> float:
    return read_model(path).card.self_test.logit


@pytest.mark.parametrize("method", ["bce", "drocc-oe", "drocc-lf"])
def test_a_run_learns_and_the_runtime_accepts_its_file(method: str, world: DataFolders, tmp_path: Path) -> None:
    config = small_config(method=method)
    schedule = dataclasses.replace(config.schedule, epochs=6)
    result = train(dataclasses.replace(config, schedule=schedule), world, tmp_path / "m.onnx")
    model = read_model(result.path)
    assert model.card.training["method"] == method
    assert model.card.training["data"]["positive"]["clips"] > 0
    held_out = [clip for clip in result.clips if clip.split is not Split.TRAIN]
    scores = {
        kind: [clip_score(model, read_audio(clip.path)) for clip in held_out if clip.kind is kind]
        for kind in (Kind.POSITIVE, Kind.NEGATIVE)
    }
    # With any seed all pairs are in order, because the tones differ in pitch. By chance half of them would be.
    in_order = np.subtract.outer(scores[Kind.POSITIVE], scores[Kind.NEGATIVE]) > 0
    assert in_order.mean() > 0.9


def test_the_adversary_is_active_and_its_health_is_in_the_card(world: DataFolders, tmp_path: Path) -> None:
    # The network does not change, and the steps are short: the ascent raises the loss regardless of training.
    config = small_config()
    config = dataclasses.replace(
        config,
        schedule=dataclasses.replace(config.schedule, learning_rate=1e-12, weight_decay=0.0),
        adversary=dataclasses.replace(config.adversary, step_size=0.02),
    )
    reports: list[EpochReport] = []
    result = train(config, world, tmp_path / "m.onnx", events=TrainingEvents(epoch=reports.append))
    assert [report.phase for report in reports] == ["warm-up", "warm-up", "drocc-lf", "drocc-lf"]
    for health in (reports[-2].health, reports[-1].health):
        assert health is not None
        assert health.loss_after > health.loss_before
        assert health.fallbacks == 0
    best = read_model(result.path).card.training["best_epoch"]
    assert best["health"] == dataclasses.asdict(reports[best["epoch"] - 1])["health"]


def test_a_run_without_negatives_finishes(world: DataFolders, tmp_path: Path) -> None:
    result = train(small_config(method="drocc"), world, tmp_path / "m.onnx")
    assert result.reports[-1].phase == "drocc"
    assert result.reports[-1].health is not None


def test_the_configured_window_is_trained_and_written(world: DataFolders, tmp_path: Path) -> None:
    network = dataclasses.replace(small_config().network, window=64, stack=4)
    card = read_model(train(small_config(network=network), world, tmp_path / "m.onnx").path).card
    assert (card.window, card.stack) == (64, 4)


def test_the_same_seed_gives_the_same_model_and_another_seed_another(world: DataFolders, tmp_path: Path) -> None:
    def run(name: str, seed: int) -> float:
        return weights(train(small_config(seed=seed), world, tmp_path / name).path)

    assert run("a.onnx", 1) == run("b.onnx", 1) != run("c.onnx", 2)


def test_a_killed_run_leaves_no_model(world: DataFolders, tmp_path: Path) -> None:
    class KilledError(Exception):
        pass

    def kill(report: EpochReport) -> None:
        if report.epoch == 3:
            raise KilledError

    with pytest.raises(KilledError):
        train(small_config(), world, tmp_path / "killed.onnx", events=TrainingEvents(epoch=kill))
    assert list(tmp_path.iterdir()) == []


def test_the_chosen_epoch_is_one_of_the_methods_own() -> None:
    def report(epoch: int, phase: str, score: float, *, settled: bool = False) -> EpochReport:
        return EpochReport(epoch, phase, 0.0, {}, score, None, 0.0, settled)

    reports = [report(1, "warm-up", 0.9), report(2, "drocc-lf", 0.5), report(3, "drocc-lf", 0.6)]
    assert best_epoch(reports[:1]).epoch == 1
    assert best_epoch(reports).epoch == 3
    assert best_epoch([*reports, report(4, "drocc-lf", 0.4), report(5, "drocc-lf", 0.6)]).epoch == 5
    settled = [report(4, "drocc-lf", 0.3, settled=True), report(5, "drocc-lf", 0.2, settled=True)]
    assert best_epoch([*reports, *settled]).epoch == 4


def test_epochs_before_the_rate_has_fallen_are_not_chosen_and_do_not_end_a_run(
    world: DataFolders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trained(choose_after: float) -> TrainingResult:
        falling = iter([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
        monkeypatch.setattr(epochs, "validate", lambda *_, **__: {"words": next(falling)})
        config = small_config(method="bce")
        schedule = dataclasses.replace(
            config.schedule, epochs=6, warmup_epochs=0, choose_after=choose_after, patience=2
        )
        return train(dataclasses.replace(config, schedule=schedule), world, tmp_path / f"{choose_after}.onnx")

    unsettled, settled = trained(0.0), trained(0.5)
    # The best of the first six epochs is the first, and patience ends the run two epochs later.
    assert [len(result.reports) for result in (unsettled, settled)] == [3, 6]
    assert [read_model(result.path).card.training["best_epoch"]["epoch"] for result in (unsettled, settled)] == [1, 4]
    one, other = (read_model(result.path).card.self_test.logit for result in (unsettled, settled))
    assert one != other


def test_words_in_long_positives_are_found_by_the_network(world: DataFolders, tmp_path: Path) -> None:
    from wakeword_train.data.batches import BatchSampler, load_stores

    config = small_config()
    stores = load_stores(gather_clips(config, world), Split.TRAIN)
    sampler = BatchSampler(
        stores,
        mix=config.mix,
        augmentation=config.augmentation,
        window=98,
        batch_size=16,
        generator=torch.Generator().manual_seed(0),
    )
    store = stores[Kind.POSITIVE]
    true_starts = store.word_starts.clone()
    store.word_starts[:], store.word_ends[:] = 0, 1_000
    # A score that finds the word: the energy in the middle of the window.
    sampler.relocate_words(lambda frames: frames[:, 20:80, 0].sum(dim=1))
    moved = store.word_starts != 0
    assert moved.any()
    assert (
        (store.word_starts[moved] - 8_000 < true_starts[moved]) & (store.word_ends[moved] > true_starts[moved])
    ).all()


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (small_config(keyword="absent"), "absent"),
        (small_config(keyword=""), "keyword"),
    ],
)
def test_missing_data_is_reported_before_anything_is_written(
    config: TrainConfig, expected: str, world: DataFolders, tmp_path: Path
) -> None:
    with pytest.raises((DataError, ConfigError), match=expected):
        train(config, world, tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())


def test_too_few_speakers_for_a_split_are_refused(tmp_path: Path) -> None:
    world = DataFolders(speech_commands=write_world(tmp_path / "world", speakers=2))
    with pytest.raises(DataError, match="validation split"):
        train(small_config(), world, tmp_path / "m.onnx")
