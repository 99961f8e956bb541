"""The study of recognisers: a look ends a quarter of a second after the word, and a threshold is that of other speech."""

import json
from pathlib import Path

import numpy as np

from wakeword_experiments.two_stages.recogniser_study import _found, _looks, recogniser_page

RESULTS = Path(__file__).resolve().parents[2] / "results"


def test_only_looks_with_sound_are_heard() -> None:
    speech = np.zeros(20 * 16_000, np.float32)
    speech[7 * 16_000 : 8 * 16_000] = 0.5
    assert [len(look) for look in _looks(speech)] == [32_000] * 5


def test_a_recording_is_found_above_what_other_speech_and_noise_seldom_reach() -> None:
    speech, quiet, loud = (np.arange(1_000) / 1_000 - offset for offset in (5, 9, 4.5))
    own = np.array([-1.0, -4.0025])
    assert _found(own, speech) == _found(own, speech, quiet) == [1.0, 0.5]
    assert _found(own, speech, loud) == _found(own, loud, speech) == [0.5, 0.5]
    assert _found(speech[[-1, -5]], speech) == [0.5, 0.0]


def test_the_page_is_that_of_its_record() -> None:
    record = json.loads((RESULTS / "recognisers.json").read_text("utf-8"))
    page = recogniser_page(record, figures="recognisers.json")
    assert page == (RESULTS / "recognisers.md").read_text("utf-8")
