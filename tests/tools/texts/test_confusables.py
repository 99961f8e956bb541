"""Laws of the texts that sound like a keyword."""

import itertools
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from support.spoken import command_voices

from wakeword import SynthesisError
from wakeword.model.installed import assets_folder
from wakeword_tools.engines.espeak import ENGLISH_ACCENTS, shared_espeak
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.kinds import Split
from wakeword_tools.texts import confusables as module
from wakeword_tools.texts.candidates import Candidate, TextOrigin, choose_texts, speakable
from wakeword_tools.texts.confusables import confusables, listed, without_sound_of
from wakeword_tools.texts.lexicon import spoken_words
from wakeword_tools.texts.phonemes import pronounce, pronunciations
from wakeword_tools.texts.sounds import main_key, sound_keys
from wakeword_tools.texts.splits import read_texts, shipped_list, split_texts

# The near negatives of Goyal et al., "DROCC", ICML 2020.
PAPER = {
    "marvin": ["mar", "marlin", "arvin", "marvik", "arvi"],
    "seven": ["one", "eleven", "heaven", "when", "devon"],
    "forward": ["for", "fervor", "ward", "reward", "onward"],
    "follow": ["fall", "fellow", "low", "hollow", "wallow"],
}
KEYWORDS = ("marvin", "hey computer", "Zorvella", "off")

NAMED = {voice.name: voice for voice in english_voices()}


@cache
def pool_of(keyword: str) -> list[Candidate]:
    return confusables(keyword)


@pytest.mark.parametrize("keyword", PAPER)
def test_the_words_of_the_paper_are_found_without_its_list(keyword: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_shipped(keyword: str, *, test: bool) -> Path | None:
        return None

    monkeypatch.setattr(module, "shipped_list", none_shipped)
    found = {main_key(candidate.phones) for candidate in confusables(keyword)}
    hits = [word for word in PAPER[keyword] if any(main_key(way) in found for way in pronunciations(word))]
    assert len(hits) >= 4, hits


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_nothing_sounds_the_same_as_the_keyword_in_any_accent(keyword: str) -> None:
    same = frozenset().union(*map(sound_keys, pronunciations(keyword)))
    pool = pool_of(keyword)
    assert not any(sound_keys(candidate.phones) & same for candidate in pool)
    assert min(candidate.distance for candidate in pool) >= 0.5
    chosen = [candidate.text for split in Split for candidate in choose_texts(pool, 100, split=split)]
    espeak = shared_espeak()
    for accent in ENGLISH_ACCENTS:
        of_keyword, *read = ("".join(ipa).strip("ˈˌ") for ipa in espeak.phonemes([keyword, *chosen], accent))
        assert of_keyword not in read


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_every_origin_is_found_and_no_text_twice(keyword: str) -> None:
    pool = pool_of(keyword)
    origins = {candidate.origin for candidate in pool}
    assert {TextOrigin.WORD, TextOrigin.PSEUDO_WORD} <= origins
    assert origins >= {TextOrigin.PHRASE, TextOrigin.FRAGMENT} or keyword == "off"
    for values in ([candidate.text.lower() for candidate in pool], [main_key(candidate.phones) for candidate in pool]):
        assert len(set(values)) == len(values)


@pytest.mark.parametrize("keyword", KEYWORDS[:3])
def test_the_distances_follow_the_mass(keyword: str) -> None:
    chosen = choose_texts(pool_of(keyword), 100, split=Split.TRAIN)
    assert Counter(min(candidate.band, 3) for candidate in chosen) == {1: 40, 2: 40, 3: 20}


def test_other_distances_fill_up_a_distance_with_too_few_texts() -> None:
    pool = pool_of("off")
    size = len([candidate for candidate in pool if candidate.split is Split.TRAIN])
    assert len(choose_texts(pool, size, split=Split.TRAIN)) == size
    assert len(choose_texts(pool, 10_000, split=Split.TRAIN)) == size


def test_listed_texts_come_first() -> None:
    chosen = {candidate.text for candidate in choose_texts(pool_of("marvin"), 40, split=Split.TEST)}
    assert set(PAPER["marvin"]) <= chosen
    assert "zzz" not in chosen


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_no_text_is_in_two_splits_whatever_the_number(keyword: str) -> None:
    split_of: dict[str, Split] = {}
    for size in (20, 150):
        for split in Split:
            for candidate in choose_texts(pool_of(keyword), size, split=split):
                assert split_of.setdefault(candidate.text, split) is split
    by_split = split_texts(keyword, list(split_of))
    assert {text: split for split, texts in by_split.items() for text in texts} == split_of


def test_the_users_own_texts_have_their_distances() -> None:
    assert [candidate.text for candidate in listed("marvin", ["market", "marlin"])] == ["marlin", "market"]


@pytest.mark.parametrize("text", ["Marvin", "mar vin", "marvins", "ask marvin now", "marven"])
def test_a_list_with_the_keyword_is_refused(text: str) -> None:
    with pytest.raises(SynthesisError, match="other than the keyword"):
        listed("marvin", ["marlin", text])
    assert without_sound_of("marvin", ["marlin", text]) == ["marlin"]


def test_a_word_can_end_but_not_begin_with_the_sound_of_a_short_keyword() -> None:
    assert without_sound_of("off", ["cough", "office", "often", "of"]) == ["cough", "of"]


@pytest.mark.parametrize("keyword", ["", "?!", "日本", "a"])
def test_a_keyword_without_sound_is_refused(keyword: str) -> None:
    with pytest.raises(SynthesisError, match="expected"):
        confusables(keyword)


def test_engines_without_phonemes_get_words_only() -> None:
    pool = pool_of("Zorvella")
    wordy = command_voices("sh {wav} {text}")[0]
    plain = speakable(pool, [wordy])
    assert 0 < len(plain) < len(pool)
    assert not any("[[" in candidate.text for candidate in plain)
    assert speakable(pool, [wordy, NAMED["espeak-ng:en-US+m2"]]) == pool


def shipped_keywords() -> list[str]:
    files = (assets_folder("wakeword_tools") / "phrases").glob("*-train.txt")
    return sorted(path.name.removesuffix("-train.txt") for path in files)


@pytest.mark.parametrize("keyword", shipped_keywords())
def test_shipped_lists_share_no_sound_and_contain_no_keyword(keyword: str) -> None:
    sounds = []
    for test in (True, False):
        path = shipped_list(keyword, test=test)
        assert path is not None
        texts = read_texts(path)
        assert without_sound_of(keyword, texts) == texts
        keys = [sound_keys(ways[0]) for ways in pronounce(texts)]
        assert all(not one & other for one, other in itertools.combinations(keys, 2))
        sounds.append(frozenset().union(*keys))
        assert all(split != "test" for split, own in split_texts(keyword, texts).items() if own) is not test
    assert not sounds[0] & sounds[1]


def test_a_homophone_of_a_listed_test_word_in_any_accent_is_for_the_test() -> None:
    assert split_texts("stop", ["stark", "start"]) | {"validation": []} == {
        "train": ["start"], "validation": [], "test": ["stark"],
    }  # fmt: skip


def test_offensive_words_are_left_out() -> None:
    words = {word.text for word in spoken_words()}
    assert not words & {"fucks", "dicks", "shitty", "cocks", "ass"}
    assert {"dickens", "cocktail", "classic", "asset", "peacock", "title", "scunthorpe", "grape"} - words <= {
        "scunthorpe"
    }
