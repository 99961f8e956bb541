"""Laws of the quick recogniser: what it hears decides where the recogniser is asked, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeword import ModelError
from wakeword.base.types import Array
from wakeword.format.verifier_card import TokenLosses, Variant
from wakeword.model.installed import assets_folder
from wakeword.verify.embedding import STEP_FRAMES, EmbeddingStream, embeddings_of
from wakeword.verify.phoneme_verifier import KeywordPhonemes
from wakeword.verify.quick_phonemes import STEPS, QuickKeyword, QuickPhonemes, QuickSearch
from wakeword.verify.shared import QUICK_FILE, file_digest, load_quick

NAMES = {"a": "m", "b": "i", "c": "n", "d": "s"}
"""Tokens that the recogniser has."""
WAYS: tuple[Variant, ...] = ((("a",), ("b", "c"), ("c",), ("a",)), (("a",), ("a",), ("d", "b")))


@pytest.fixture(scope="module")
def quick() -> QuickPhonemes:
    path = assets_folder() / "encoders" / QUICK_FILE
    return load_quick(path, file_digest(path))


ENDS = 16
"""Outputs of the newest 0.32 s, in which a way may end."""


def heard(seed: int, tokens: int) -> Array:
    random = np.random.default_rng(seed)
    return np.log(random.dirichlet(np.full(tokens, 0.3), 4 * STEPS) + 1e-6).astype(np.float32)


@given(seed=st.integers(0, 10_000))
def test_the_best_way_ends_in_the_newest_outputs_or_before_them(quick: QuickPhonemes, seed: int) -> None:
    found = heard(seed, len(quick.tokens))
    ways = tuple(tuple(tuple(NAMES[one] for one in phoneme) for phoneme in way) for way in WAYS)
    newest = QuickKeyword(quick, ways).fit(found.reshape(STEPS, -1))
    search = KeywordPhonemes(ways, quick.tokens)
    assert max(newest, search.score(found[:-ENDS])) == pytest.approx(search.score(found), abs=1e-6)


@given(seed=st.integers(0, 10_000), words=st.lists(st.integers(0, 2**16), min_size=2, max_size=6))
def test_a_word_fits_the_same_whatever_other_words_are_searched(
    quick: QuickPhonemes, seed: int, words: list[int]
) -> None:
    """In every digit, with ways that begin alike or repeat a sound, and with losses or without."""
    steps = heard(seed, len(quick.tokens)).reshape(STEPS, -1)
    some = []
    for word in words:
        random = np.random.default_rng(word)
        ways, losses = list[Variant](), list[TokenLosses]()
        for length in random.integers(1, 7, random.integers(1, 4)):
            way = [random.choice(tuple(NAMES.values()), random.integers(1, 3), replace=False) for _ in range(length)]
            ways.append(tuple(tuple(map(str, phoneme)) for phoneme in way))
            losses.append(tuple(tuple(float(random.integers(0, 3)) for _ in phoneme) for phoneme in way))
        some.append(QuickKeyword(quick, ways, losses if word % 2 else ()))
    assert QuickSearch(some).fits(steps).tolist() == [one.fit(steps) for one in some]
    looks = np.stack([steps, steps[::-1], 2 * steps])
    assert QuickSearch(some).fits(looks).tolist() == [QuickSearch(some).fits(look).tolist() for look in looks]


def test_what_it_hears_is_the_same_wherever_the_steps_began(quick: QuickPhonemes) -> None:
    samples = np.random.default_rng(0).normal(0, 0.1, 8 * 16_000).astype(np.float32)

    def samples_of(start: int, end: int) -> Array:
        return np.pad(samples[max(0, start) : end], (max(0, -start), 0))

    once = embeddings_of(quick.network, samples)
    for steps in ((40, 44, 48), (60,), (20, 60, 64)):
        stream = EmbeddingStream(quick.network)
        for last in steps:
            found = stream.newest(last * STEP_FRAMES + 7, STEPS, samples_of)
        other = EmbeddingStream(quick.network).newest(steps[-1] * STEP_FRAMES + 7, STEPS, samples_of)
        assert np.array_equal(found, other)
        assert np.allclose(found, once[steps[-1] + 1 - STEPS : steps[-1] + 1], atol=2e-4)


def test_a_token_that_it_does_not_have_changes_nothing(quick: QuickPhonemes) -> None:
    random = np.random.default_rng(1)
    steps = np.log(random.dirichlet(np.full(len(quick.tokens), 0.1), 4 * STEPS) + 1e-6).astype(np.float32)
    known: tuple[Variant, ...] = ((("m",), ("i",), ("n", "d")),)
    more: tuple[Variant, ...] = ((("m", "ʘ"), ("i",), ("n", "d")), (("ʘ",), ("i",)))
    rows = steps.reshape(STEPS, -1)
    assert QuickKeyword(quick, more).fit(rows) == QuickKeyword(quick, known).fit(rows)
    assert quick.can_hear(more)
    assert not quick.can_hear(more[1:])


def test_another_graph_is_refused(quick: QuickPhonemes) -> None:
    with pytest.raises(ModelError, match="quick recogniser of phonemes"):
        QuickPhonemes(quick.network, (*quick.tokens, "more"))
    with pytest.raises(ModelError, match="quick recogniser of phonemes"):
        QuickPhonemes(quick.network, quick.tokens[1:])
