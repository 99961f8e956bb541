"""Runs on wake words: nothing is in two splits, runs are stored, thresholds hold."""

import dataclasses
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from soundfile import write
from support.small_world import RATE, tones

from wakeword.base.errors import DataError
from wakeword.batch.jobs.processes import Processes
from wakeword.batch.jobs.work import Executor
from wakeword_experiments.tensor_fits import FitConfig
from wakeword_experiments.wake_words.close_texts import close_texts, sounds_of
from wakeword_experiments.wake_words.grid import Job, Source, finished, run_grid, scores_file
from wakeword_experiments.wake_words.protocol import GridShape, measure, mixed_negatives
from wakeword_experiments.wake_words.wake_words_data import DataSizes, WordData, gather
from wakeword_experiments.wake_words.wake_words_scores import read_scores
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.texts.confusables import listed

BASE = FitConfig(method="bce", warmup_epochs=1, epochs=2, batch_size=96, learning_rate=3e-3, averaging=0.98)
TINY = DataSizes(
    train_positives=6,
    train_negatives=12,
    held_out=6,
    bank=192,
)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    """Tones under the names of words, spoken by 24 speakers."""
    root = tmp_path_factory.mktemp("words")
    random = np.random.default_rng(0)
    for word, pitches in {"stop": (400.0, 2_000.0), "up": (400.0,), "seven": (2_000.0,), "top": (900.0,)}.items():
        (root / word).mkdir()
        for speaker in range(24):
            write(root / word / f"{speaker:08x}_nohash_0.wav", tones(pitches, random), RATE)
    return Source(root, None, TINY, tmp_path_factory.mktemp("work"))


