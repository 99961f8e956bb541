"""What a word's folds found, written onto the card of its included model."""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.format.card import ModelCard
from wakeword.format.operating_point import Folds, Rate
from wakeword.model.model import read_model
from wakeword_experiments.two_stages.stage_folds_page import POINTS, RECORD_PREFIX, whole_recordings
from wakeword_experiments.two_stages.two_stages_measure import interval_of, share
from wakeword_tools.measure.cards import write_card


def write_fold_cards(models: Path, results: Path) -> list[Path]:
    """Write the records of ``results`` onto the cards of the models of that name; weights and thresholds stay.

    A record of an earlier recipe says nothing of the model, and is left out.

    Raises ``ModelError`` and ``OSError`` as ``write_card`` does.
    """
    written = []
    for path in sorted(results.glob(f"{RECORD_PREFIX}*.json")):
        model = models / f"{path.stem.removeprefix(RECORD_PREFIX)}.onnx"
        record = json.loads(path.read_text(encoding="utf-8"))
        if "earlier" in record:
            continue
        write_card(model, with_folds(read_model(model).card, record))
        written.append(model)
    return written


def with_folds(card: ModelCard, record: Mapping[str, Any]) -> ModelCard:
    """The card with the record's figures at the points that its folds have."""
    points = {card.default_point if name == "default" else name: name for name in POINTS}
    changed = tuple(
        dataclasses.replace(point, by_folds=folds_at(record, points[point.name])) if point.name in points else point
        for point in card.operating_points
    )
    return dataclasses.replace(card, operating_points=changed)


def folds_at(record: Mapping[str, Any], name: str) -> Folds:
    """What the folds found at a point, in whole recordings of the word: those that end inside it are left out."""
    whole, folds = whole_recordings(record), record["folds"]
    measured = share(np.array([one["found"][name]["clean"] for one in whole]), [one["speaker"] for one in whole])
    stages = [fold["word"]["stages"]["both"] for fold in folds]
    # As on the page: at the default, thresholds come from other people's speech.
    counted = [one["cross_validated"] if name == "default" else one["points"][name] for one in stages]
    hours = sum(one["hours"] for one in counted)
    return Folds(
        models=len(folds),
        recall=Rate(measured["rate"], *interval_of(measured), measured["found"], float(measured["of"])),
        false_accepts_per_hour=sum(one["events"] for one in counted) / hours,
        hours=hours / len(folds),
    )
