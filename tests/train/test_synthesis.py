"""Laws of the clips that training synthesises."""

import dataclasses
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from wakeword import ConfigError
from wakeword.base.errors import AudioFileError, DataError
from wakeword.base.events import SILENT
from wakeword.batch.jobs.cluster import Cluster
from wakeword.batch.jobs.job_run import executor_for
from wakeword.batch.jobs.processes import Processes
from wakeword_tools.clips.manifest import MANIFEST, recipe_row
from wakeword_tools.clips.plan import ClipPart
from wakeword_tools.clips.synthesize import synthesize
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.texts.confusables import without_sound_of
from wakeword_tools.texts.phonemes import phones_of_ipa, to_espeak
from wakeword_tools.texts.splits import split_texts
from wakeword_train import DataFolders, TrainConfig
from wakeword_train import synthesis as synthesised
from wakeword_train.recipe import default_recipe
from wakeword_train.spoken_texts import SpokenKeyword
from wakeword_train.synthesis import check_synthesis, with_synthesised
from wakeword_train.synthesis_config import NaturalConfig, SynthesisConfig
from wakeword_train.training_run import Phase, TrainingEvents, TrainingRun

FEW = {Kind.POSITIVE: 20, Kind.NEAR_NEGATIVE: 60, Kind.NEGATIVE: 60}


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthesised, "_WITHOUT_RECORDINGS", FEW)


def rows(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / MANIFEST).read_text().splitlines()]


def made_by(config: TrainConfig, root: Path, folders: DataFolders | None = None, **settings: Any) -> DataFolders:
    """The folders of a run with its clips."""
    return with_synthesised(TrainingRun(config, folders or DataFolders(), root, root, **settings)).folders


def test_a_keyword_alone_is_enough(tmp_path: Path) -> None:
    config = TrainConfig(keyword="marvin", synthesis=SynthesisConfig(check_voices=False))
    assert not check_synthesis(config, DataFolders())
    folders = made_by(config, tmp_path)
    for kind in FEW:
        train, validation = (rows(folder) for folder in getattr(folders, kind.plural))
        assert len(train) == FEW[kind]
        assert {row["split"] for row in train} == {"train"}
        assert {row["split"] for row in validation} == {"validation"}
        assert not {row["source"] for row in train} & {row["source"] for row in validation}
        if kind is Kind.POSITIVE:
            assert {row["text"] for row in train + validation} == {"marvin"}
            continue
        assert not {row["text"] for row in train} & {row["text"] for row in validation}
        single = [row["text"] for row in train + validation if kind is Kind.NEAR_NEGATIVE or " " not in row["text"]]
        assert split_texts("marvin", single)[Split.TEST] == []


def test_the_same_settings_are_made_once(tmp_path: Path) -> None:
    config = TrainConfig(keyword="seven", synthesis=SynthesisConfig(positives=6))
    first = made_by(config, tmp_path)
    made = first.positives[0] / MANIFEST
    before = made.stat().st_mtime_ns
    assert made_by(config, tmp_path) == first
    assert made.stat().st_mtime_ns == before
    assert first.near_negatives == first.negatives == ()


