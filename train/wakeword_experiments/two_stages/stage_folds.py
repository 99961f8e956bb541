"""Recall of a word's recipe with both stages, by folds over the few people who say it.

As ``accuracy.folds`` does for one stage: the recipe is trained once for each fold, with the people of the fold kept for the
test, so that everyone is tested by a model that has not heard them. The included model is none of these.
"""

import dataclasses
import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.errors import DataError
from wakeword.files import replacing, write_json
from wakeword.model import read_model
from wakeword_experiments.accuracy.folds import fold_folders, plan_folds
from wakeword_experiments.report import markdown_table, versions
from wakeword_experiments.two_stages.measure import TestClips, people_scores
from wakeword_experiments.two_stages.run import Sources
from wakeword_experiments.two_stages.unheard import Trial, measure_trial
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.intervals import clopper_pearson, poisson_rate
from wakeword_tools.measure.scores import stream_scores
from wakeword_train.config import TrainConfig, read_config
from wakeword_train.data.clips import deal_speakers, read_speech_commands
from wakeword_train.training import DataFolders, gather_clips

Report = Callable[[str], None]
POINTS = ("fpr=0.03", "default")
CONDITIONS = ("clean", "noisy")


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
    name = f"folds-two-stages-{'-'.join(config.keyword.split())}"
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


def stage_folds_page(record: Mapping[str, Any], *, figures: str) -> str:
    """The page in Markdown; ``figures`` is a link to the record."""
    folds, cut = record["folds"], record["cut"]
    recordings = [one for fold in folds for one in fold["recordings"]]
    whole = [one for one in recordings if not any(name in one["file"] for name in cut)]
    rows = []
    for fold in folds:
        own = fold["recordings"]
        rows.append([str(fold["fold"] + 1), str(len(own)), *_cells(own), f"`{_point(fold)['name']}`", *_rates([fold])])
    rows.append(["**all**", str(len(recordings)), *_cells(recordings, interval=True), "", *_rates(folds)])
    if len(whole) < len(recordings):
        rows.append(["**whole clips**", str(len(whole)), *_cells(whole, interval=True), "", "", ""])
    points = [name if name == "default" else f"`{name}`" for name in _names(recordings)]
    head = ["fold", "recordings", *points, "its name", "false accepts an hour (95 %)", "close words"]
    missed = [f"| {one['file']} | {', '.join(_misses(one))} |" for one in recordings if any(_misses(one))]
    lines = [
        f'# "{record["keyword"]}" by folds, both stages',
        "",
        f"The recipe of the included model trained {len(folds)} times (seed {record['seed']}), each time with the "
        "recordings of other people kept for the test: as recorded / with noise 10 dB below the word, with the exact 95 % "
        f"interval ({len({one['speaker'] for one in recordings})} people). False accepts are counted in held-out speech at "
        "thresholds from other speech, once for each model. Validation, which chooses epochs "
        "and fits the fusion, has one person.",
        "",
        *markdown_table(head, rows).splitlines(),
        "",
    ]
    if cut:
        lines += [f"Cut off inside the word, and no whole clips: {', '.join(cut)}.", ""]
    if missed:
        lines += ["| missed | at |", "| --- | --- |", *missed, ""]
    lines += [f"Made by `{record['command']}` on {record['date']}. [Figures]({figures}).", ""]
    return "\n".join(lines)


def _names(recordings: Sequence[Mapping[str, Any]]) -> list[str]:
    """The points that every model has."""
    return [name for name in POINTS if all(name in one["found"] for one in recordings)]


def _point(fold: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = fold["word"]["stages"]["both"]["points"]["default"]
    return found


def _cells(recordings: Sequence[Mapping[str, Any]], *, interval: bool = False) -> Iterator[str]:
    for name in _names(recordings):
        counts = [sum(one["found"][name][condition] for one in recordings) for condition in CONDITIONS]
        text = f"{counts[0]} / {counts[1]} of {len(recordings)}"
        if interval:
            low, high = clopper_pearson(counts[0], len(recordings))
            shares = " / ".join(f"{100 * count / len(recordings):.0f}" for count in counts)
            text += f", {shares} % ({100 * low:.0f} to {100 * high:.0f})"
        yield text


def _rates(folds: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """False accepts an hour, and the share of close words that fire, at the default."""
    counted = [fold["word"]["stages"]["both"]["cross_validated"] for fold in folds]
    events, hours = sum(one["events"] for one in counted), sum(one["hours"] for one in counted)
    low, high = poisson_rate(events, hours)
    close = float(np.mean([_point(fold)["close"]["clean"]["rate"] for fold in folds]))
    return f"{events / hours:.2f} ({low:.2f} to {high:.2f}) in {hours:.1f} h", f"{100 * close:.1f} %"


def _misses(recording: Mapping[str, Any]) -> list[str]:
    names = {"clean": "", "noisy": " at 10 dB"}
    return [
        f"{name}{names[condition]}"
        for name in _names([recording])
        for condition in CONDITIONS
        if not recording["found"][name][condition]
    ]
