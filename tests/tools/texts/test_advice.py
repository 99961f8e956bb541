"""Advice on a wake word: its grade follows from rates and lengths, and these from the dictionary and its frequencies."""

import itertools

import pytest

from wakeword.base.errors import SynthesisError
from wakeword_tools.texts.advice import (
    CLOSE,
    OFTEN,
    RARE,
    SHOWN,
    Advice,
    Grade,
    LikelyPhrase,
    Relation,
    advise,
    is_guess,
    longer,
    often,
)
from wakeword_tools.texts.lexicon import zipf_frequency
from wakeword_tools.texts.phonemes import pronunciations
from wakeword_tools.texts.sounds import distances, sound_keys

LONG = ("K", "AH0", "M", "P", "Y", "UW1", "T", "ER0")


def advice(*said: LikelyPhrase, way: tuple[str, ...] = LONG) -> Advice:
    return Advice("word", [way], [], said)


@pytest.fixture(scope="module")
def seven() -> Advice:
    return advise("seven")


@pytest.mark.parametrize(
    ("rate", "grade"),
    [(0.0, Grade.GOOD), (RARE, Grade.GOOD), (1.1 * RARE, Grade.FAIR), (OFTEN, Grade.FAIR), (1.1 * OFTEN, Grade.POOR)],
)
def test_what_is_said_often_is_graded_by_its_rate(rate: float, grade: Grade) -> None:
    for relation in (Relation.SAME, Relation.INSIDE):
        assert advice(LikelyPhrase("x", relation, 0.0, rate)).grades["said anyway"] is grade
    assert advice(LikelyPhrase("x", Relation.CLOSE, CLOSE, rate)).grades["close words"] is grade
    assert advice(LikelyPhrase("x", Relation.CLOSE, CLOSE + 0.01, rate)).grades["close words"] is Grade.GOOD


def test_rates_add_up() -> None:
    both = advice(*(LikelyPhrase(text, Relation.CLOSE, 0.5, 0.6 * OFTEN) for text in "xy"))
    assert both.close_per_hour == pytest.approx(1.2 * OFTEN)
    assert both.grade is Grade.POOR


def test_the_grade_is_that_of_the_worst_aspect() -> None:
    ways = {Grade.GOOD: LONG, Grade.FAIR: ("S", "EH1", "V", "AH0", "N"), Grade.POOR: ("S", "T", "AA1", "P")}
    rates = {Grade.GOOD: 0.0, Grade.FAIR: OFTEN, Grade.POOR: 2 * OFTEN}
    for one, two, three in itertools.product(Grade, repeat=3):
        made = advice(
            LikelyPhrase("x", Relation.SAME, 0.0, rates[one]),
            LikelyPhrase("y", Relation.CLOSE, 0.5, rates[two]),
            way=ways[three],
        )
        assert list(made.grades.values()) == [three, one, two]
        assert made.grade is sorted((one, two, three), key=list(Grade).index)[-1]


@pytest.mark.parametrize("phrase", ["thank you", "Oh my God!", "excuse me", "good morning", "wake up", "be right"])
def test_a_set_phrase_and_a_part_of_one_are_said_every_day_and_no_number_is_given(phrase: str) -> None:
    made = advise(phrase)
    assert made.grades["said anyway"] is Grade.POOR
    assert often(made.anyway_per_hour) == "every day"
    assert longer(phrase) == []


def test_what_sounds_like_a_set_phrase_is_no_better() -> None:
    assert advise("sank you").grades["close words"] is Grade.POOR
    assert advise("hey zorvella").grade is Grade.GOOD


def test_one_syllable_is_never_enough() -> None:
    assert advice(way=("S", "T", "R", "EH1", "NG", "K", "TH", "S")).grades["length"] is Grade.POOR


def test_a_word_is_said_as_often_as_its_frequency_says(seven: Advice) -> None:
    by_text = {one.text: one for one in seven.confusable_phrases}
    assert by_text["seven"].per_hour == pytest.approx(9_000 * 10 ** (zipf_frequency("seven") - 9))
    assert {by_text[text].relation for text in ("seven", "severn")} == {Relation.SAME}
    assert {by_text[text].relation for text in ("seventeen", "seventh", "sevens")} == {Relation.INSIDE}
    assert by_text["session"].relation is Relation.CLOSE
    assert seven.anyway_per_hour > by_text["seven"].per_hour + by_text["seventeen"].per_hour


def test_close_words_are_as_far_away_as_their_sounds(seven: Advice) -> None:
    close = [one for one in seven.confusable_phrases if one.relation is Relation.CLOSE]
    assert len(close) > 20
    same = frozenset().union(*map(sound_keys, seven.ways))
    for one in close:
        ways = pronunciations(one.text)
        assert not sound_keys(ways[0]) & same
        if " " not in one.text:
            assert one.distance == pytest.approx(distances(seven.ways, ways[:1])[0], abs=0.006)
        assert one.distance <= SHOWN
    assert [one.distance for one in seven.confusable_phrases] == sorted(
        one.distance for one in seven.confusable_phrases
    )


def test_a_longer_phrase_is_said_and_confused_less_often(seven: Advice) -> None:
    phrases = longer("seven")
    assert len(phrases) == 3
    for phrase in phrases:
        assert phrase.keyword.endswith(" seven")
        assert phrase.phonemes > seven.phonemes
        assert phrase.anyway_per_hour < seven.anyway_per_hour
        assert phrase.close_per_hour < seven.close_per_hour
    for greeted in ("hey seven", "OK seven", "Hello, seven"):
        assert longer(greeted) == []


def test_a_guessed_pronunciation_is_named() -> None:
    assert advise("hey zorvella").guessed == ["zorvella"]
    assert "read as English (--language takes others)" in (is_guess(advise("Gürteltier")) or "")
    assert is_guess(advise("marvin")) is None
    with pytest.raises(SynthesisError, match="pronounce as English"):
        advise("日本")


@pytest.mark.parametrize(
    "text",
    [
        "thankyou",
        "okay thank you",
        "ohmygod",
        "hello good morning",
        "thank u",
        "hey excuse mee",
        "sea you later",
        "gud morning",
    ],
)
def test_a_set_phrase_is_known_however_it_is_written_or_begun(text: str) -> None:
    assert advise(text).grade is Grade.POOR
