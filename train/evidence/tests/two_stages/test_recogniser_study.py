"""The study of recognisers: a look ends a quarter of a second after the word, and a threshold is that of other speech."""

import json
from pathlib import Path

import numpy as np

from wakeword.verify.phoneme_verifier import KeywordPhonemes
from wakeword_experiments.two_stages.recogniser_study import _found, _looks, recogniser_page

RESULTS = Path(__file__).resolve().parents[2] / "results"


def test_only_looks_with_sound_are_heard() -> None:
    speech = np.zeros(20 * 16_000, np.float32)
    speech[7 * 16_000 : 8 * 16_000] = 0.5
    assert [len(look) for look in _looks(speech)] == [32_000] * 3


def test_a_recording_is_found_above_what_other_speech_seldom_reaches() -> None:
    tokens = ("<blank>", "<wb>", "m", "n")
    keyword = KeywordPhonemes(((("m",),),), tokens)

    def heard(fit: float) -> np.ndarray:
        return np.array([[0.0, -9.0, fit, -9.0]] * 4, np.float32)

    others = [heard(-5 + number / 1_000) for number in range(1_000)]
    assert _found(keyword, [heard(-1.0), heard(-4.5)], others) == [0.5, 0.5]
    assert _found(keyword, [others[-1], others[-5]], others) == [0.5, 0.0]


def test_the_page_is_that_of_its_record() -> None:
    record = json.loads((RESULTS / "recognisers.json").read_text("utf-8"))
    page = recogniser_page(record, figures="recognisers.json")
    assert page == (RESULTS / "recognisers.md").read_text("utf-8")
