"""A pronunciation given as IPA is spoken as it is written."""

import pytest

from wakeword.base.errors import SynthesisError
from wakeword_tools.texts.phonemes import from_espeak, phones_of_ipa, pronunciations, to_espeak


@pytest.mark.parametrize(
    ("ipa", "word"),
    [("ˈmɑɹvɪn", "marvin"), ("m ɑ ɹ v ɪ n", "marvin"), ("ʃˈiːlə", "sheila"), ("kəmˈpjuːtɚ", "computer")],
)
def test_ipa_is_the_pronunciation_of_the_dictionary(ipa: str, word: str) -> None:
    assert phones_of_ipa(ipa) in pronunciations(word)
    assert from_espeak(to_espeak(phones_of_ipa(ipa))) == phones_of_ipa(ipa)


@pytest.mark.parametrize(
    ("ipa", "expected"), [("mɑʁvɪn", "'ʁ'"), ("m", "two sounds"), ("", "two sounds"), ("pst", "vowel")]
)
def test_what_is_not_english_is_refused(ipa: str, expected: str) -> None:
    with pytest.raises(SynthesisError, match=expected):
        phones_of_ipa(ipa)
