"""A word's own file, its exports and the models of other engines, on the same people and in the same speech."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.events import Line
from wakeword.base.files import write_json
from wakeword.base.types import Array, Scores
from wakeword_experiments.two_stages.anyword import RATES, people_of, strangers_speech
from wakeword_experiments.two_stages.export_record import CONDITIONS, heard_in
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
    subjects = [read_subject(path) for path in files.values()]
    scorer = SubjectScorer(subjects)
    # Some models need the sound after a word, which a recording may lack.
    people = {
        condition: [[float(scores.max()) for scores in scorer.score([np.pad(one, (0, SAMPLE_RATE))])] for one in some]
        for condition, some in heard_in(people_of(audio, word), audio).items()
    }
    streams = list(zip(*(scorer.score([sounds.recorded(row)]) for row in range(len(sounds))), strict=True))
    path = out / "exports.json"
    record: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {"note": "", "words": {}}
    record |= {"command": command, "date": date.today().isoformat()}
    rows = record["words"].setdefault(word, {"hours": sounds.hours, "files": {}})["files"]
    for number, (name, subject) in enumerate(zip(files, subjects, strict=True)):
        found = {condition: np.array(some)[:, number] for condition, some in people.items()}
        heard = ScoreSet(found[CONDITIONS[0]], np.zeros(0), streams=list(streams[number]), hours=sounds.hours)
        at = {"rate": choose_fa_per_hour(heard, _RATE).threshold, "own": subject.card.point().threshold}
        rows[name] = {point: _figures(found, heard.streams, threshold) for point, threshold in at.items()}
    write_json(path, record)
    path.with_suffix(".md").write_text(exports_page(record), encoding="utf-8")


def _figures(found: Mapping[str, Array], streams: Sequence[Scores], threshold: float) -> dict[str, Any]:
    counts = {condition: (int((some >= threshold).sum()), len(some)) for condition, some in found.items()}
    shares = {condition: [*count, *clopper_pearson(*count)] for condition, count in counts.items()}
    return {"threshold": threshold, "found": shares, "events": events_at(streams, threshold)}


def exports_page(record: Mapping[str, Any]) -> str:
    """The table in Markdown."""
    lines = [
        "# Exports",
        "",
        "Recordings of people in which the word is found, as recorded / in noise at 10 dB / in measured rooms, by the "
        "files of one training from the text alone, and by the models that other engines bring. Each is run by its "
        f"own engine. Found at the lowest threshold that keeps {_RATE:g} false accepts an hour in the same speech, of "
        "people who are strangers to our files, and at the threshold that the file itself names. Brackets are exact "
        "95 % intervals of the first number, by recording; a person may have several.",
        "",
        f"| word | file | found at {_RATE:g} an hour | found at its own threshold | false accepts there |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for word, of_word in record["words"].items():
        for name, row in of_word["files"].items():
            shares = " | ".join(_share(row[point]["found"]) for point in ("rate", "own"))
            lines.append(f"| {word} | {name} | {shares} | {row['own']['events']} in {of_word['hours']:.2f} h |")
    files = [of_word["files"] for of_word in record["words"].values()]
    for name in (one for one in files[0] if all(one in others for others in files)):
        means = [_mean([own[name][point]["found"] for own in files]) for point in ("rate", "own")]
        events, hours = (sum(some) for some in zip(*_events(record, name), strict=True))
        lines.append(f"| **mean** | {name} | {' | '.join(means)} | {events} in {hours:.1f} h |")
    made = f"Made by `{record['command']}` on {record['date']} and calls like it."
    return "\n".join([*lines, "", made, "", *([record["note"], ""] if record["note"] else [])])


def _events(record: Mapping[str, Any], name: str) -> list[tuple[int, float]]:
    return [(one["files"][name]["own"]["events"], one["hours"]) for one in record["words"].values()]


def _mean(found: Sequence[Mapping[str, Sequence[float]]]) -> str:
    means = [np.mean([one[condition][0] / one[condition][1] for one in found]) for condition in CONDITIONS]
    return " / ".join(f"{100 * mean:.0f}" for mean in means) + " %"


def _share(found: Mapping[str, Sequence[float]]) -> str:
    _, trials, low, high = found[CONDITIONS[0]]
    counts = " / ".join(f"{found[condition][0]:g}" for condition in CONDITIONS)
    return f"{counts} of {trials:g} ({100 * low:.0f} to {100 * high:.0f} %)"
