"""Laws of teaching: a student hears nobody of its test, is kept if it is good enough, and is the same twice."""

import dataclasses
import pickle
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from support.builders import random_model
from support.progress import Shares
from support.small_world import clips_of_run, run_of_tones

from wakeword.base.errors import ConfigError, DataError, ModelError
from wakeword.batch.jobs.job_run import in_this_process
from wakeword.batch.jobs.work import Executor
from wakeword.model.installed import HOME_VARIABLE, shipped_models
from wakeword.model.model import read_model
from wakeword_export.micro.device_files import read_student
from wakeword_export.micro.int8_word import MicroWordNet, beside_phonemes
from wakeword_export.student import teaching
from wakeword_export.student.drawn_windows import MicroSpeech, StudentScenes
from wakeword_export.student.natural_clips import natural_clips
from wakeword_export.student.scenes import SceneMaker
from wakeword_export.student.teaching import teach_student
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.training_record import STUDENT_FILE
from wakeword_train.data.augment import AugmentationConfig
from wakeword_train.data.batches import load_stores
from wakeword_train.data.clips import Clip
from wakeword_train.data.packed import packed_clips
from wakeword_train.pack.starter import STARTER, pack_path, read_pack
from wakeword_train.recipe import default_recipe
from wakeword_train.synthesis_config import StudentConfig
from wakeword_train.training_run import DataFolders, TrainingEvents, TrainingRun

pytest.importorskip("pymicro_features", reason="needs pymicro-features, which a student hears through")

SMALL = StudentConfig(
    positives=24, near_negatives=16, negatives=16, noise=8, held_out=16, steps=6, batch_size=48, mining_rounds=1,
    mined=20, least_recall=0.0,
)  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of_tones(tmp_path_factory.mktemp("runs"))


class Elsewhere(Executor):
    """Does work as other processes would, the last item first."""

    done = 0

    def run(self, work: Any, batches: Any, report: Any) -> Generator[tuple[int, Any], None, None]:
        do = pickle.loads(pickle.dumps(work)).begin(report)
        for number, item in reversed([pair for batch in batches for pair in batch]):
            self.done += 1
            yield number, pickle.loads(pickle.dumps(do(item)))


