"""Laws of the search for a word's phonemes."""

import itertools
import math
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wakeword import ModelError
from wakeword.audio.audio_file import read_audio
from wakeword.base.types import Array
from wakeword.format.verifier_card import Variant
from wakeword.model.installed import assets_folder
from wakeword.verify import shared
from wakeword.verify.phoneme_verifier import (
    BLANK,
    OPINION,
    PHONEME_SAMPLES,
    WORD_BOUNDARY,
    KeywordPhonemes,
    PhonemeNetwork,
    PhonemeVerifier,
    as_recogniser_hears,
    tokens_of_text,
)
from wakeword.verify.shared import PHONEMES_FILE, QUICK_FILE, file_digest, load_phonemes

TOKENS = ("a", "b", "c", WORD_BOUNDARY, BLANK)


def labels_of(path: tuple[int, ...]) -> str:
    """What CTC reads in a path: repeats are one, and neither blanks nor boundaries count."""
    read = [TOKENS[token] for token, _ in itertools.groupby(path)]
    return "".join(token for token in read if len(token) == 1)


def by_trying_all_paths(word: str, log_probabilities: Array) -> float:
    """The score of a word by its definition."""
    best = -math.inf
    for path in itertools.product(range(len(TOKENS)), repeat=len(log_probabilities)):
        if word in labels_of(path):
            best = max(best, sum(float(row[token]) for row, token in zip(log_probabilities, path, strict=True)))
    return (best - float(log_probabilities.max(axis=1).sum())) / len(word)


def random_matrix(frames: int, seed: int) -> Array:
    """Logarithms of the probabilities of ``TOKENS``, ``(frames, 5)``."""
    logits = 2 * np.random.default_rng(seed).standard_normal((frames, len(TOKENS)))
    found: Array = (logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))).astype(np.float32)
    return found


def spelled(word: str) -> Variant:
    return tuple((letter,) for letter in word)


@pytest.mark.parametrize("word", ["a", "ab", "aa", "aba", "abc", "abb"])
@pytest.mark.parametrize("seed", range(4))
def test_the_score_is_that_of_the_best_of_all_paths(word: str, seed: int) -> None:
    for frames in (3, 5):
        matrix = random_matrix(frames, seed)
        found = KeywordPhonemes([spelled(word)], TOKENS).score(matrix)
        expected = by_trying_all_paths(word, matrix)
        assert found == pytest.approx(expected, abs=1e-5) if math.isfinite(expected) else found == -math.inf


@settings(max_examples=30)
@given(seed=st.integers(0, 1_000), frames=st.integers(1, 20))
def test_scores_are_at_most_0_and_another_variant_or_token_never_lowers_them(seed: int, frames: int) -> None:
    matrix = random_matrix(frames, seed)
    one = KeywordPhonemes([spelled("abc")], TOKENS).score(matrix)
    other = KeywordPhonemes([spelled("ba")], TOKENS).score(matrix)
    assert KeywordPhonemes([spelled("abc"), spelled("ba")], TOKENS).score(matrix) == max(one, other)
    wider = KeywordPhonemes([(("a",), ("b",), ("c", WORD_BOUNDARY))], TOKENS).score(matrix)
    assert one <= wider <= 0
    # More sound never hides a word.
    assert KeywordPhonemes([spelled("abc")], TOKENS).score(np.concatenate([random_matrix(3, 1), matrix])) >= one


@settings(max_examples=30)
@given(seed=st.integers(0, 1_000), loss=st.floats(0, 9))
def test_a_token_that_costs_more_never_raises_a_score_and_without_cost_counts_as_before(seed: int, loss: float) -> None:
    matrix, variant = random_matrix(12, seed), (("a", "c"), ("b",))
    free = KeywordPhonemes([variant], TOKENS).score(matrix)
    assert KeywordPhonemes([variant], TOKENS, [((0.0, 0.0), (0.0,))]).score(matrix) == free
    dear = KeywordPhonemes([variant], TOKENS, [((0.0, loss), (0.0,))]).score(matrix)
    without = KeywordPhonemes([spelled("ab")], TOKENS).score(matrix)
    assert without <= dear <= free
    assert KeywordPhonemes([variant], TOKENS, [((0.0, 1e6), (0.0,))]).score(matrix) == without


