"""A word's own file, its exports and the models of other engines, on the same people and in the same speech."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.audio.audio_file import read_audio
from wakeword.base.events import Line
from wakeword.base.files import write_json
from wakeword_experiments.two_stages.anyword import RATES, people_of, strangers_speech
from wakeword_tools.measure.intervals import clopper_pearson
from wakeword_tools.measure.rates import choose_fa_per_hour
from wakeword_tools.measure.scores import ScoreSet, events_at
from wakeword_tools.measure.subject import SubjectScorer, read_subject
from wakeword_train.recipe import default_recipe

_RATE = RATES["at_rate"]
"""False accepts an hour."""


def measure_exports(
    word: str,
    files: Mapping[str, Path],
    audio: Path,
    speech: Sequence[Path],
    out: Path,
    *,
    command: str,
    report: Line,
) -> None:
    """Measure ``files``, each by the name of its row; ``exports.json`` and ``exports.md`` keep other rows."""
    report(f"{word}: {', '.join(files)}")
    sounds = strangers_speech(dataclasses.replace(default_recipe(), keyword=word), speech)
    people = [read_audio(path) for path in people_of(audio, word)]
    subjects = [read_subject(path) for path in files.values()]
    scorer = SubjectScorer(subjects)
    found = [
        np.array([scores.max() for scores in some])
        for some in zip(*(scorer.score([one]) for one in people), strict=True)
    ]
    recordings = (sounds.recorded(row) for row in range(len(sounds)))
    streams = list(zip(*(scorer.score([one]) for one in recordings), strict=True))
    path = out / "exports.json"
    record: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {"words": {}}
    record |= {"command": command, "date": date.today().isoformat()}
    rows = record["words"].setdefault(word, {"hours": sounds.hours, "files": {}})["files"]
    for name, subject, own, heard in zip(files, subjects, found, streams, strict=True):
        scores = ScoreSet(positives=own, negatives=np.zeros(0), streams=list(heard), hours=sounds.hours)
        at = {"rate": choose_fa_per_hour(scores, _RATE).threshold, "own": subject.card.point().threshold}
        rows[name] = {point: _figures(scores, threshold) for point, threshold in at.items()}
    write_json(path, record)
    path.with_suffix(".md").write_text(exports_page(record), encoding="utf-8")


def _figures(scores: ScoreSet, threshold: float) -> dict[str, Any]:
    count, trials = int((scores.positives >= threshold).sum()), len(scores.positives)
    events = events_at(scores.streams, threshold)
    return {"threshold": threshold, "found": [count, trials, *clopper_pearson(count, trials)], "events": events}


def exports_page(record: Mapping[str, Any]) -> str:
    """The table in Markdown."""
    lines = [
        "# Exports",
        "",
        "Recordings of people in which the word is found, by files trained from the text alone and by the models that "
        "other engines bring; files of a word may be of different trainings. Found at the lowest threshold that keeps "
        f"{_RATE:g} false accepts an hour in the same speech, "
        "of people who are strangers to our files, and at the threshold that the file itself names. Brackets are exact 95 "
        "% intervals by recording; a person may have several.",
        "",
        f"| word | file | found at {_RATE:g} an hour | found at its own threshold | false accepts there |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for word, of_word in record["words"].items():
        for name, row in of_word["files"].items():
            shares = [_share(*row[point]["found"]) for point in ("rate", "own")]
            lines.append(
                f"| {word} | {name} | {' | '.join(shares)} | {row['own']['events']} in {of_word['hours']:.2f} h |"
            )
    return "\n".join([*lines, "", f"Made by `{record['command']}` on {record['date']} and calls like it.", ""])


def _share(count: int, trials: int, low: float, high: float) -> str:
    return f"{count} of {trials}, {count / trials:.0%} ({100 * low:.0f} to {100 * high:.0f})"
