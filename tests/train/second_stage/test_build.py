"""A second stage is trained from clips and a first stage, on nobody whom it is measured on."""

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.small_world import SMALL_SECOND_STAGE, small_config, write_background, write_world

from wakeword import Detector
from wakeword.audio.audio_file import read_audio
from wakeword.batch.jobs.job_run import in_this_process
from wakeword.batch.jobs.processes import Processes
from wakeword.batch.jobs.work import Executor
from wakeword.format.verifier_card import FLOOR
from wakeword.model.model import read_model
from wakeword.verify.shared import file_digest
from wakeword_tools.kinds import Kind, Split
from wakeword_train import DataFolders, TrainConfig, train_model
from wakeword_train.data.clips import without_fold
from wakeword_train.ear import ear_of
from wakeword_train.model.two_stage import HEAD_RECORD
from wakeword_train.pack.starter import STARTER
from wakeword_train.second_stage import build
from wakeword_train.second_stage.looks.prefetch import looks_ahead
from wakeword_train.second_stage.result import SecondStageResult, StandIn
from wakeword_train.training import gather_clips
from wakeword_train.training_run import Phase, TrainingEvents, TrainingRun


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> DataFolders:
    root = tmp_path_factory.mktemp("world")
    return DataFolders(write_world(root / "words"), background=[write_background(root / "background")])


@pytest.fixture(scope="module")
def config() -> TrainConfig:
    return small_config(second_stage=dataclasses.replace(SMALL_SECOND_STAGE, method="drocc-lf"))