def test_clips_of_a_run_that_was_killed_are_not_spoken_again(tmp_path: Path) -> None:
    config = TrainConfig(keyword="seven", synthesis=SynthesisConfig(positives=6, check_voices=False))

    class Killed(TrainingEvents):
        def phase(self, phase: Phase, done: float) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made_by(config, tmp_path, events=Killed())
    (spoken,) = (tmp_path / "synthesised").glob(".*/000000.flac")
    before = spoken.stat()
    made = made_by(config, tmp_path)
    again = (made.positives[0] / spoken.name).stat()
    assert (again.st_ino, again.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert len(rows(made.positives[0])) == 6
    assert not list((tmp_path / "synthesised").glob(".*"))


def test_as_many_processes_speak_as_there_are_jobs_and_the_clips_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = TrainConfig(keyword="seven", synthesis=SynthesisConfig(positives=40, check_voices=False))
    spoke: list[int] = []

    def counting(*arguments: Any, jobs: int, **options: Any) -> Path:
        spoke.append(jobs)
        return synthesize(*arguments, jobs=jobs, **options)

    def made(jobs: int) -> dict[str, bytes]:
        (train, validation) = made_by(config, tmp_path / str(jobs), executor=lambda seconds: Processes(jobs)).positives
        return {
            f"{folder.name}/{path.name}": path.read_bytes()
            for folder in (train, validation)
            for path in folder.iterdir()
        }

    monkeypatch.setattr(synthesised, "synthesize", counting)
    assert made(1) == made(3) != {}
    assert spoke == [1, 1, 3, 3]


def test_by_default_a_process_is_started_where_it_pays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wakeword.batch.jobs.work.cores", lambda: 8)
    run = TrainingRun(TrainConfig(keyword="seven"), DataFolders(), tmp_path, tmp_path, executor=executor_for)
    word = SpokenKeyword.of(run.config)
    fast, natural = (
        synthesised._Speech(phase, FEW, ("espeak-ng",), word, run) for phase in (Phase.SPEECH, Phase.NATURAL)
    )
    assert [fast._jobs(count) for count in (1, 199, 200, 5_000)] == [1, 1, 2, 8]
    assert [natural._jobs(count) for count in (1, 19, 20, 500)] == [1, 1, 2, 4]
    # This machine speaks for a cluster too.
    monkeypatch.setattr("wakeword.batch.jobs.cluster.require", lambda *_: None)
    monkeypatch.setattr("wakeword.batch.jobs.cluster.import_module", lambda _: None)
    clustered = dataclasses.replace(run, executor=lambda seconds: Cluster("auto"))
    for_cluster = synthesised._Speech(Phase.SPEECH, FEW, ("espeak-ng",), word, clustered)
    assert [for_cluster._jobs(count) for count in (1, 199, 200, 5_000)] == [1, 1, 2, 8]


def test_natural_voices_are_a_separate_pass(tmp_path: Path) -> None:
    natural = NaturalConfig(positives=5, negatives=10, engines=("espeak-ng",))
    config = TrainConfig(keyword="marvin", synthesis=SynthesisConfig(positives=6, natural=natural))
    made = made_by(config, tmp_path)
    names = [folder.name.rpartition("-")[0] for folder in made.positives]
    splits = ("train", "validation")
    assert names == [f"{prefix}positives-{split}" for prefix in ("", "natural-") for split in splits]
    assert [len(rows(folder)) for folder in made.positives] == [6, 1, 5, 1]
    assert [len(rows(folder)) for folder in made.negatives] == [10, 2]
    assert made.near_negatives == ()
    reports: list[str] = []
    assert made_by(config, tmp_path, events=TrainingEvents(reports.append)) == made
    assert [line for line in reports if "same settings" in line] == [
        f"using the clips of the same settings in {folder}" for folder in (*made.positives, *made.negatives)
    ]
    other = SynthesisConfig(positives=6, natural=dataclasses.replace(natural, positives=10))
    more = dataclasses.replace(config, synthesis=other)
    again = made_by(more, tmp_path)
    assert again.positives[:2] == made.positives[:2]
    assert not set(again.positives[2:]) & set(made.positives)


def test_with_recordings_nothing_is_synthesised_by_default(tmp_path: Path) -> None:
    (tmp_path / "words" / "Marvin").mkdir(parents=True)
    (tmp_path / "words" / "Marvin" / "take.wav").touch()
    for folders in (
        DataFolders(speech_commands=tmp_path / "words"),
        DataFolders(positives=[tmp_path / "words" / "Marvin"]),
    ):
        made = made_by(TrainConfig(keyword="marvin"), tmp_path / "made", folders)
        assert (made.positives, made.near_negatives, made.negatives) == (tuple(folders.positives), (), ())
    assert not (tmp_path / "made").exists()


def test_a_missing_folder_is_reported_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nowhere"):
        made_by(TrainConfig(keyword="marvin"), tmp_path, DataFolders(noise=[tmp_path / "nowhere"]))


@pytest.mark.parametrize("kind", ["positives", "negatives", "near_negatives", "background", "noise"])
def test_a_folder_without_recordings_is_reported_before_any_work(tmp_path: Path, kind: str) -> None:
    (tmp_path / "empty" / "below").mkdir(parents=True)
    folders = dataclasses.replace(DataFolders(), **{kind: [tmp_path / "empty"]})
    with pytest.raises(AudioFileError, match=r"empty: expected"):
        check_synthesis(TrainConfig(keyword="marvin"), folders)


def test_missing_natural_voices_are_reported_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAKEWORD_HOME", str(tmp_path / "home"))
    plan = SynthesisConfig(positives=6, natural=NaturalConfig(positives=5))
    with pytest.raises(ConfigError, match=r"expected Kokoro in .*install it: wakeword voices install kokoro"):
        made_by(TrainConfig(keyword="marvin", synthesis=plan), tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_texts_kept_for_the_test_are_not_spoken(tmp_path: Path) -> None:
    texts = [f"{first}{rest}" for first in ("mar", "bar", "tar", "dar") for rest in ("lin", "tin", "bin", "din", "kin")]
    (tmp_path / "own.txt").write_text("\n".join([*texts, "marvin's", "ask marvin"]))
    plan = SynthesisConfig(positives=1, near_negatives=100, near_negative_texts=str(tmp_path / "own.txt"))
    reports: list[str] = []
    made = made_by(TrainConfig(keyword="marvin", synthesis=plan), tmp_path, events=TrainingEvents(reports.append))
    spoken = {row["text"] for folder in made.near_negatives for row in rows(folder)}
    kept = set(split_texts("marvin", texts)["test"])
    assert kept
    assert spoken == set(texts) - kept
    assert any(f"{len(kept)} of {len(texts)} texts are kept for the test" in line for line in reports)


def test_a_list_of_only_the_keyword_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("marvin\nMarvin!\n")
    plan = SynthesisConfig(positives=1, near_negatives=5, near_negative_texts=str(tmp_path / "own.txt"))
    with pytest.raises(ConfigError, match="two or more texts"):
        made_by(TrainConfig(keyword="marvin", synthesis=plan), tmp_path)


def test_an_engine_without_voices_for_a_split_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        f"command = '{sys.executable} {{wav}} {{text}}'\nvoices = [{{ name = 'ann', split = 'train' }}]\n"
    )
    plan = SynthesisConfig(positives=4, engines=(f"command:{tmp_path / 'mine.toml'}",))
    with pytest.raises(ConfigError, match="split validation"):
        made_by(TrainConfig(keyword="marvin", synthesis=plan), tmp_path / "made")


def test_other_phrases_and_ways_to_say_it_are_spoken_too(tmp_path: Path) -> None:
    plan = SynthesisConfig(positives=12, near_negatives=40, also=("ok marvin",), say=("ˈmɑɹvɪn",))
    config = TrainConfig(keyword="marvyn", synthesis=plan)
    made = made_by(config, tmp_path)
    spoken = {row["text"] for folder in made.positives for row in rows(folder)}
    assert spoken == {to_espeak(phones_of_ipa("ˈmɑɹvɪn")), "ok marvin"}
    close = [row["text"] for folder in made.near_negatives for row in rows(folder)]
    assert close
    for form in spoken:
        assert without_sound_of(form, close) == close


def test_installed_voices_are_those_of_the_machine_and_none_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAKEWORD_HOME", str(tmp_path / "home"))
    natural = NaturalConfig(positives=5, engines=("installed",))
    plan = SynthesisConfig(positives=4, engines=("installed",), natural=natural)
    reports: list[str] = []
    seen: list[tuple[Phase, float]] = []

    class Seen(TrainingEvents):
        def phase(self, phase: Phase, done: float) -> None:
            seen.append((phase, done))

    config = TrainConfig(keyword="marvin", synthesis=plan)
    made = made_by(config, tmp_path / "made", events=Seen(reports.append))
    assert len(made.positives) == 2
    assert {phase for phase, _ in seen} == {Phase.SPEECH}
    assert seen[-1][1] == 1.0
    assert [done for _, done in seen] == sorted(done for _, done in seen)


def test_a_word_of_another_language_is_spoken_among_words_of_that_language(tmp_path: Path) -> None:
    settings = SynthesisConfig(positives=6, negatives=12, check_voices=False)
    made = made_by(TrainConfig(keyword="merhaba ayşe", language="tr", synthesis=settings), tmp_path)
    spoken = [row for kind in Kind for folder in getattr(made, kind.plural, ()) for row in rows(folder)]
    assert {row["accent"] for row in spoken} == {"tr"}
    assert all(row["phonemes"] for row in spoken)
    assert {row["text"] for folder in made.positives for row in rows(folder)} == {"merhaba ayşe"}
    with pytest.raises(ConfigError, match="expected the language as 'de'"):
        TrainConfig(keyword="hallo", language="DE")


def test_english_is_spoken_as_before_there_were_other_languages() -> None:
    """The texts, voices and drawn numbers of the clips, as this digest had them then."""
    word = SpokenKeyword.of(dataclasses.replace(default_recipe(), keyword="hey zorvella"))
    voices = {split: english_voices(split) for split in (Split.TRAIN, Split.VALIDATION)}
    drawn: list[dict[str, object]] = []
    for kind in (Kind.POSITIVE, Kind.NEGATIVE):
        texts = word.texts(kind, voices, SILENT)
        for split, own in voices.items():
            recipes = ClipPart(list(texts[split]), own, 40, 0, max_pause=0.2, children=0.15).recipes()
            drawn += [recipe_row(recipe, "", seed=0) for recipe in recipes]
    digest = hashlib.sha256(json.dumps(drawn, sort_keys=True).encode()).hexdigest()
    assert digest == "c587584d613b92bc1ac311534860c1bc639f210dd995509bfa8cf346ef3b4934"
