"""Words of other languages: read by their dictionaries, compared by their sounds, and refused where these are not known."""

import numpy as np
import pytest

from scripts.recipes import recipe_of
from wakeword.base.errors import ConfigError, SynthesisError
from wakeword_tools.clips.manifest import Row, recipe_row
from wakeword_tools.clips.plan import Recipe
from wakeword_tools.engines.espeak import shared_espeak
from wakeword_tools.engines.languages import language_named, name_of_language, require_language
from wakeword_tools.engines.registry import voices_in
from wakeword_tools.kinds import Split
from wakeword_tools.texts.candidates import TextOrigin, choose_texts
from wakeword_tools.texts.foreign_language import foreign_language, is_ipa_vowel
from wakeword_tools.texts.foreign_words import (
    foreign_confusables,
    foreign_of_ipa,
    foreign_splits,
    foreign_without,
    other_words,
    short_sounds,
)
from wakeword_tools.texts.recogniser import foreign_variants


def test_a_code_means_one_language_however_it_is_written() -> None:
    assert [language_named(code) for code in ("DE", "pt_BR", "cmn", "zh-CN", "no", "en-GB")] == [
        *("de", "pt-br", "zh", "zh", "nb", "en"),
    ]
    assert name_of_language("zh") == "Chinese"
    with pytest.raises(ConfigError, match=r"did you mean"):
        language_named("deu")
    with pytest.raises(ConfigError, match=r"; did you mean de\?"):
        language_named("German")


@pytest.mark.parametrize(
    ("text", "language", "said"),
    [
        ("مرحبا", None, "Arabic letters, which English does not read; tell which language it is: --language ar"),
        ("hey مرحبا", "ar", "one script, got 'hey مرحبا' in Latin and Arabic"),
        ("hallo", "xq", "expected the code of a language"),
    ],
)
def test_a_language_that_is_not_said_is_asked_for_in_one_line(text: str, language: str | None, said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        require_language(text, language)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("zh", "nihao", "needs its tone"),
        ("ja", "電気", "in kana"),
        ("de", "привет", "not written in Cyrillic letters"),
        ("ar", "hello", "not written in Latin letters"),
    ],
)
def test_what_a_language_cannot_read_is_refused_with_what_to_do(language: str, text: str, said: str) -> None:
    with pytest.raises(SynthesisError, match=said):
        foreign_language(language).require(text)


def test_a_word_is_read_by_the_dictionary_of_its_language() -> None:
    assert foreign_language("de").require("hallo luise").phones == ("h", "a", "l", "oː", "l", "uː", "ɪ", "s", "ə")
    # Characters and syllables with tones are the same word; the first and the fourth tone are not.
    chinese = foreign_language("zh")
    assert chinese.require("北京").phones == chinese.require("bei3jing1").phones
    assert foreign_language("de").require("wasser").phones[-1] == "ɜ"
    assert chinese.require("ma1").phones != chinese.require("ma4").phones
    assert short_sounds(("aː", "b", "b")) == ("a", "b")


def test_distances_are_those_of_sounds_and_not_of_letters() -> None:
    german = foreign_language("de")
    ways = [reading.phones for reading in german.read(["fater", "water", "mutter"])]
    same, near, far = german.distances(german.require("vater").phones, ways)
    assert same == 0
    assert 0.5 <= near < far
    tones = foreign_language("zh").distances(("m", "a55"), [("m", "a51"), ("m", "i55")])
    assert 0 < tones[0] < tones[1]


def test_close_words_are_other_words_that_voices_of_the_language_can_say() -> None:
    pool = foreign_confusables("hallo luise", "de")
    chosen = choose_texts(pool, 60, split=Split.TRAIN)
    assert {one.origin for one in chosen} >= {TextOrigin.PSEUDO_WORD, TextOrigin.PHRASE}
    texts = [one.text for one in pool]
    assert foreign_without("hallo luise", texts, "de") == texts
    # The same text is in the same split, whoever asks.
    assert {one.text for one in pool if one.split is Split.TEST} <= set(foreign_splits(texts, "de")[Split.TEST])
    assert foreign_without("hallo luise", ["Hallo, Luise!", "sag hallo luise jetzt", "hallo lotte"], "de") == [
        "hallo lotte"
    ]
    assert len(set(other_words("de"))) == 250
    # Arabic writes no short vowels, and "the" as part of the word: both are the word itself.
    assert foreign_without("اِسْتِقْبال", ["استقبال", "الاستقبال", "شركة"], "ar") == ["شركة"]


def test_what_is_made_up_is_spoken_as_it_was_made_up() -> None:
    german = foreign_language("de")
    assert german.require(foreign_of_ipa("ˈhaloː", "de")).phones == ("h", "a", "l", "oː")
    with pytest.raises(SynthesisError, match="expected sounds of German in IPA"):
        foreign_of_ipa("ʘa", "de")


def test_voices_of_a_language_speak_it_and_are_restored_from_a_manifest() -> None:
    voices = voices_in("pt")
    assert {voice.accent for voice in voices} == {"pt", "pt-br"}
    english = {voice.source: voice.split for voice in voices_in("en")}
    assert all(english[voice.source] is voice.split for voice in voices)  # nobody is in two splits
    recipe = Recipe("olá", voices[0])
    content = recipe_row(recipe, "a.flac", seed=0)
    row = Row("", "a.flac", "olá", voices[0].source, voices[0].split, True, content)
    assert recipe_of(row) == recipe
    assert "language" not in recipe_row(Recipe("hello", voices_in("en")[0]), "a.flac", seed=0)
    one, other = (shared_espeak().speak("jota", voice) for voice in (voices[0], voices_in("es")[0]))
    assert one.shape != other.shape or not np.array_equal(one, other)


def test_sounds_are_offered_the_tokens_that_are_like_them() -> None:
    known = ("a", "b", "h", "k", "t", "i", "s", "<blank>", "ʃ")
    (heard,) = foreign_variants("قط", "ar", known)
    assert heard.variant[0][0] == "k"
    assert all(min(losses) == 0 for losses in heard.losses)
    assert [is_ipa_vowel(sound) for sound in ("a51", "ɔ̃", "tʃ")] == [True, True, False]