@pytest.fixture(scope="module")
def trained(world: DataFolders, config: TrainConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    return train_model(config, world, folder / "updown.onnx", work=folder / "work", events=TrainingEvents()).path


@pytest.mark.slow
def test_one_call_makes_a_model_of_two_stages(world: DataFolders, trained: Path) -> None:
    model = read_model(trained)
    card = model.card.verifier
    assert model.second_stage is not None
    assert card is not None
    assert card.candidates_per_hour is not None
    assert model.card.training[HEAD_RECORD]["health"]["loss_after"] > 0
    assert all(point.threshold >= FLOOR for point in model.card.operating_points)
    assert (trained.parent / "work" / "embeddings").is_dir()
    positives = sorted((world.speech_commands or Path()).glob("updown/*.wav"))
    for verify in (True, False):
        detector = Detector(model, threshold=FLOOR, verify=verify)
        assert [detection for path in positives for detection in (*detector.push(read_audio(path)), *detector.flush())]


@pytest.mark.slow
def test_the_same_clips_give_the_same_head(
    world: DataFolders, config: TrainConfig, trained: Path, tmp_path: Path
) -> None:
    results = [
        build.SecondStageTraining(
            TrainingRun(config, world, tmp_path, tmp_path / folder), trained, gather_clips(config, world)
        ).run()
        for folder in ("one", "one", "other")
    ]
    assert {result.head for result in results} == {results[0].head}
    assert {result.card for result in results} == {results[0].card}


@pytest.mark.parametrize("language", ["en", "de"])
def test_words_are_heard_by_the_recogniser_of_their_language(
    world: DataFolders, config: TrainConfig, trained: Path, tmp_path: Path, language: str
) -> None:
    own = dataclasses.replace(config, language=language, starter_pack=STARTER)
    training = build.SecondStageTraining(TrainingRun(own, world, tmp_path, tmp_path), trained, gather_clips(own, world))
    draft = training.draft
    assert draft.phonemes
    assert training.ear == ear_of(language)
    assert draft.phonemes_digest == ear_of(language).digest
    quick = ear_of(language).quick_path
    assert draft.quick_digest in (None, quick and file_digest(quick))


def test_with_the_starter_pack_the_quick_recogniser_saves_looks_so_that_more_are_asked_about(
    world: DataFolders, config: TrainConfig, trained: Path, tmp_path: Path
) -> None:
    probes = {}
    for pack in ("", STARTER):
        own = dataclasses.replace(config, starter_pack=pack, keyword="computer")
        clips = gather_clips(dataclasses.replace(own, keyword=config.keyword), world)
        training = build.SecondStageTraining(TrainingRun(own, world, tmp_path, tmp_path), trained, clips)
        assert (training.draft.quick_digest is not None) is bool(pack)
        probes[pack] = training.probe
    assert probes[STARTER] < probes[""]


def test_no_head_is_trained_on_those_whom_it_is_asked_about(
    world: DataFolders, config: TrainConfig, trained: Path, tmp_path: Path
) -> None:
    clips = gather_clips(config, world)
    synthetic = {clip.path for clip in clips if clip.word == "low"}
    clips = [dataclasses.replace(clip, synthetic=clip.path in synthetic) for clip in clips]
    training = build.SecondStageTraining(TrainingRun(config, world, tmp_path, tmp_path), trained, clips)
    folds = config.second_stage.folds
    for kind, store in training.stores.items():
        heard = {fold: training.is_heard(kind, fold).tolist() for fold in (*range(folds), None)}
        for row, clip in enumerate(store.clips):
            assert clip.split is not Split.TEST
            own = training.fold(clip)
            if clip.synthetic:
                assert {heard[fold][row] for fold in heard} == {clip.split is Split.TRAIN}
            else:
                assert [fold for fold in range(folds) if not heard[fold][row]] == [own]
                assert heard[None][row]
    held_out = training.held_out()
    for kind, rows in held_out.items():
        assert rows
        assert all(training.stores[kind].clips[row].split is Split.VALIDATION for row in rows)


def test_stand_ins_judge_the_background_that_they_did_not_hear(
    world: DataFolders, config: TrainConfig, trained: Path, tmp_path: Path
) -> None:
    clips = gather_clips(dataclasses.replace(config, background_evidence=0.2), world)
    parts = [without_fold(clips, fold, 2) for fold in range(2)]
    files = [Path(shutil.copy(trained, tmp_path / f"{fold}.onnx")) for fold in range(2)]
    stand_ins = [StandIn.of(file, part) for file, part in zip(files, parts, strict=True)]
    training = build.SecondStageTraining(TrainingRun(config, world, tmp_path, tmp_path), trained, clips, stand_ins)
    store, held_out = training.stores[Kind.BACKGROUND], training.held_out()
    assert held_out[Kind.BACKGROUND] == list(range(len(store.clips)))
    judges = {clip.path: training.judge(clip) for clip in store.clips}
    for clip in store.clips:
        may = [stand_in.may_judge(clip) for stand_in in stand_ins]
        if clip.split is Split.VALIDATION:
            assert (may, judges[clip.path]) == ([True, True], training.model)
        else:
            assert may.count(True) == 1
            assert judges[clip.path] is training.stand_ins[may.index(True)][1]
    assert {training.stand_ins[0][1], training.stand_ins[1][1], training.model} == set(judges.values())
    alone = build.SecondStageTraining(TrainingRun(config, world, tmp_path, tmp_path), trained, clips).held_out()
    assert len(alone[Kind.BACKGROUND]) < len(held_out[Kind.BACKGROUND])
    assert {kind: rows for kind, rows in held_out.items() if kind is not Kind.BACKGROUND} == {
        kind: rows for kind, rows in alone.items() if kind is not Kind.BACKGROUND
    }


@pytest.mark.slow
def test_with_folds_all_background_is_evidence(world: DataFolders, config: TrainConfig, tmp_path: Path) -> None:
    config = dataclasses.replace(config, background_evidence=0.2, background_folds=2)
    watched: list[float] = []

    class Watched(TrainingEvents):
        def phase(self, phase: Phase, done: float) -> None:
            if phase is Phase.FIRST:
                watched.append(done)

    lines: list[str] = []
    result = train_model(config, world, tmp_path / "m.onnx", work=tmp_path / "w", events=Watched(lines.append))
    assert result.second_stage is not None
    heads, second = result.second_stage.heads, config.second_stage
    assert [len(epochs) for epochs in heads] == [second.epochs] * (second.folds + 1)
    assert [line for line in lines if line.startswith("head, epoch")] == [heads[-1][-1].line()]
    own = [clip for clip in result.clips if clip.kind is Kind.BACKGROUND]
    assert len(result.second_stage.held_out.of(Kind.BACKGROUND)) == len(own)
    assert Split.TRAIN in {clip.split for clip in own}
    assert watched == sorted(watched)
    assert watched[-1] > 2 / 3
    assert [line for line in lines if "the first stage again" in line] == [
        "the first stage again, without part 1 of 2 of the background",
        "the first stage again, without part 2 of 2 of the background",
    ]


def test_the_first_stage_is_not_trained_on_most_of_the_background(world: DataFolders, config: TrainConfig) -> None:
    for share, expected in ((0.5, 3), (0.8, 5)):
        clips = gather_clips(dataclasses.replace(config, background_evidence=share), world)
        background = [clip for clip in clips if clip.kind is Kind.BACKGROUND]
        splits = [clip.split for clip in background]
        assert splits.count(Split.VALIDATION) == expected
        assert splits.count(Split.TEST) == 0


@pytest.mark.slow
def test_other_processes_and_looks_made_ahead_give_the_same_model(
    world: DataFolders, config: TrainConfig, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With household sounds, so that clips are heard in noise too: fewer looks at these than a training takes."""
    monkeypatch.setattr("wakeword_train.second_stage.looks.examples._HOUSEHOLD_LOOKS", 64)
    config = dataclasses.replace(config, augmentation=dataclasses.replace(config.augmentation, household=0.75))
    clips = gather_clips(config, world)

    def result(cache: Path, executor: Callable[[float], Executor]) -> SecondStageResult:
        run = TrainingRun(config, world, tmp_path, cache, executor=executor)
        return build.SecondStageTraining(run, trained, clips).run()

    alone = result(tmp_path / "alone", in_this_process)
    ahead = tmp_path / "ahead"
    with looks_ahead(config, clips, ahead, lambda seconds: Processes(2)) as looks_are_made:
        looks_are_made()
    kept = {path.name for path in ahead.iterdir()}
    assert len(kept) == 3  # positives, parts of them, negatives
    assert kept < {path.name for path in (tmp_path / "alone").iterdir()}
    together = result(ahead, lambda seconds: Processes(2))
    assert (together.head, together.card) == (alone.head, alone.card)
    assert alone.held_out.noisy is not None
    assert 0 < len(alone.held_out.noisy.of(Kind.POSITIVE)) < len(alone.held_out.of(Kind.POSITIVE))
    assert alone.held_out.noisy.hours == 0


def test_nothing_is_made_ahead_in_this_process(world: DataFolders, config: TrainConfig, tmp_path: Path) -> None:
    clips = gather_clips(config, world)
    with looks_ahead(config, clips, tmp_path / "cache", in_this_process) as looks_are_made:
        looks_are_made()
    assert not (tmp_path / "cache").exists()
