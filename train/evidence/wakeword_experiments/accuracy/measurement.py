"""Accuracy of model files and of other engines' models, on the recordings that training held out."""

import datetime
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import ConfigError
from wakeword.base.events import Line
from wakeword.base.files import replacing, write_json
from wakeword.model.model import Model, read_model
from wakeword_experiments.accuracy.accuracy_contenders import ELSEWHERE, JudgedModel, ours, peers
from wakeword_experiments.accuracy.accuracy_page import INDEX, index_page, page_name, word_page
from wakeword_experiments.accuracy.accuracy_scores import ScoredSplit, score_clips
from wakeword_experiments.accuracy.accuracy_summary import summary_page
from wakeword_experiments.accuracy.held_out import DEALING, HeldOutClips, deal, dealing
from wakeword_experiments.accuracy.measures import ERRORS_AT, errors, figures, paired
from wakeword_experiments.figures_report import versions
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_tools.measure.subject import HOP_SAMPLES
from wakeword_train.config import TrainConfig
from wakeword_train.data.store import ClipStore

SNR = 10.0
"""Ratio of the word to the noise in the noisy condition, dB."""
NOTES = "accuracy-notes.md"
"""Hand-written notes in the folder of the figures; the page for users links to them."""
_METHOD = "drocc-lf"
"""The method that is compared with each of the others."""


@dataclass(frozen=True)
class Bench:
    """Settings that all keywords share."""

    audio: Path
    work: Path
    near_clips: int
    seed: int
    cache: Path | None
    report: Line


def measure_accuracy(models: Sequence[Path], bench: Bench) -> dict[str, Any]:
    """The record of all models and of the peers, from which the pages are made.

    Raises ``ConfigError`` for models of one keyword that were trained on different splits.
    """
    by_keyword: dict[str, dict[str, tuple[Path, Model]]] = {}
    for name, path in _names(models).items():
        model = read_model(path)
        by_keyword.setdefault(model.card.phrase, {})[name] = (path, model)
    # Before any work, so that an error does not come after an hour of it.
    dealt = {
        keyword: dealing({name: model.card for name, (_, model) in named.items()})
        for keyword, named in by_keyword.items()
    }
    return {
        "title": "Accuracy beside other engines",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "versions": versions(),
        "settings": {
            "near_clips": bench.near_clips,
            "snr": SNR,
            "hop_ms": 1_000 * HOP_SAMPLES / SAMPLE_RATE,
            "seed": bench.seed,
            "errors_at": ERRORS_AT,
        },
        "keywords": [_measure_keyword(dealt[keyword], named, bench) for keyword, named in by_keyword.items()],
    }


def write_accuracy(record: Mapping[str, Any], figures_file: Path, report_file: Path) -> None:
    """Write the figures as JSON, the page for users, and a page of each word in a folder next to the figures.

    If there is a ``folds-WORD.json`` next to the figures, the page for users shows it instead of the word's first model;
    notes there are linked.
    """
    write_json(figures_file, record)
    words = figures_file.with_suffix("")
    notes = figures_file.parent / NOTES
    pages = {
        report_file: summary_page(
            record,
            figures=_link(figures_file, report_file),
            words=_link(words, report_file),
            folds=_folds(record, figures_file.parent),
            notes=_link(notes, report_file) if notes.is_file() else "",
        )
    }
    pages[words / INDEX] = index_page(record, summary=_link(report_file, words / INDEX))
    for result in record["keywords"]:
        file = words / page_name(result["keyword"])
        pages[file] = word_page(result, record, figures=_link(figures_file, file))
    for file, text in pages.items():
        with replacing(file) as temporary:
            temporary.write_text(text, encoding="utf-8")


def _link(target: Path, page: Path) -> str:
    return Path(os.path.relpath(target, page.parent)).as_posix()


