"""What models made from a word's text alone find, without training: people, false accepts, and how often each network is
asked."""

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.events import Line
from wakeword.base.files import write_json
from wakeword.base.types import Array
from wakeword.model.model import Model, read_model
from wakeword.verify.phoneme_verifier import PhonemeNetwork
from wakeword_experiments.figures_report import kept_rows
from wakeword_experiments.two_stages.anyword import (
    CONDITIONS,
    collection_of,
    mean_row,
    measured,
    people_clips,
    strangers_speech,
    word_row,
)
from wakeword_experiments.two_stages.measured_rooms import read_rooms
from wakeword_experiments.two_stages.second_opinion import Look, by_weight, looks_kept, opinion_page
from wakeword_tools.engines.languages import ENGLISH
from wakeword_tools.measure.scores import stream_scores
from wakeword_tools.training_record import file_stem
from wakeword_train.data.store import ClipStore
from wakeword_train.from_text import model_from_text
from wakeword_train.recipe import default_recipe
from wakeword_train.typed_points import FUSION

FITS = (-2, -1.5, -1.3, -1, -0.9, -0.8, -0.7, -0.6, -0.5, -0.4, -0.3, -0.2, -0.1, -0.05, -0.02)
"""Thresholds, as fits of the phonemes, of the ranges that ``assets/text-alone.json`` holds."""


def measure_typed(
    words: Sequence[str],
    audio: Path,
    speech: Sequence[Path],
    others: Sequence[Path],
    work: Path,
    figures: Path,
    *,
    language: str = ENGLISH,
    command: str,
    report: Line,
) -> None:
    """Make and measure each word; the figures and their page, ``figures`` with .md, are written after each.

    ``words``: of another ``language`` as the name of the folder and the text, ``receive=اِسْتِقْبال``.
    """
    rooms = read_rooms(audio / "rooms")
    for given in words:
        word, _, said = given.partition("=")
        work.mkdir(parents=True, exist_ok=True)
        made = model_from_text(said or word, work / f"{file_stem(word)}.onnx", language=language, anyway=True)
        model = read_model(made)
        test = people_clips(audio, word, language)
        sounds = strangers_speech(
            dataclasses.replace(default_recipe(), keyword=said or word, language=language), speech
        )
        looks: list[list[Look]] = []
        with looks_kept(looks):
            own = measured(model, test, sounds, others, rooms, report)
        if language == ENGLISH:
            own["opinion"] = by_weight(looks, len(test.people), len(sounds), sounds.hours)
        best = np.array([stream_scores(model, read_audio(clip.path)).max() for clip in test.people])
        own["at_fits"] = [float(np.mean(best >= score_of_fit(fit))) for fit in FITS]
        own["asked_per_hour"] = _asked_per_hour(model, sounds)
        known = kept_rows(figures, "words")
        record = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "command": command,
            "fits": FITS,
            "words": [
                *(one for one in known if one["keyword"] != word),
                {
                    "keyword": word,
                    **({} if language == ENGLISH else {"said": said, "language": language}),
                    "collection": collection_of(audio, word, language),
                    "text": own,
                },
            ],
        }
        write_json(figures, record)
        figures.with_suffix(".md").write_text(typed_page(record, figures=figures.name), encoding="utf-8")
        if language == ENGLISH:
            page = figures.with_name("second-opinion.md")
            page.write_text(opinion_page(record, figures=figures.name), encoding="utf-8")


def score_of_fit(fit: float) -> float:
    """The score that a model from a text gives where its phonemes fit so well."""
    return float(1 / (1 + np.exp(-FUSION.bias - FUSION.phonemes * fit)))


_ONE_IN = 4
"""Recordings in which it is counted how often the recogniser is asked."""


def _asked_per_hour(model: Model, sounds: ClipStore) -> float:
    """How often the recogniser is asked in an hour of speech, in some of the recordings."""
    asked = 0
    hears = PhonemeNetwork.log_probabilities
    rows = range(0, len(sounds), _ONE_IN)

    def counted(network: PhonemeNetwork, samples: Array) -> Array:
        nonlocal asked
        asked += 1
        return hears(network, samples)

    scored = partial(stream_scores, model)
    with patch.object(PhonemeNetwork, "log_probabilities", counted):
        for row in rows:
            scored(sounds.recorded(row))
    return asked / (sum(map(len, map(sounds.recorded, rows))) / SAMPLE_RATE / 3600)


def typed_page(record: Mapping[str, Any], *, figures: str) -> str:
    """The page in Markdown; ``figures`` is a link to the record."""
    words = record["words"]
    heard = list(CONDITIONS)
    hours = min(word["text"]["hours"] for word in words)
    others = ", ".join(f"{name} ({hours:.2f} h)" for name, hours in words[0]["text"]["hours_of_others"].items())
    rows = [
        "| | recordings | default | clean / 10 dB / -20 dB / rooms | false accepts an hour (95 %) | in other sound "
        "| at 0.5 an hour | asked an hour |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |",
        *(
            word_row(one.get("said", one["keyword"]), one["text"], heard, f"{one['text']['asked_per_hour']:.0f}")
            for one in words
        ),
        mean_row("mean", [one["text"] for one in words], heard),
    ]
    head = (
        "# Words from their text, without training",
        "",
        "What `wakeword train WORD --now` finds. No network heard the people who say the words. False accepts are "
        f"counted in {hours:.1f} h or more of speech of people who are not in the starter pack; some taught the ear. "
        "People are heard as they are, in noise at 10 dB, 20 dB quieter "
        f"with a microphone's own noise, and in measured rooms in turn. Other sound: {others}; false accepts of the "
        "default. The last column is how often the recogniser is asked in an hour of that speech.",
        "",
    )
    return page_of_record(record, head, rows, figures)


def page_of_record(record: Mapping[str, Any], head: Sequence[str], rows: Sequence[str], figures: str) -> str:
    """A page of these lines that ends with what made it; ``figures`` is a link to the record."""
    made = f"Made by `{record['command']}` on {record['date']}. [Figures]({figures})."
    return "\n".join([*head, *rows, "", made, ""])
