"""Recall of a word's recipe with both stages, by folds over the few people who say it.

The recipe is trained once for each fold (see ``accuracy.folds``), with the people of the fold kept for the test, so that
everyone is tested by a model that has not heard them. The included model is none of these.
"""

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from wakeword.base.errors import ConfigError, DataError
from wakeword.base.events import Line
from wakeword.base.files import write_json, write_whole
from wakeword.model.model import Model, read_model
from wakeword_experiments.accuracy.folds import FoldPlan, encoder_heard_the_word, fold_folders, plan_folds
from wakeword_experiments.figures_report import made_by
from wakeword_experiments.two_stages.stage_folds_page import CONDITIONS, POINTS, folds_name, stage_folds_page
from wakeword_experiments.two_stages.two_stages_measure import TestClips, people_scores
from wakeword_experiments.two_stages.two_stages_run import Sources
from wakeword_experiments.two_stages.unheard import Trial, measure_trial
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.scores import stream_scores
from wakeword_train.config import TrainConfig, read_config
from wakeword_train.data.clips import Clip, deal_speakers, read_folder, read_speech_commands
from wakeword_train.training import gather_clips
from wakeword_train.training_run import DataFolders


def measure_stage_folds(
    config: TrainConfig, folders: DataFolders, count: int, work: Path, report: Line
) -> list[dict[str, Any]]:
    """The record of each fold; one that is kept in ``work``, of the same settings and people, is not made again.

    Recordings of the word are those in ``folders.speech_commands``; ``folders.positives`` may hold synthetic voices alone.
    Raises ``DataError`` for other recordings there, and for fewer than two people a fold.
    """
    config = dataclasses.replace(config, hold_out_recorded=False)
    plan = _planned(config, folders, count)
    records = []
    for fold in range(count):
        own = fold_folders(plan, fold, folders, work / f"fold-{fold}" / "clips")
        own = dataclasses.replace(own, positives=[*own.positives, *folders.positives])
        report(f"fold {fold + 1} of {count}: {len(plan.folds[fold])} people are tested")
        records.append(_measure_fold(config, own, fold, work / f"fold-{fold}", report))
    return records


def _planned(config: TrainConfig, folders: DataFolders, count: int) -> FoldPlan:
    """The folds. Raises ``DataError`` as ``measure_stage_folds`` does."""
    if folders.speech_commands is None:
        raise DataError("expected recordings in the layout of Speech Commands, got none")
    for root in folders.positives:
        for clip in read_folder(root, Kind.POSITIVE):
            if not clip.synthetic:
                raise DataError(
                    f"{clip.path}: expected synthetic voices beside the recordings that are dealt, got a recording"
                )
    words = read_speech_commands(folders.speech_commands, config.keyword)
    if config.split == "dealt":
        words = deal_speakers(words, validation=config.validation_share, testing=config.test_share)
    return plan_folds(words, count)


def _measure_fold(config: TrainConfig, folders: DataFolders, fold: int, work: Path, report: Line) -> dict[str, Any]:
    clips = gather_clips(config, folders)
    test = TestClips.of(clips)
    content = repr((config, sorted((str(clip.path), clip.split.value) for clip in clips)))
    kept, origin = work / "record.json", hashlib.sha256(content.encode()).hexdigest()
    if kept.is_file():
        known: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
        if known["origin"] == origin:
            report(f"using {kept}")
            return known["record"]  # type: ignore[no-any-return]
    trial = measure_trial(Trial(config, folders), work, report)
    model = read_model(work / "model.onnx")
    record = {
        "fold": fold,
        "word": trial["word"],
        "recordings": _recordings(model, test, report),
        "encoder_heard_the_word": encoder_heard_the_word(model.card),
    }
    write_json(kept, {"origin": origin, "record": record})
    return record


def run_stage_folds(
    recipe: Path,
    sources: Sources,
    count: int,
    work: Path,
    out: Path,
    *,
    cut: Sequence[str],
    command: str,
    report: Line,
) -> None:
    """Train and measure the folds of a recipe, and write the figures and their page to the folder ``out``.

    ``cut``: parts of the names of recordings that end inside the word; the page also says what is found without them.
    Raises ``ConfigError`` before any training if one of them is of no recording, or if no recording is left.
    """
    config = read_config(recipe)
    folders = sources.folders(config.keyword)
    files = [_file(clip) for clip in _planned(config, folders, count).positives]
    for name in cut:
        if not any(name in file for file in files):
            raise ConfigError(f"expected a part of the name of a recording as --cut, such as {files[0]}, got {name}")
    if all(any(name in file for name in cut) for file in files):
        raise ConfigError("expected recordings that are whole, but --cut names all of them")
    name = folds_name(config.keyword)
    record: dict[str, Any] = {
        "keyword": config.keyword,
        "seed": config.seed,
        "cut": list(cut),
        **made_by(command),
        "folds": measure_stage_folds(config, folders, count, work / name, report),
    }
    record["encoder_heard_the_word"] = any(fold["encoder_heard_the_word"] for fold in record["folds"])
    write_json(out / f"{name}.json", record)
    write_whole(out / f"{name}.md", stage_folds_page(record, figures=f"{name}.json").encode())


def _recordings(model: Model, test: TestClips, report: Line) -> list[dict[str, Any]]:
    """Of each recording of the word, whether it is found, by point, of those that the model has, and condition."""
    points = {point.name: point.threshold for point in model.card.operating_points}
    points["default"] = model.card.point().threshold
    thresholds = {name: points[name] for name in POINTS if name in points}
    scores = people_scores(partial(stream_scores, model), test, report)
    return [
        {
            "file": _file(clip),
            "speaker": clip.speaker,
            "found": {
                name: {condition: bool(scores[condition][number] >= threshold) for condition in CONDITIONS}
                for name, threshold in thresholds.items()
            },
        }
        for number, clip in enumerate(test.people)
    ]


def _file(clip: Clip) -> str:
    """A recording by its folder and name."""
    return f"{clip.path.parent.name}/{clip.path.name}"
