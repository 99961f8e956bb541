"""Laws of what words with recordings taught about words from their text alone."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeword.model.installed import assets_folder
from wakeword_train.report.verdict import FILE, TextAlone, text_alone

shares = st.floats(0, 1)


words = st.dictionaries(st.text(), shares, min_size=1)


@given(words, words, shares, st.sampled_from((0.0, 1.4, 1.5, 3.0)))
def test_people_are_never_promised_more_than_voices_and_the_middle_lies_between(
    told: dict[str, float], untold: dict[str, float], voices: float, phonemes: float
) -> None:
    found = TextAlone((1.0, 1.0, 3.0), told, untold, [], {}).people_found(voices, phonemes)
    assert found.words == len(told if phonemes >= 1.5 else untold)
    assert found.low <= found.middle + 1e-12
    assert found.middle <= found.high + 1e-12
    assert found.high <= voices


def test_the_file_says_what_each_number_rests_on() -> None:
    content = json.loads((assets_folder("wakeword_train") / FILE).read_text("utf-8"))
    assert content["made_by"]
    for word, one in content["words"].items():
        assert one["recordings"] >= 10, word
        assert 0 <= one["people"] <= 1
    assert min(text_alone().weights) > 0


@pytest.mark.parametrize("voices", [0.5, 0.99])
@pytest.mark.parametrize("phonemes", [0.0, 3.0])
def test_fewer_voices_never_mean_more_people(voices: float, phonemes: float) -> None:
    known = text_alone()
    assert known.people_found(voices, phonemes).middle <= known.people_found(1.0, phonemes).middle
