"""Recall of a recipe by folds over speakers, for a word that only a few people have recorded.

A test split of three or four recordings shows nothing. Here the recipe is trained once for each fold, with the fold's
recordings kept for the test, so that every recording is tested by a model that was not trained on its speaker. The
shipped model is none of these: its recipe is measured.
"""

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wakeword.base.errors import DataError
from wakeword.base.events import Line
from wakeword.format.card import ModelCard
from wakeword.model.model import read_model
from wakeword_experiments.accuracy.accuracy_contenders import ours
from wakeword_experiments.accuracy.accuracy_scores import ScoredSplit, SplitScores, score_clips
from wakeword_experiments.accuracy.held_out import Clips, data_folders, deal
from wakeword_experiments.accuracy.measurement import SNR, Bench
from wakeword_experiments.accuracy.measures import ERRORS_AT, TARGETS, threshold_for
from wakeword_experiments.figures_report import markdown_table
from wakeword_tools.clips.manifest import recorded_row, write_manifest
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.measure.intervals import clopper_pearson
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_tools.measure.scores import events_at
from wakeword_train.config import TrainConfig
from wakeword_train.data.clips import Clip, read_speech_commands
from wakeword_train.model.network import encoder_path, file_fingerprint
from wakeword_train.pipeline import train_model
from wakeword_train.training_run import DataFolders, TrainingEvents


@dataclass(frozen=True)
class FoldPlan:
    """The folds of a word: the speakers tested in each, and what all folds share."""

    positives: Sequence[Clip]
    """Every recording of the word."""
    others: Sequence[Clip]
    """Recorded other words of Speech Commands in their splits, without those of the word's speakers."""
    folds: Sequence[frozenset[str]]
    """Speakers tested in each fold."""


def plan_folds(clips: Sequence[Clip], count: int) -> FoldPlan:
    """Deal the speakers of the recorded positives among ``clips`` into ``count`` folds, by a hash of their names.

    Raises ``DataError`` for fewer than two speakers per fold: each fold needs another one for validation.
    """
    positives = [clip for clip in clips if clip.kind is Kind.POSITIVE and not clip.synthetic]
    speakers = sorted(
        {clip.speaker for clip in positives}, key=lambda name: hashlib.sha1(f"fold {name}".encode()).hexdigest()
    )
    if len(speakers) < 2 * count:
        raise DataError(f"expected at least {2 * count} people who say the word, got {len(speakers)}; make fewer folds")
    others = [clip for clip in clips if clip.kind is Kind.NEGATIVE and clip.speaker not in set(speakers)]
    return FoldPlan(positives, others, [frozenset(speakers[index::count]) for index in range(count)])


def fold_folders(plan: FoldPlan, fold: int, folders: DataFolders, work: Path) -> DataFolders:
    """``folders`` with manifests in ``work`` instead of Speech Commands; the fold's speakers are in the test split."""
    tested = plan.folds[fold]
    splits = {speaker: Split.TRAIN for one in plan.folds for speaker in one}
    splits |= dict.fromkeys(tested, Split.TEST) | {_validated(plan, fold): Split.VALIDATION}
    positives = [dataclasses.replace(clip, split=splits[clip.speaker]) for clip in plan.positives]
    return dataclasses.replace(
        folders,
        speech_commands=None,
        positives=[_manifest(work / "positives", positives)],
        negatives=[_manifest(work / "negatives", plan.others), *folders.negatives],
    )


def _manifest(folder: Path, clips: Sequence[Clip]) -> Path:
    write_manifest(folder, [recorded_row(clip.path, clip.word, clip.speaker, clip.split) for clip in clips])
    return folder


