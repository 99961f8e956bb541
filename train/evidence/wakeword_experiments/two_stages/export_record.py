"""What exports find of people, and the table of it: records of words with some parts of a file each."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array, Scores
from wakeword_experiments.two_stages.anyword import people_of, strangers_speech
from wakeword_experiments.two_stages.weighing import conditions_of
from wakeword_tools.measure.intervals import clopper_pearson
from wakeword_tools.measure.scores import threshold_allowing_events
from wakeword_train.config import TrainConfig

_RATES = 0.5, 2.0
"""False accepts an hour."""
_CONDITIONS = "clean", "noisy", "room"


def found_of_people(
    config: TrainConfig,
    parts: Sequence[str],
    heard: Callable[[Array], Sequence[Scores]],
    audio: Path,
    speech: Sequence[Path],
    *,
    hop: int,
) -> dict[str, Any]:
    """By part, rate and condition: how many recordings of how many are found, with an exact interval of 95 %.

    ``heard``: the scores of each part for a sound, one each ``hop`` frames. Thresholds are the lowest that keep a rate in
    the strangers' speech.
    """
    store = strangers_speech(config, speech)
    streams = list(zip(*(heard(store.recorded(row)) for row in range(len(store))), strict=True))
    files = people_of(audio, config.keyword)
    people = {
        name: [[float(scores.max()) for scores in heard(np.pad(one, (0, SAMPLE_RATE)))] for one in some]
        for name, some in conditions_of(files, audio).items()
        if name in _CONDITIONS
    }
    found: dict[str, Any] = {"recordings": len(files), "hours": round(store.hours, 3)}
    for number, part in enumerate(parts):
        for rate in _RATES:
            threshold = threshold_allowing_events(streams[number], int(rate * store.hours), hop=hop)
            counts = {name: sum(one[number] >= threshold for one in some) for name, some in people.items()}
            found.setdefault(part, {})[f"{rate:g}"] = {
                name: [count, len(files), *(round(end, 4) for end in clopper_pearson(count, len(files)))]
                for name, count in counts.items()
            }
    return found


def table_of(record: Mapping[str, Any], parts: Mapping[str, str]) -> list[str]:
    """The lines of a table in Markdown; ``parts``: what each is called."""
    lines = ["| word | part | at 0.5 an hour | at 2 an hour |", "| --- | --- | ---: | ---: |"]
    for word, own in record["words"].items():
        for part, name in parts.items():
            cells = []
            for rate in _RATES:
                at = own[part][f"{rate:g}"]
                of, low, high = at["clean"][1:]
                counts = " / ".join(str(at[one][0]) for one in _CONDITIONS)
                cells.append(f"{counts} of {of} ({100 * low:.0f} to {100 * high:.0f} %)")
            lines.append(f"| {word} | {name} | {' | '.join(cells)} |")
    every = record["words"].values()
    for part, name in parts.items():
        means = [
            " / ".join(
                f"{100 * np.mean([own[part][f'{rate:g}'][one][0] / own['recordings'] for own in every]):.0f}"
                for one in _CONDITIONS
            )
            for rate in _RATES
        ]
        lines.append(f"| **mean** | {name} | {' | '.join(f'{one} %' for one in means)} |")
    return lines
