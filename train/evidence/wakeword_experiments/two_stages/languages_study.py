"""False accepts of the included words, which were taught in English, in speech of other languages."""

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wakeword.audio.audio_file import read_audio
from wakeword.audio.audio_listing import audio_files
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.events import Line
from wakeword.base.files import write_json, write_whole
from wakeword.base.poisson import poisson_rate
from wakeword.model.model import load_model
from wakeword_tools.measure.scores import events_at, stream_scores

INCLUDED = ("alexa", "computer", "jarvis", "marvin", "seven", "stop")


def measure_languages(speech: Sequence[Path], figures: Path, *, command: str, report: Line) -> None:
    """Write the figures and their page. ``speech``: folders of other languages, in which false accepts are counted."""
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    record = {"command": command, "date": date, "included": [_included(folder, report) for folder in speech]}
    write_json(figures, record)
    write_whole(figures.with_suffix(".md"), languages_page(record, figures=figures.name).encode())


def _included(folder: Path, report: Line) -> dict[str, Any]:
    """The included words' events at their default points in the recordings of a folder."""
    sounds = [read_audio(path) for path in audio_files(folder)]
    hours = sum(map(len, sounds)) / SAMPLE_RATE / 3600
    events = {}
    for word in INCLUDED:
        model = load_model(word)
        events[word] = events_at([stream_scores(model, sound) for sound in sounds], model.card.point().threshold)
        report(f"{folder.name}: {word} {events[word]}")
    return {"speech": folder.name, "hours": hours, "events": events}


def languages_page(record: Mapping[str, Any], *, figures: str) -> str:
    """The page in Markdown; ``figures`` is a link to the record."""
    lines = ["# Other languages"]
    total = sum(one["hours"] for one in record["included"])
    lines += [
        "",
        f"False accepts of the included words at their default points in {total:.1f} h of speech in other languages; the "
        "last row is an hour (95 %).",
        "",
        f"| speech | hours | {' | '.join(INCLUDED)} |",
        f"| --- | ---: |{' ---: |' * len(INCLUDED)}",
    ]
    for one in record["included"]:
        lines.append(
            f"| {one['speech']} | {one['hours']:.2f} | {' | '.join(str(one['events'][word]) for word in INCLUDED)} |"
        )
    cells = []
    for word in INCLUDED:
        count = sum(one["events"][word] for one in record["included"])
        low, high = poisson_rate(count, total)
        cells.append(f"{count / total:.1f} ({low:.1f} to {high:.1f})")
    lines.append(f"| **an hour** | {total:.2f} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"Made by `{record['command']}` on {record['date']}. [Figures]({figures}).", ""])
