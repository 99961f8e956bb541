"""Laws of the distance between sounds, and of homophones."""

import random

import numpy as np
import pytest

from wakeword_tools.texts.lexicon import spoken_words, words_near
from wakeword_tools.texts.phonemes import Phones, pronunciations
from wakeword_tools.texts.sounds import PHONEMES, distances, sound_keys, substitution_costs

HOMOPHONES = [
    ("right", "write"),
    ("seven", "severn"),
    ("four", "for"),
    ("caught", "cot"),
    ("writer", "rider"),
    ("marvin", "mar vin"),
    ("lenin", "lennon"),
    ("forward", "foreword"),
    ("dew", "do"),
    ("sauce", "source"),
    ("marvin", "[[m'A:v@n]]"),
]
OTHERS = [
    ("marvin", "martin"),
    ("stop", "step"),
    ("off", "oaf"),
    ("yes", "yet"),
    ("right", "light"),
    ("seven", "heaven"),
]


def keys(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset().union(*map(sound_keys, pronunciations(text)))


def distance(one: str, other: str) -> float:
    return min(float(distances(pronunciations(one), [way])[0]) for way in pronunciations(other))


@pytest.mark.parametrize("pair", HOMOPHONES)
def test_homophones_in_some_accent_share_a_key(pair: tuple[str, str]) -> None:
    assert keys(pair[0]) & keys(pair[1])


@pytest.mark.parametrize("pair", OTHERS)
def test_near_negatives_share_no_key_and_have_a_distance(pair: tuple[str, str]) -> None:
    assert not keys(pair[0]) & keys(pair[1])
    assert distance(*pair) >= 0.5


def test_costs_are_symmetric_and_zero_only_on_the_diagonal() -> None:
    costs = substitution_costs()
    assert costs.shape == (len(PHONEMES), len(PHONEMES))
    np.testing.assert_array_equal(costs, costs.T)
    assert (np.diag(costs) == 0).all()
    others = costs[~np.eye(len(PHONEMES), dtype=bool)]
    assert others.min() == 0.5
    assert others.max() == 1.5


def test_a_typical_substitution_costs_one() -> None:
    costs = substitution_costs()
    vowels = np.array([sound == "AX" or sound[0] in "AEIOU" for sound in PHONEMES])
    for kind in (vowels, ~vowels):
        within = costs[np.ix_(kind, kind)]
        assert np.median(within[within > 0]) == 1


def test_similar_sounds_are_closer() -> None:
    assert distance("marfin", "marvin") < distance("marbin", "marvin") < distance("markin", "marvin")
    assert distance("stop", "step") < distance("stop", "steep") + 0.5


def test_more_edits_are_farther() -> None:
    whole: Phones = pronunciations("marvin")[0]
    away = distances([whole], [whole, whole[1:], whole[2:], (*whole, "S", "T")])
    assert away[0] == 0
    assert away[1] == 1
    assert away[3] == 2
    assert away[1] < away[2]


def test_distance_is_symmetric() -> None:
    words = ["marvin", "marlin", "fellow", "computer", "for", "follow", "onward"]
    table = np.array([[distance(one, other) for other in words] for one in words])
    np.testing.assert_allclose(table, table.T)


def test_the_closest_accent_and_pronunciation_count() -> None:
    # An R that half of the accents do not pronounce makes no difference.
    assert distance("follow", "farlow") == 0
    ways = pronunciations("tomato")
    assert float(distances(ways, [ways[1]])[0]) == 0


def test_the_table_holds_the_sounds_of_the_dictionary() -> None:
    """Also as ``words_near`` reads it: as far from a word as when its pronunciation is written as sounds once more."""
    words = random.Random(0).sample(list(spoken_words()), 3_000)
    target = pronunciations("marvin")
    away = distances(target, [word.phones for word in words])
    near = dict(words_near(target, 3.0))
    assert len(near) > 100
    assert {word: far for word, far in zip(words, away.tolist(), strict=True) if far <= 3} == {
        word: near[word] for word in words if word in near
    }
