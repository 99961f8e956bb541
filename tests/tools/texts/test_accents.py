"""Laws of accents: speakable, other than English words and than each other, with the consonants of the word."""

import pytest

from wakeword_tools.texts.accents import accents
from wakeword_tools.texts.phonemes import dictionary, from_espeak, is_vowel, pronunciations

WORDS = ["marvin", "computer", "alexa", "hey zorvella", "thinker", "bed", "mirror", "serious"]


@pytest.mark.parametrize("text", WORDS)
def test_an_accent_is_neither_english_nor_twice_there(text: str) -> None:
    said = [tuple(phone.rstrip("012") for phone in from_espeak(one)) for one in accents(text, 10, seed=0)]
    english = {tuple(phone.rstrip("012") for phone in way) for own in dictionary().values() for way in own}
    usual = {tuple(phone.rstrip("012") for phone in way) for way in pronunciations(text)}
    assert len(set(said)) == len(said) <= 10
    assert not set(said) & (english | usual)


@pytest.mark.parametrize("text", ["marvin", "computer", "alexa", "hey zorvella", "seven"])
def test_consonants_stay_but_for_glides_and_the_r_of_a_vowel(text: str) -> None:
    """A close word such as "marbin" is no accent of "marvin"."""

    def consonants(phones: tuple[str, ...]) -> list[str]:
        return [phone for phone in phones if not is_vowel(phone) and phone not in ("Y", "R")]

    usual = {tuple(consonants(way)) for way in pronunciations(text)}
    said = accents(text, 10, seed=1)
    assert said
    assert {tuple(consonants(from_espeak(one))) for one in said} <= usual


@pytest.mark.parametrize("text", ["worry", "her army"])
def test_the_r_of_a_vowel_stays_before_another(text: str) -> None:
    said = accents(text, 10, seed=0)
    assert said
    assert all("R" in from_espeak(one) for one in said)


@pytest.mark.parametrize("text", ["shh", "hmm", "year"])
def test_what_has_no_vowel_or_only_one_of_its_own_is_left_alone(text: str) -> None:
    assert accents(text, 10, seed=0) == []


def test_the_same_seed_gives_the_same_accents() -> None:
    assert accents("computer", 10, seed=3) == accents("computer", 10, seed=3)
    assert accents("computer", 10, seed=3) != accents("computer", 10, seed=4)
    assert set(accents("computer", 3, seed=3)) <= set(accents("computer", 10, seed=3))


def test_a_word_of_strong_vowels_and_plain_sounds_has_none() -> None:
    assert accents("bed", 10, seed=0) == []