@pytest.mark.slow
def test_a_student_is_kept_and_a_poor_one_is_refused(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A sixth of the pack, so that it takes seconds.
    monkeypatch.setattr(teaching, "packed_clips", lambda *given, **options: packed_clips(*given, **options)[::6])
    quiet = AugmentationConfig(household=0.0)  # which is made in seconds
    config = dataclasses.replace(default_recipe(), keyword="updown", student=SMALL, augmentation=quiet)
    elsewhere = Elsewhere()
    events = Shares()
    options: dict[str, Any] = {"executor": in_this_process, "events": events}
    card = read_model(shipped_models()["computer"]).card  # which knows phonemes
    made = teach_student(config, clips_of_run(run), card, tmp_path / "a", **options)
    # Each of three parts has 6 steps, and two rounds of 2.
    assert events.done == pytest.approx([number / 30 for number in range(31)])
    options["executor"] = lambda seconds: elsewhere
    again = teach_student(config, clips_of_run(run), card, tmp_path / "b", **options)
    assert elsewhere.done == 3
    kept = read_student(tmp_path / "a" / STUDENT_FILE)
    assert kept is not None
    assert (kept.phrase, kept.cutoff, kept.lines) == ("updown", made.cutoff, made.lines)
    frames = np.random.default_rng(0).integers(0, 256, (300, 40)).astype(np.uint8)
    nets = [beside_phonemes(one.net, one.head, card) for one in (made, kept, again)]
    assert isinstance(nets[0], MicroWordNet)
    outputs = [net.outputs(frames) for net in nets]
    assert np.array_equal(outputs[0], outputs[1])
    assert np.array_equal(outputs[0], outputs[2])
    hours = re.search(r" in (\S+) h of speech .* synthetic words found", made.lines[0])
    assert hours is not None
    assert float(hours[1]) > 0.4  # the starter pack alone would give 0.1
    # A recipe whose background is recordings has no pack: the student hears the starter pack even so.
    poor = dataclasses.replace(config, student=dataclasses.replace(SMALL, least_recall=0.999), starter_pack="")
    with pytest.raises(ModelError, match=r"student\.least_recall"):
        teach_student(poor, clips_of_run(run), random_model().card, tmp_path / "c", **options)
    assert not (tmp_path / "c").exists()


def test_few_people_are_heard_as_often_as_many_synthetic_voices(run: Path) -> None:
    clips = [clip for clip in clips_of_run(run) if clip.split is Split.TRAIN]
    clips = [dataclasses.replace(clip, synthetic=clip.speaker != "train 0") for clip in clips]
    stores = load_stores(clips, Split.TRAIN)
    store, maker = stores[Kind.POSITIVE], SceneMaker(stores, AugmentationConfig(household=0.0), seed=0)
    rows = maker.drawn(store, 100, recorded=0.6).tolist()
    people = [row for row in rows if not store.clips[row].synthetic]
    assert 45 <= len(people) <= 75  # and not 33, their share of the voices
    spoken = sorted({store.clips[row].speaker for row in rows})
    assert spoken == ["train 0", "train 1", "train 2"]


def test_joined_speech_has_the_parts_of_both() -> None:
    first = MicroSpeech(torch.arange(40).repeat(6, 1), torch.tensor([1, 4]), torch.tensor([2, 1]))
    second = MicroSpeech(torch.ones(5, 40, dtype=torch.int64), torch.tensor([3]), torch.tensor([2]))
    joined = first.joined(second)
    parts = [part for one in (first, second) for _, part in one.parts()]
    assert all(torch.equal(own, part) for (_, own), part in zip(joined.parts(), parts, strict=True))
    assert [starts.tolist() for starts, _ in joined.parts()] == [[1], [4], [9]]
    alike = [starts.tolist() for starts, _ in second.joined(first).joined(second).parts()]
    assert alike == [[3, 6], [9], [14]]  # parts of one length come together


def test_recorded_background_is_heard_beside_the_pack(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = list[float]()

    def begun(scenes: StudentScenes, config: StudentConfig, seed: int) -> None:
        heard.append(scenes.speech.hours)
        raise ModelError("enough is known")

    monkeypatch.setattr(teaching, "PartWork", begun)
    settings = dataclasses.replace(SMALL, positives=8, near_negatives=8, negatives=8, held_out=8)
    quiet = AugmentationConfig(household=0.0)
    config = dataclasses.replace(default_recipe(), keyword="updown", student=settings, augmentation=quiet)
    pack = read_pack(pack_path(STARTER))
    known = next(clip.speaker for clip in packed_clips(pack, ["updown"], validation=0.25) if clip.split is Split.TRAIN)

    def said(who: str, split: Split) -> Clip:
        collection, _, speaker = who.partition("/")
        path = tmp_path / f"{collection}-99.wav"
        soundfile.write(path, np.random.default_rng(0).normal(0, 0.1, 36 * 16_000), 16_000)
        return Clip(path, Kind.BACKGROUND, "speech", speaker, split)

    own, judge = said("home/me", Split.TRAIN), said("home/you", Split.VALIDATION)
    for some in ([], [own], [own, said(known, Split.TRAIN), judge], [said(known, Split.TEST)]):
        with pytest.raises(ModelError, match="enough"):
            teach_student(
                config,
                [*clips_of_run(run), *some],
                random_model().card,
                tmp_path,
                executor=in_this_process,
                events=TrainingEvents(print),
            )
    alone, more, with_others, without_tested = heard
    assert more - alone == pytest.approx(0.01, rel=0.01)
    assert with_others == more  # the pack deals its own people, and speech for the cutoff is not trained on
    assert without_tested < alone  # people of the test are nowhere in the training


def test_what_is_missing_is_named(run: Path, tmp_path: Path) -> None:
    config = dataclasses.replace(default_recipe(), keyword="updown", student=SMALL)
    some = [clip for clip in clips_of_run(run) if clip.kind.value != "near_negative"]
    with pytest.raises(DataError, match="train clips of the kinds near_negative"):
        teach_student(
            config, some, random_model().card, tmp_path, executor=in_this_process, events=TrainingEvents(print)
        )
    with pytest.raises(ConfigError, match="least_recall of the student"):
        StudentConfig(least_recall=1.0)


def test_another_engine_is_refused_before_any_work(cli) -> None:
    ended = cli("train", "updown", "--for", "porcupine")
    assert ended.status == 2
    assert "expected --for openwakeword or microwakeword" in ended.err


def test_more_natural_voices_are_asked_for(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[TrainingRun]()

    def spoken(of: TrainingRun) -> TrainingRun:
        asked.append(of)
        folder = run / "synthesised" / f"positives-{Split.TRAIN}-{'0' * 12}"
        return dataclasses.replace(of, folders=DataFolders(positives=[folder]))

    monkeypatch.setattr("wakeword_export.student.natural_clips.with_synthesised", spoken)
    config = dataclasses.replace(default_recipe(), keyword="updown", student=dataclasses.replace(SMALL, natural=40))
    found = natural_clips(config, tmp_path, executor=in_this_process, events=TrainingEvents())
    assert {clip.kind for clip in found} == {Kind.POSITIVE}
    assert len(found) == 8
    plan = asked[0].config.synthesis
    assert (plan.positives, plan.near_negatives, plan.negatives) == (0, 0, 0)
    assert (plan.natural.positives, plan.natural.near_negatives, plan.natural.negatives) == (40, 10, 0)
    none = dataclasses.replace(config, student=dataclasses.replace(SMALL, natural=0))
    assert not natural_clips(none, tmp_path, executor=in_this_process, events=TrainingEvents(pytest.fail))
    assert len(asked) == 1


@pytest.mark.parametrize(("language", "speak"), [("en", True), ("de", False)])
def test_learners_say_english_words_too_where_kokoro_is(
    language: str, speak: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[TrainingRun]()
    monkeypatch.setattr("wakeword_export.student.natural_clips.with_synthesised", lambda run: asked.append(run) or run)
    config = dataclasses.replace(default_recipe(), keyword="wo", language=language, student=SMALL)
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    for _ in range(2):
        natural_clips(config, tmp_path, executor=in_this_process, events=TrainingEvents(pytest.fail))
        (tmp_path / "voices" / "kokoro" / "voices").mkdir(parents=True, exist_ok=True)
    without, some = (run.config.synthesis.natural.engines for run in asked)
    assert some == ((*without, "learners") if speak else without)
    chosen = dataclasses.replace(config.synthesis.natural, engines=("command:mine.toml",))
    plan = dataclasses.replace(config.synthesis, natural=chosen)
    natural_clips(
        dataclasses.replace(config, synthesis=plan),
        tmp_path,
        executor=in_this_process,
        events=TrainingEvents(pytest.fail),
    )
    assert asked[-1].config.synthesis.natural.engines == ("command:mine.toml",)
