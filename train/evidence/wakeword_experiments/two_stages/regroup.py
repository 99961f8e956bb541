"""Intervals by speaker and by text for recorded figures, which were measured before these were written."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from wakeword.base.errors import DataError
from wakeword.base.events import Line
from wakeword.base.files import write_json
from wakeword.model.model import read_model
from wakeword_experiments.two_stages.two_stages_measure import TestClips, highest_scores, people_scores, share
from wakeword_experiments.two_stages.two_stages_run import Sources
from wakeword_tools.measure.scores import stream_scores
from wakeword_train.config import read_config
from wakeword_train.training import gather_clips


def regroup(models: Sequence[Path], recipes: Path, sources: Sources, figures: Path, report: Line) -> None:
    """Score people and close words of each model again, and add the intervals by group to the record in ``figures``.

    Raises ``DataError`` if a count differs from the recorded one: then it is another model, or other clips.
    """
    record = json.loads(figures.read_text(encoding="utf-8"))
    words = {word["keyword"]: word for word in record["words"]}
    for path in models:
        model = read_model(path)
        config = read_config(recipes / f"{path.stem}.toml")
        test = TestClips.of(gather_clips(config, sources.folders(path.stem)))
        score = partial(stream_scores, model)
        close = highest_scores(score, test.close, None)
        scores = {"people": people_scores(score, test, report), "close": {"clean": close}}
        for point in words[model.card.phrase]["stages"]["both"]["points"].values():
            for kind, of_condition in scores.items():
                for condition, values in of_condition.items():
                    again = share(values >= point["threshold"], test.groups[kind])
                    _check(path, point[kind][condition], again)
                    point[kind][condition] = again
        report(f"{model.card.phrase}: {len(test.people)} people, {len(test.close)} close words")
    write_json(figures, record)


def _check(path: Path, known: dict[str, Any], again: dict[str, Any]) -> None:
    if (known["found"], known["of"]) != (again["found"], again["of"]):
        raise DataError(
            f"{path}: expected the recorded {known['found']} of {known['of']} clips, found {again['found']} of "
            f"{again['of']}; measure the models anew with two-stages"
        )
