"""Recall of a word's recipe with both stages, by folds over the few people who say it.

As ``accuracy.folds`` does for one stage: the recipe is trained once for each fold, with the people of the fold kept for the
test, so that everyone is tested by a model that has not heard them. The included model is none of these.
"""

import dataclasses
import datetime
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from wakeword.errors import DataError
from wakeword.files import replacing, write_json
from wakeword.model import read_model
from wakeword_experiments.accuracy.folds import fold_folders, plan_folds
from wakeword_experiments.report import versions
from wakeword_experiments.two_stages.measure import TestClips, people_scores
from wakeword_experiments.two_stages.run import Sources
from wakeword_experiments.two_stages.stage_folds_page import CONDITIONS, POINTS, folds_name, stage_folds_page
from wakeword_experiments.two_stages.unheard import Trial, measure_trial
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.scores import stream_scores
from wakeword_train.config import TrainConfig, read_config
from wakeword_train.data.clips import deal_speakers, read_speech_commands
from wakeword_train.training import DataFolders, gather_clips

Report = Callable[[str], None]


def measure_stage_folds(
    config: TrainConfig, folders: DataFolders, count: int, work: Path, report: Report, only: Sequence[int] = ()
) -> list[dict[str, Any]]:
    """The record of each fold, or of those in ``only``.

    Recordings of the word are those in ``folders.speech_commands``; ``folders.positives`` may hold synthetic voices alone.
    Raises ``DataError`` for other recordings there, and for fewer than two people a fold.
    """
    assert folders.speech_commands is not None
    _check_synthetic(config, folders)
    words = read_speech_commands(folders.speech_commands, config.keyword)
    dealt = deal_speakers(words, validation=config.validation_share, testing=config.test_share)
    plan = plan_folds(dealt, count)
    records = []
    for fold in only or range(count):
        own = fold_folders(plan, fold, folders, work / f"fold-{fold}" / "clips")
        own = dataclasses.replace(own, positives=[*own.positives, *folders.positives])
        report(f"fold {fold + 1} of {count}: {len(plan.folds[fold])} people are tested")
        folder = work / f"fold-{fold}"
        trial = measure_trial(Trial(config, own), folder, report)
        test = TestClips.of(gather_clips(config, own))
        records.append(
            {"fold": fold, "word": trial["word"], "recordings": _recordings(folder / "model.onnx", test, report)}
        )
    return records


def run_stage_folds(
    recipe: Path,
    sources: Sources,
    count: int,
    work: Path,
    out: Path,
    *,
    cut: Sequence[str],
    command: str,
    report: Report,
) -> None:
    """Train and measure the folds of a recipe, and write the figures and their page to the folder ``out``.

    ``cut``: parts of the names of recordings that end inside the word; the page also says what is found without them.
    """
    config = read_config(recipe)
    record = {
        "keyword": config.keyword,
        "seed": config.seed,
        "cut": list(cut),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "versions": versions(),
        "command": command,
        "folds": measure_stage_folds(config, sources.folders(config.keyword), count, work, report),
    }
    name = folds_name(config.keyword)
    write_json(out / f"{name}.json", record)
    with replacing(out / f"{name}.md") as temporary:
        temporary.write_text(stage_folds_page(record, figures=f"{name}.json"), encoding="utf-8")


def _check_synthetic(config: TrainConfig, folders: DataFolders) -> None:
    apart = dataclasses.replace(folders, speech_commands=None)
    for clip in gather_clips(config, apart):
        if clip.kind is Kind.POSITIVE and not clip.synthetic:
            raise DataError(
                f"{clip.path}: expected synthetic voices beside the recordings that are dealt, got a recording"
            )


def _recordings(path: Path, test: TestClips, report: Report) -> list[dict[str, Any]]:
    """Of each recording of the word, whether it is found, by point, of those that the model has, and condition."""
    model = read_model(path)
    points = {point.name: point.threshold for point in model.card.operating_points}
    points["default"] = model.card.point().threshold
    thresholds = {name: points[name] for name in POINTS if name in points}
    scores = people_scores(partial(stream_scores, model), test, report)
    return [
        {
            "file": f"{clip.path.parent.name}/{clip.path.name}",
            "speaker": clip.speaker,
            "found": {
                name: {condition: bool(scores[condition][number] >= threshold) for condition in CONDITIONS}
                for name, threshold in thresholds.items()
            },
        }
        for number, clip in enumerate(test.people)
    ]