def without_times(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows without what no two runs share."""
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def test_no_speaker_voice_or_close_text_is_in_two_splits(source: Source) -> None:
    clips = gather("stop", source.speech_commands, source.work, TINY)
    for split in Split:
        others = [clip for clip in clips if clip.split is not split]
        own = [clip for clip in clips if clip.split is split]
        assert not {clip.speaker for clip in own} & {clip.speaker for clip in others}
        close = {clip.word for clip in own if clip.kind is Kind.NEAR_NEGATIVE}
        assert bool(close) == (split is not Split.TRAIN)
        assert not close & {clip.word for clip in others}


def test_training_has_recorded_clips_alone(source: Source) -> None:
    data = WordData(gather("stop", source.speech_commands, source.work, TINY), TINY, noise=None)
    counts = data.task(0).counts
    assert counts["train positive"] == 6
    assert "train near_negative" not in counts
    assert counts["test close"] == 6


def test_a_word_without_recordings_is_refused(source: Source) -> None:
    with pytest.raises(DataError, match="found none"):
        gather("yes", source.speech_commands, source.work, TINY)


def test_finished_runs_are_not_repeated_and_seeds_repeat(source: Source) -> None:
    job = Job("stop", "a", BASE, GridShape(hidden_size=8))
    messages: list[str] = []
    (row,) = run_grid([job], source, executor=Executor(), report=messages.append)
    assert len(messages) == 1
    assert 0 <= row["recall@3"] <= row["recall@5"] <= 100
    (again,) = run_grid([dataclasses.replace(job, label="b")], source, executor=Executor(), report=messages.append)
    assert len(messages) == 1, "a run of the same settings was repeated"
    assert again == {**row, "label": "b"}
    elsewhere = dataclasses.replace(source, work=source.work / "other")
    (fresh,) = run_grid([job], elsewhere, executor=Executor(), report=messages.append)
    assert without_times([fresh]) == without_times([row])
    assert len((source.work / "rows.jsonl").read_text().splitlines()) == 1


def test_everything_that_determines_a_run_changes_its_key(source: Source) -> None:
    job = Job("stop", "a", BASE)
    changes = [
        {"word": "yes"},
        {"config": dataclasses.replace(BASE, seed=1)},
        {"shape": GridShape(pooling="last")},
    ]
    keys = {job.key(source), *(dataclasses.replace(job, **change).key(source) for change in changes)}
    assert len(keys) == 1 + len(changes)
    assert dataclasses.replace(job, label="b").key(source) == job.key(source)


def test_thresholds_give_their_rate_on_the_data_they_are_set_on() -> None:
    random = np.random.default_rng(0)

    def scores(close: float) -> dict[str, np.ndarray]:
        return {
            Kind.POSITIVE: random.normal(3, 1, 300),
            Kind.NEGATIVE: random.normal(0, 1, 400),
            Kind.NEAR_NEGATIVE: random.normal(close, 1, 200),
        }

    test = scores(1.5)
    row = measure(test, test)
    assert row["set recall@3"] == row["recall@3"] <= row["recall@5"]
    assert row["recall@3 close"] <= row["recall@3"] <= row["recall@3 generic"]
    # The rate is of negatives in equal numbers; the rest of the larger group is distributed the same.
    assert (row["set fpr@3 generic"] + row["set fpr@3 close"]) / 2 <= 3.5
    assert len(mixed_negatives(test)) == 400
    harder = measure(scores(2.5), test)
    assert harder["set fpr@3 close"] > row["set fpr@3 close"]


def test_half_a_row_of_a_killed_run_is_run_again(source: Source, tmp_path: Path) -> None:
    # The same seed for both, so that one process runs them: starting one takes longer than the training.
    configs = [dataclasses.replace(BASE, learning_rate=rate) for rate in (1e-3, 3e-3)]
    jobs = [Job("stop", "a", config, GridShape(hidden_size=8)) for config in configs]
    # Use the clips that the module's other tests have synthesised.
    gather("stop", source.speech_commands, source.work, TINY)
    killed = dataclasses.replace(source, work=tmp_path / "work")
    shutil.copytree(source.work, killed.work, ignore=shutil.ignore_patterns("rows.jsonl", "other"))
    rows = without_times(run_grid(jobs, killed, executor=Processes(2), report=lambda line: None))
    file = killed.work / "rows.jsonl"
    first, second = file.read_text().splitlines()
    file.write_text(f"{first}\n{second[:50]}\n")
    # Now in this process, which gives the same figures as a separate one.
    assert without_times(run_grid(jobs, killed, executor=Executor(), report=lambda line: None)) == rows
    assert json.loads(file.read_text().splitlines()[-1])["key"] == json.loads(second)["key"]


def test_words_that_sound_like_a_close_word_are_not_negatives(source: Source) -> None:
    clips = gather("stop", source.speech_commands, source.work, TINY)
    generic = {clip.word for clip in clips if clip.kind is Kind.NEGATIVE}
    assert "top" in close_texts("stop").every
    assert generic == {"seven", "up"}


def test_the_nearest_words_of_a_keyword_share_no_sound_between_splits() -> None:
    for word in ("stop", "on"):
        texts = close_texts(word)
        assert len(texts.test) == len(texts.validation) == 10
        assert not sounds_of(texts.test) & sounds_of(texts.validation)
        assert not sounds_of(texts.every) & sounds_of([word])
        # The first of both splits are the closest, so that neither is the harder one.
        first, last = (listed(word, [side[index] for side in (texts.test, texts.validation)]) for index in (0, -1))
        assert max(one.distance for one in first) < min(one.distance for one in last)


def test_the_scores_of_single_clips_give_the_figures_of_the_row(source: Source) -> None:
    keeping = dataclasses.replace(source, work=source.work / "keeping")
    job = Job("stop", "a", BASE, GridShape(hidden_size=8))
    (row,) = run_grid([job], keeping, executor=Executor(), report=lambda line: None)
    assert finished([job], keeping) == [job]
    groups = {}
    for split in (Split.VALIDATION, Split.TEST):
        clips = read_scores(scores_file(job, keeping), split)
        groups[split] = {str(group): clips.scores[clips.groups == group] for group in np.unique(clips.groups)}
        recorded = {clip.speaker for clip in keeping.clips("stop") if clip.split is split}
        assert set(clips.speakers.tolist()) <= recorded
    figures = measure(groups[Split.TEST], groups[Split.VALIDATION])
    assert figures == {name: row[name] for name in figures}


def test_damaged_scores_are_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.npz").write_bytes(b"PK damaged")
    with pytest.raises(DataError, match="expected the scores of a run") as raised:
        read_scores(tmp_path / "x.npz", Split.TEST)
    assert len(str(raised.value).splitlines()) == 1


def test_the_paths_of_a_source_do_not_change_a_key(source: Source, tmp_path: Path) -> None:
    job = Job("stop", "a", BASE)
    assert job.key(source) == job.key(dataclasses.replace(source, work=tmp_path, speech_commands=tmp_path))