def measure_folds(config: TrainConfig, methods: Sequence[str], count: int, bench: Bench) -> dict[str, Any]:
    """Train the recipe by each method once for each fold and test it there; the record of recall over all recordings.

    Thresholds are those of each model on the validation split, as in ``accuracy``.
    """
    recipes = [dataclasses.replace(config, method=method) for method in methods]
    all_held_out = dataclasses.replace(config, hold_out_recorded=True)
    folders = data_folders(bench.audio, config.keyword)
    held_out = deal(
        all_held_out, bench.audio, bench.work, near_clips=bench.near_clips, seed=bench.seed, report=bench.report
    )
    # Other words keep the split that they get when all of the word's speakers are kept for the test.
    dealt = [*held_out.validation[Kind.NEGATIVE], *held_out.test[Kind.NEGATIVE]]
    known = {clip.path: clip for clip in dealt}
    published = read_speech_commands(bench.audio / "speech_commands", config.keyword)
    plan = plan_folds([known.get(clip.path, dataclasses.replace(clip, split=Split.TRAIN)) for clip in published], count)
    models = [[_train_fold(recipe, plan, fold, folders, bench) for fold in range(count)] for recipe in recipes]
    speakers = {clip.speaker for clip in plan.positives}
    validation = {**held_out.validation, Kind.POSITIVE: []}
    test = _without(held_out.test, speakers)
    contenders = [ours(path.stem, path, read_model(path)) for of_recipe in models for path in of_recipe]
    scored = [
        score_clips(clips, contenders, mixer=mixer, snr=SNR, cache=bench.cache, report=bench.report)
        for clips, mixer in (
            (validation, None),
            (test, NoiseMixer(held_out.noise, seed=bench.seed, warn=bench.report)),
        )
    ]
    return {
        "keyword": config.keyword,
        "seed": config.seed,
        "folds": count,
        "snr": SNR,
        "encoder_heard_the_word": encoder_heard_the_word(read_model(models[0][0]).card),
        "sides": {"validation": scored[0].describe(), "test": scored[1].describe()},
        "methods": [
            {"method": recipe.method, **_found(plan, [path.stem for path in of_recipe], *scored)}
            for recipe, of_recipe in zip(recipes, models, strict=True)
        ],
    }


def _train_fold(config: TrainConfig, plan: FoldPlan, fold: int, folders: DataFolders, bench: Bench) -> Path:
    plain = dataclasses.replace(config, hold_out_recorded=False)
    work = bench.work / config.keyword
    out = work / f"{config.keyword}-{config.method}-fold{fold}-{fold_identity(plain, plan, fold)}.onnx"
    if out.is_file():
        bench.report(f"using {out}")
        return out
    own = fold_folders(plan, fold, folders, work / f"fold-{fold}")
    bench.report(f"fold {fold + 1} of {len(plan.folds)}: {len(plan.folds[fold])} people are tested")
    train_model(plain, own, out, work=bench.work, events=TrainingEvents(_quiet(bench.report)))
    return out


def fold_identity(config: TrainConfig, plan: FoldPlan, fold: int) -> str:
    """Twelve hex digits of all that determines a fold's model, so that no model of other speakers or settings is used."""
    paths = [[str(clip.path) for clip in clips] for clips in (plan.positives, plan.others)]
    encoder = file_fingerprint(encoder_path(config.encoder)) if config.encoder else ""
    content = [dataclasses.asdict(config), sorted(plan.folds[fold]), _validated(plan, fold), paths, encoder]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:12]


def _validated(plan: FoldPlan, fold: int) -> str:
    """The speaker that a fold is validated on, one of those tested in the next fold."""
    return min(plan.folds[(fold + 1) % len(plan.folds)])


def _quiet(report: Line) -> Line:
    return lambda line: report(f"  {line}")


def _without(clips: Clips, speakers: set[str]) -> Clips:
    """The clips without other words of the word's own speakers, who are trained on in other folds."""
    return {**clips, Kind.NEGATIVE: [clip for clip in clips[Kind.NEGATIVE] if clip.speaker not in speakers]}


def encoder_heard_the_word(card: ModelCard) -> bool:
    """Whether the encoder may have been trained on the word's recordings, without their labels."""
    return bool(card.training["encoder"]) and card.phrase not in card.training["encoder_held_out_words"]


