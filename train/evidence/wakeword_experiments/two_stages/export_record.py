"""What exports find of people, and the table of it: records of words with some parts of a file each."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from wakeword.audio.audio_file import read_audio
from wakeword.audio.audio_listing import audio_files
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.files import write_json
from wakeword.base.types import Array, Scores
from wakeword_experiments.two_stages.anyword import people_of, strangers_speech
from wakeword_experiments.two_stages.conditions import Condition
from wakeword_experiments.two_stages.measured_rooms import in_rooms, read_rooms
from wakeword_experiments.two_stages.two_stages_measure import SNR, recording_of
from wakeword_tools.measure.intervals import clopper_pearson
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_tools.measure.scores import threshold_allowing_events
from wakeword_train.config import TrainConfig

_RATES = 0.5, 2.0
"""False accepts an hour."""
CONDITIONS = "clean", "noisy", "room"
_log = logging.getLogger(__name__)


def run_command(
    measured: Callable[[str, Path, Path, list[Path]], dict[str, Any]], page: Callable[[Mapping[str, Any]], str]
) -> None:
    """The command of a module: ``measured`` gets a word and the folders, and ``page`` the record."""

    def main(
        word: Annotated[list[str], typer.Option("--word", help="A word; repeatable.")],
        models: Annotated[Path, typer.Option("--models", help="The folder of the trained models, or of their runs.")],
        audio: Annotated[Path, typer.Option("--audio", help="The folder with the collections, noise and rooms.")],
        speech: Annotated[list[Path], typer.Option("--speech", help="Speech of strangers; repeatable.")],
        figures: Annotated[Path, typer.Option("--figures", help="The record; its page is beside it.")],
    ) -> None:
        """Measure words, and keep the others of the record."""
        logging.basicConfig(level=logging.INFO, format="%(message)s")
        record: dict[str, Any] = {"note": "", "words": {}}
        if figures.is_file():
            record |= json.loads(figures.read_text())
        for one in word:
            record["words"][one] = measured(one, models, audio, speech)
            _log.info("%s: %s", one, record["words"][one])
            write_json(figures, record)
            figures.with_suffix(".md").write_text(page(record), encoding="utf-8")

    typer.run(main)


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
        for name, some in heard_in(files, audio).items()
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


def heard_in(files: Sequence[Path], audio: Path) -> dict[str, list[Array]]:
    """The recordings by condition: as they are, in noise and in measured rooms. The same for every run."""
    mixer = NoiseMixer(sorted(audio_files(audio / "noise")), warn=_log.warning)
    clean = [read_audio(path) for path in files]
    noisy = [mixer.mix(one, recording_of(path), snr=SNR) for one, path in zip(clean, files, strict=True)]
    said = in_rooms([Condition("", "", one) for one in clean], read_rooms(audio / "rooms"))
    return dict(zip(CONDITIONS, (clean, noisy, [one.samples for one in said]), strict=True))


def table_of(record: Mapping[str, Any], parts: Mapping[str, str]) -> list[str]:
    """The lines of a table in Markdown; ``parts``: what each is called."""
    lines = ["| word | part | at 0.5 an hour | at 2 an hour |", "| --- | --- | ---: | ---: |"]
    for word, own in record["words"].items():
        for part, name in parts.items():
            cells = []
            for rate in _RATES:
                at = own[part][f"{rate:g}"]
                of, low, high = at["clean"][1:]
                counts = " / ".join(str(at[one][0]) for one in CONDITIONS)
                cells.append(f"{counts} of {of} ({100 * low:.0f} to {100 * high:.0f} %)")
            lines.append(f"| {word} | {name} | {' | '.join(cells)} |")
    every = record["words"].values()
    for part, name in parts.items():
        means = [
            " / ".join(
                f"{100 * np.mean([own[part][f'{rate:g}'][one][0] / own['recordings'] for own in every]):.0f}"
                for one in CONDITIONS
            )
            for rate in _RATES
        ]
        lines.append(f"| **mean** | {name} | {' | '.join(f'{one} %' for one in means)} |")
    return lines