@settings(max_examples=30)
@given(seed=st.integers(0, 1_000), decibels=st.floats(-60, 20))
def test_the_recogniser_hears_a_sound_at_one_level_and_never_silence(seed: int, decibels: float) -> None:
    sound = np.random.default_rng(seed).uniform(-0.1, 0.1, 800).astype(np.float32)
    heard = as_recogniser_hears(sound)
    louder = as_recogniser_hears(sound * np.float32(10 ** (decibels / 20)))
    np.testing.assert_allclose(louder, heard, atol=1e-5)
    assert 0.49 < np.abs(heard).max() < 0.51
    silent = as_recogniser_hears(np.zeros(800, np.float32))
    assert 0.001 < np.sqrt(np.mean(np.square(silent))) < 0.003
    # Nothing of it repeats within the frames of the network.
    spectrum = np.abs(np.fft.rfft(as_recogniser_hears(np.zeros(32_000, np.float32))))
    assert spectrum.max() < 6 * np.median(spectrum)


def test_a_certain_word_scores_0_wherever_it_is() -> None:
    certain = np.full((9, len(TOKENS)), -9.0, np.float32)
    for frame, token in enumerate([2, 4, 0, 0, 3, 1, 1, 2, 4]):
        certain[frame, token] = 0
    assert KeywordPhonemes([spelled("ab")], TOKENS).score(certain) == 0
    assert KeywordPhonemes([spelled("ac")], TOKENS).score(certain) < -1


def heard(said: str, doubt: float = 9.0) -> Array:
    """A recogniser that is certain of each letter, with three frames of blank around them; other tokens lose ``doubt``."""
    tokens = [BLANK] * 3 + list(said) + [BLANK] * 3
    found: Array = np.full((len(tokens), len(TOKENS)), -doubt, np.float32)
    for frame, token in enumerate(tokens):
        found[frame, TOKENS.index(token)] = 0
    return found


def with_near(*near: str) -> KeywordPhonemes:
    return KeywordPhonemes([spelled("abc")], TOKENS, near=KeywordPhonemes([*map(spelled, near)], TOKENS))


def test_a_near_word_that_is_said_is_not_taken_for_the_word_and_another_one_changes_nothing() -> None:
    assert KeywordPhonemes([spelled("abc")], TOKENS).score(heard("aac", 6)) == -2
    assert with_near("ac").score(heard("aac", 6)) == -math.inf
    assert with_near("cb", "ac").score(heard("aac", 6)) == -math.inf
    assert with_near("cb").score(heard("aac", 6)) == -2
    # A part of the word says less than the whole, and so little less is no evidence.
    assert with_near("ac", "ab", "bc").score(heard("abc")) == 0
    assert with_near("ac").score(heard("aac", 4)) == pytest.approx(-4 / 3)


@given(before=st.integers(0, 60), after=st.integers(0, 60))
def test_a_near_word_is_found_wherever_in_a_look_it_is(before: int, after: int) -> None:
    said = heard("aac", 6)
    silent = np.full((1, len(TOKENS)), -20.0, np.float32)
    silent[0, TOKENS.index(BLANK)] = 0
    look = np.concatenate([np.repeat(silent, before, axis=0), said, np.repeat(silent, after, axis=0)])
    assert with_near("ac").score(look) == -math.inf
    assert with_near("cb").score(look) == -2


@settings(max_examples=60)
@given(seed=st.integers(0, 1_000), frames=st.integers(1, 20), scale=st.floats(0.1, 3))
def test_a_near_word_counts_in_the_shortest_stretch_in_which_the_word_fits_as_well(
    seed: int, frames: int, scale: float
) -> None:
    """By a search of all stretches, also where no near word can explain so much more."""
    matrix = np.float32(scale) * random_matrix(frames, seed)
    losses = matrix - matrix.max(axis=1, keepdims=True)
    word, near = (KeywordPhonemes([spelled(one)], TOKENS) for one in ("abc", "ac"))
    fit = word.score(losses)
    last = next(end for end in range(frames) if word.score(losses[: end + 1]) >= fit)
    first = next(start for start in range(last, -1, -1) if word.score(losses[start : last + 1]) >= fit)
    there = losses[first : last + 1]
    lost = word.lost_in(there)
    assert with_near("ac").is_near_word(losses, fit) == (near.lost_in(there) > max(lost + 5, lost * 0.3))