def _found(plan: FoldPlan, names: Sequence[str], validation: ScoredSplit, test: ScoredSplit) -> dict[str, Any]:
    """Recall by target of the models ``names``, one for each fold, and the recordings that they miss."""
    recordings = test.recordings[Kind.POSITIVE]
    dealt = frozenset().union(*plan.folds)
    clips = sum(recording.speaker in dealt for recording in recordings)
    rows = []
    missed: dict[int, list[str]] = {}
    for target in TARGETS:
        found = {"clean": 0, "noisy": 0}
        negatives, near_negatives, accepts = [], [], 0
        for name, tested in zip(names, plan.folds, strict=True):
            scores: SplitScores = test.scores[name]
            threshold = threshold_for(validation.scores[name].clean, target)
            of_fold = [index for index, recording in enumerate(recordings) if recording.speaker in tested]
            for condition, of_clips in (("clean", scores.clean.positives), ("noisy", scores.noisy)):
                reached = [index for index in of_fold if of_clips[index] >= threshold]
                found[condition] += len(reached)
                if target.name == ERRORS_AT:
                    for index in sorted({*of_fold} - {*reached}):
                        missed.setdefault(index, []).append(condition)
            negatives.append(float((scores.clean.negatives >= threshold).mean()))
            near_negatives.append(float((scores.clean.near_negatives >= threshold).mean()))
            accepts += events_at(scores.clean.streams, threshold)
        rows.append(
            {
                "target": target.name,
                **{name: [number, clips, *clopper_pearson(number, clips)] for name, number in found.items()},
                "generic": sum(negatives) / len(negatives),
                "close": sum(near_negatives) / len(near_negatives),
                "false_accepts": accepts,
                "hours": len(names) * sum(part.seconds for part in test.recordings[Kind.BACKGROUND]) / 3600,
            }
        )
    return {
        "targets": rows,
        "missed": [{**dataclasses.asdict(recordings[index]), "missed": missed[index]} for index in sorted(missed)],
    }


def folds_page(record: Mapping[str, Any], *, figures: str) -> str:
    """The page in Markdown; ``figures``: the name of the record."""
    test = record["sides"]["test"]
    snr = f"at {record['snr']:g} dB"
    encoder = (
        "The encoder that training began with may have been trained on them, without their labels."
        if record["encoder_heard_the_word"]
        else "Nor was the encoder that training began with."
    )
    text = [
        f'# "{record["keyword"]}" by folds',
        f"The recipe of the shipped model (seed {record['seed']}) trained {record['folds']} times by each method, "
        f"each time with a share of the {test['positives']['clips']} recordings "
        f"({test['positives']['speakers']} people) kept for the test: each is tested by a model that was not trained on "
        f"its speaker. {encoder} Thresholds come from the validation split. "
        f"{test['generic']['clips']} other words, {test['close']['clips']} close words; hours are counted once for each "
        "model. Brackets are exact 95 % intervals, which treat the recordings as independent.",
        markdown_table(
            ["method", "target", "clean", snr, "FPR other words", "FPR close words", "false accepts"],
            [_line(one["method"], row) for one in record["methods"] for row in one["targets"]],
        ),
        *_missed(record, snr),
        f"Every figure: [{figures}]({figures}).",
    ]
    return "\n\n".join(text) + "\n"


def _missed(record: Mapping[str, Any], snr: str) -> list[str]:
    rows = [
        [
            one["method"],
            row["file"],
            f"{row['level']:.0f}",
            f"{row['snr']:.0f}",
            " and ".join(snr if condition == "noisy" else condition for condition in row["missed"]),
        ]
        for one in record["methods"]
        for row in one["missed"]
    ]
    if not rows:
        return [f"No recording is missed at {ERRORS_AT}."]
    return [
        f"Recordings that are missed at {ERRORS_AT}; level and ratio of the word to the clip's own floor are estimates:",
        markdown_table(["method", "file", "level, dB", "SNR, dB", "missed"], rows),
    ]


def _line(method: str, row: Mapping[str, Any]) -> list[str]:
    return [
        method,
        row["target"],
        *(_share(row[name]) for name in ("clean", "noisy")),
        f"{row['generic']:.1%}",
        f"{row['close']:.1%}",
        f"{row['false_accepts']} in {row['hours']:.2f} h",
    ]


def _share(found: Sequence[float]) -> str:
    number, clips, low, high = found
    return f"{number:.0f} of {clips:.0f} ({number / clips:.0%}, {low:.0%} to {high:.0%})"
