"""Laws of what words with recordings taught about words from their text alone."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeword.model.installed import assets_folder
from wakeword_train.ear import FIGURES_FILE, PeopleFound, TextAlone, text_alone

shares = st.floats(0, 1)
others = st.tuples(shares, shares, shares).map(lambda some: PeopleFound(6, *sorted(some)))


@given(others, others, shares, shares, st.sampled_from((0.0, 1.4, 1.5, 3.0)))
def test_people_are_promised_what_words_alike_find_and_no_more_than_the_voices_of_a_word_unlike_all(
    distinct: PeopleFound, indistinct: PeopleFound, voices: float, least: float, phonemes: float
) -> None:
    found = TextAlone((1.0, 1.0, 3.0), distinct, indistinct, least, 0, {"en": ()}, [], []).people_found(
        voices, phonemes
    )
    alike = distinct if phonemes >= 1.5 else indistinct
    assert found.low <= found.middle <= found.high
    if voices >= least:
        assert found == alike
    else:
        assert found.high == min(alike.high, voices)


@given(st.floats(-3, 0), st.floats(-3, 0))
def test_a_laxer_fit_never_means_fewer_people(one: float, other: float) -> None:
    laxer, stricter = (text_alone().typed_found(fit) for fit in sorted((one, other)))
    assert laxer.low >= stricter.low
    assert laxer.middle >= stricter.middle
    assert laxer.high >= stricter.high
    assert laxer.low <= laxer.middle <= laxer.high


@given(st.floats(-3, 0))
def test_no_more_is_promised_than_was_found_of_words_of_the_language(fit: float) -> None:
    people = PeopleFound(3, 0.2, 0.5, 0.8)
    languages = {"de": (3, 12), "fr": (12, 12)}
    found = TextAlone((1.0, 1.0, 3.0), people, people, 0.1, 24, languages, [-3, 0], [(0.2, 0.6, 0.9)] * 2)
    assert found.typed_found(fit, "fr") == found.typed_found(fit, "sv") == PeopleFound(24, 0.2, 0.6, 0.9)
    assert found.typed_found(fit, "de") == found.typed_found(fit, "de-at") == PeopleFound(24, 0.2, 4 / 14, 0.9)


def test_the_file_says_what_its_numbers_rest_on() -> None:
    content = json.loads((assets_folder("wakeword_train") / FIGURES_FILE).read_text("utf-8"))
    assert "wakeword_experiments text-alone" in content["made_by"]
    assert min(text_alone().weights) > 0


@pytest.mark.parametrize("voices", [0.5, 0.99])
@pytest.mark.parametrize("phonemes", [0.0, 3.0])
def test_fewer_voices_never_mean_more_people(voices: float, phonemes: float) -> None:
    known = text_alone()
    assert known.people_found(voices, phonemes).middle <= known.people_found(1.0, phonemes).middle