@settings(max_examples=40)
@given(seed=st.integers(0, 1_000), frames=st.integers(1, 20), scale=st.floats(0.1, 1))
def test_near_words_leave_a_score_as_it_is_or_take_all_of_it(seed: int, frames: int, scale: float) -> None:
    matrix = np.float32(scale) * random_matrix(frames, seed)
    plain = KeywordPhonemes([spelled("abc")], TOKENS).score(matrix)
    one, more = with_near("ac").score(matrix), with_near("ac", "bc").score(matrix)
    assert {one, more} <= {plain, -math.inf}
    assert more <= one  # more near words never let more pass
    assert with_near("abc").score(matrix) == plain  # the word itself is never nearer


@settings(max_examples=40)
@given(seed=st.integers(0, 1_000), frames=st.integers(5, 12))
def test_the_place_of_a_word_is_where_it_alone_loses_what_it_does_in_all(seed: int, frames: int) -> None:
    matrix = random_matrix(frames, seed)
    keyword = KeywordPhonemes([spelled("ab")], TOKENS)
    losses = matrix - matrix.max(axis=1, keepdims=True)
    places = [losses[first:last] for last in range(2, frames + 1) for first in range(last - 1)]
    assert max(map(keyword.lost_in, places)) == pytest.approx(2 * keyword.score(matrix), abs=1e-4)


@settings(max_examples=80)
@given(seed=st.integers(0, 1_000), frames=st.integers(5, 20), scale=st.floats(0.1, 3))
def test_a_second_opinion_is_asked_where_the_word_may_be_and_what_both_say_lies_between(
    seed: int, frames: int, scale: float
) -> None:
    first, second = PhonemeNetwork.__new__(PhonemeNetwork), PhonemeNetwork.__new__(PhonemeNetwork)
    heard = {first: scale * random_matrix(frames, seed), second: scale * random_matrix(frames, seed + 1_001)}
    keyword = KeywordPhonemes((spelled("abc"),), TOKENS)
    alone, other = keyword.score(heard[first]), max(keyword.score(heard[second]), -3.0)
    asked: list[PhonemeNetwork] = []

    def heard_by(network: PhonemeNetwork) -> Array:
        asked.append(network)
        return heard[network]

    fit = PhonemeVerifier(keyword, first, second).fit(heard_by)
    if second in asked:
        assert min(alone, other) - 1e-9 <= fit <= max(alone, other) + 1e-9
        assert fit / (1 - OPINION) <= alone + 1e-9
    else:
        assert fit == alone <= -2.5
    assert PhonemeVerifier(keyword, first).fit(heard.__getitem__) == alone
    assert PhonemeVerifier(keyword, first, first).fit(heard.__getitem__) == pytest.approx(alone, abs=1e-9)


def test_nothing_to_search_for_or_in_scores_minus_infinity() -> None:
    assert KeywordPhonemes([], TOKENS).score(random_matrix(4, 0)) == -math.inf
    assert KeywordPhonemes([spelled("abc")], TOKENS).score(random_matrix(2, 0)) == -math.inf
    assert KeywordPhonemes([spelled("abc")], TOKENS).score(random_matrix(0, 0)) == -math.inf


def test_unknown_tokens_are_refused_by_name() -> None:
    with pytest.raises(ModelError, match=r"5 tokens, got x, y"):
        KeywordPhonemes([(("a",), ("y", "x"))], TOKENS)


@pytest.mark.parametrize("text", [None, "", "{", "7", '["a", 7]'])
def test_a_recogniser_without_tokens_is_refused(text: str | None) -> None:
    with pytest.raises(ModelError, match=r"wakeword\.tokens"):
        tokens_of_text(text)


@pytest.fixture(scope="module")
def recogniser() -> PhonemeNetwork:
    path = assets_folder() / "encoders" / PHONEMES_FILE
    return load_phonemes(path, file_digest(path))