def _folds(record: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The records of ``measure_folds`` in a folder, by keyword."""
    keywords = [result["keyword"] for result in record["keywords"]]
    files = {keyword: (folder / f"folds-{page_name(keyword)}").with_suffix(".json") for keyword in keywords}
    return {keyword: json.loads(file.read_text(encoding="utf-8")) for keyword, file in files.items() if file.is_file()}


def read_record(path: Path) -> dict[str, Any]:
    """The record that an earlier call wrote. ``ConfigError`` for any other file."""
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        record["keywords"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{path}: expected the figures of an earlier call, or --model to measure ({error})"
        ) from error
    return record


def _names(models: Sequence[Path]) -> dict[str, Path]:
    """Short names: the file's stem, with its folder if two files have the same stem."""
    stems = [path.stem for path in models]
    named = {
        path.stem if stems.count(path.stem) == 1 else f"{path.resolve().parent.name}/{path.stem}": path
        for path in models
    }
    if len(named) < len(models):
        raise ConfigError("expected model files of different names, got some twice; give each file once")
    return named


def _measure_keyword(config: TrainConfig, named: Mapping[str, tuple[Path, Model]], bench: Bench) -> dict[str, Any]:
    keyword = config.keyword
    held_out = deal(config, bench.audio, bench.work, near_clips=bench.near_clips, seed=bench.seed, report=bench.report)
    working, absent = peers(keyword)
    contenders = [*(ours(name, path, model) for name, (path, model) in named.items()), *working]
    validation, test = _score_splits(keyword, held_out, contenders, bench)
    rows = [
        {
            "name": contender.name,
            **contender.facts,
            "points": figures(validation.scores[contender.name], test.scores[contender.name]),
        }
        for contender in contenders
    ]
    background = ClipStore(held_out.validation[Kind.BACKGROUND]).fingerprint
    for row in rows[: len(named)]:
        row["same_background"] = _fingerprint(named[row["name"]][1]) == background
    shipped = rows[0]["name"]
    threshold = rows[0]["points"][ERRORS_AT]["threshold"]
    return {
        "keyword": keyword,
        "dealing": {setting: getattr(config, setting) for setting in DEALING},
        "sides": {"validation": validation.describe(), "test": test.describe(), "noise": len(held_out.noise)},
        "contenders": rows,
        "absent": absent,
        "elsewhere": ELSEWHERE.get(keyword.casefold()),
        "paired": _pairs(rows, test),
        "errors": {"name": shipped, **errors(test, test.scores[shipped], threshold, held_out.distances)},
    }


def _score_splits(
    keyword: str, held_out: HeldOutClips, contenders: Sequence[JudgedModel], bench: Bench
) -> tuple[ScoredSplit, ScoredSplit]:
    """Validation and test with the scores of all contenders; noise is mixed into the test only."""
    mixer = NoiseMixer(held_out.noise, seed=bench.seed, warn=bench.report)
    bench.report(f"{keyword}: validation split, {len(contenders)} contenders")
    validation = score_clips(
        held_out.validation, contenders, mixer=None, snr=SNR, cache=bench.cache, report=bench.report
    )
    bench.report(f"{keyword}: test split")
    return validation, score_clips(
        held_out.test, contenders, mixer=mixer, snr=SNR, cache=bench.cache, report=bench.report
    )


def _fingerprint(model: Model) -> object:
    """The card's fingerprint of the long recordings in the validation split."""
    return model.card.training.get("validation", {}).get("background", {}).get("fingerprint")


def _pairs(rows: Sequence[Mapping[str, Any]], test: ScoredSplit) -> list[dict[str, Any]]:
    """Our method compared with each of the others whose seed and positives are the same."""
    own = [row for row in rows if row["ours"]]
    found = []
    for first in (row for row in own if row["method"] == _METHOD):
        for second in (row for row in own if row["method"] != _METHOD):
            if all(first[field] == second[field] for field in ("seed", "positives")):
                thresholds = {
                    target: (first["points"][target]["threshold"], second["points"][target]["threshold"])
                    for target in first["points"]
                }
                of_pair = paired(test.scores[first["name"]], test.scores[second["name"]], thresholds)
                found.append({"first": first["name"], "second": second["name"], "rows": of_pair})
    return found
