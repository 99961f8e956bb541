"""Laws of the quick recogniser: what it hears decides where the recogniser is asked, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeword import ModelError
from wakeword.base.types import Array
from wakeword.format.verifier_card import Variant
from wakeword.model.installed import assets_folder
from wakeword.verify.embedding import STEP_FRAMES, EmbeddingStream, embeddings_of
from wakeword.verify.phoneme_verifier import BLANK, WORD_BOUNDARY, KeywordPhonemes
from wakeword.verify.quick_phonemes import STEPS, QuickKeyword, QuickPhonemes
from wakeword.verify.shared import QUICK_FILE, file_digest, load_quick

TOKENS = (BLANK, WORD_BOUNDARY, "a", "b", "c", "d")
WAYS: tuple[Variant, ...] = ((("a",), ("b", "c"), ("c",), ("a",)), (("a",), ("a",), ("d", "b")))


@pytest.fixture(scope="module")
def quick() -> QuickPhonemes:
    path = assets_folder() / "encoders" / QUICK_FILE
    return load_quick(path, file_digest(path))


def heard(seed: int, frames: int = 72, tokens: int = len(TOKENS)) -> Array:
    random = np.random.default_rng(seed)
    return np.log(random.dirichlet(np.full(tokens, 0.3), frames) + 1e-6).astype(np.float32)


@given(seed=st.integers(0, 10_000), count=st.integers(1, 72))
def test_the_best_way_ends_in_the_newest_frames_or_before_them(seed: int, count: int) -> None:
    search, found = KeywordPhonemes(WAYS, TOKENS), heard(seed)
    newest, before = search.newest(found, count), search.score(found[: len(found) - count])
    assert max(newest, before) == pytest.approx(search.score(found), abs=1e-6)


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