def test_the_shipped_recogniser_tells_a_word_from_others_that_sound_like_it(recogniser: PhonemeNetwork) -> None:
    keyword = KeywordPhonemes([(("m",), ("ɑ", "a"), ("ɹ",), ("v",), ("ə", "ɪ"), ("n",))], recogniser.tokens)
    scores: dict[str, list[float]] = {"marvin": [], "other": []}
    for path in sorted((assets_folder() / "audio").glob("*-*.flac")):
        samples = read_audio(path)
        score = keyword.score(recogniser.log_probabilities(np.pad(samples, (0, max(0, 32_000 - len(samples))))))
        scores[path.name.split("-")[0]].append(score)
    assert len(scores["marvin"]) == len(scores["other"]) == 4
    assert np.median(scores["marvin"]) > np.median(scores["other"]) + 0.5


MORE_METADATA = b"\x72\x06\x0a\x01a\x12\x01b"
"""One more entry of a network's metadata, after which it has another digest."""


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[dict[str, Path]]:
    """Two packages with a recogniser each, of which the second has a quick one too; the test may take some away."""
    folders = {}
    for number, extra in enumerate((shared.EAR, shared.LANGUAGES), 1):
        folders[extra] = tmp_path / extra
        folders[extra].mkdir()
        for name in (PHONEMES_FILE, QUICK_FILE)[:number]:
            content = (assets_folder() / "encoders" / name).read_bytes()
            (folders[extra] / name).write_bytes(content + number * MORE_METADATA)
    monkeypatch.setattr(shared, "recogniser_folders", lambda: folders)
    yield folders
    for loaded in (shared.load_phonemes, shared.load_quick):
        loaded.cache_clear()


def test_a_recogniser_is_found_by_its_digest_where_it_is_installed(packages: dict[str, Path]) -> None:
    included = assets_folder() / "encoders" / PHONEMES_FILE
    paths = [included, *(folder / PHONEMES_FILE for folder in packages.values())]
    samples = np.random.default_rng(0).normal(0, 0.1, PHONEME_SAMPLES).astype(np.float32)
    found = [shared.load_phonemes(included, file_digest(path)) for path in paths]
    assert len(set(found)) == 3
    for path, network in zip(paths, found, strict=True):
        assert shared.load_phonemes(path, file_digest(path)) is network
        np.testing.assert_allclose(network.log_probabilities(samples), found[0].log_probabilities(samples), atol=2e-2)
    with pytest.raises(ModelError, match="; train the model again"):
        shared.load_phonemes(included, "0" * 64)


def test_a_quick_recogniser_is_found_by_its_digest_beside_the_one_that_it_is_for(packages: dict[str, Path]) -> None:
    included, other = assets_folder() / "encoders" / QUICK_FILE, packages[shared.LANGUAGES] / QUICK_FILE
    found = shared.load_quick(included, file_digest(other))
    assert shared.load_quick(included, file_digest(other)) is found
    assert shared.load_quick(included, file_digest(included)) is not found
    with pytest.raises(ModelError, match="expected the shared network of digest 0000000000000000"):
        shared.load_quick(included, "0" * 64)


@pytest.mark.parametrize(
    ("language", "named"), [("en", [shared.EAR]), ("de", [shared.LANGUAGES]), (None, [shared.EAR, shared.LANGUAGES])]
)
def test_the_error_of_a_missing_recogniser_names_the_package_that_is_for_the_language(
    packages: dict[str, Path], language: str | None, named: list[str]
) -> None:
    """Both where the language is not known; none that is installed, as that has another one."""
    included = assets_folder() / "encoders" / PHONEMES_FILE
    extras = () if language is None else ((shared.recogniser_extra(language),),)
    with pytest.raises(ModelError) as error:
        shared.load_phonemes(included, "0" * 64, *extras)
    assert "pip install" not in str(error.value)
    packages.clear()
    with pytest.raises(ModelError) as error:
        shared.load_phonemes(included, "0" * 64, *extras)
    assert re.findall(r"pip install \"wakeword\[(\w+)\]\", which has the one of ", str(error.value)) == named


def test_a_package_without_its_recogniser_is_not_installed() -> None:
    """As in a checkout that lacks the networks."""
    folders = shared.recogniser_folders()
    assert set(folders) <= {shared.EAR, shared.LANGUAGES}
    assert all((folder / PHONEMES_FILE).is_file() for folder in folders.values())
