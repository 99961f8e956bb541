"""The sounds of all languages in few symbols."""

import pytest

from wakeword.model.installed import encoders_folder
from wakeword.verify.shared import PHONEMES_FILE, file_digest, load_phonemes
from wakeword_tools.texts.foreign_language import foreign_language
from wakeword_tools.texts.plain_sounds import is_plain_vowel, plain_sounds

TEXTS = {
    "ar": "اِسْتِقْبال تَوَقُّف", "de": "schöne Häuser, zwölf Pfund, ich auch", "es": "queso llave perro jamón",
    "fr": "un bon vin blanc, feu, huit", "hi": "घर छह ज्ञान", "it": "gli gnocchi, zucchero", "ja": "きょう つくる",
    "nl": "de goede schuur, uit", "pl": "szczęście dźwięk", "pt": "não, coração, lho", "ru": "борщ мышь чай",
    "tr": "güneş ılık çocuk", "zh": "北京 语音 数字 上海", "fi": "yö äiti", "sv": "sju sjösjuka", "ko": "안녕",
}  # fmt: skip


def test_every_sound_of_many_languages_is_one_or_more_of_the_tokens() -> None:
    path = encoders_folder() / PHONEMES_FILE
    known = set(load_phonemes(path, file_digest(path)).tokens)
    for code, text in TEXTS.items():
        sounds = foreign_language(code).require(text).phones
        unknown = {one for sound in sounds for one in plain_sounds(sound, code)} - known
        assert not unknown, (code, unknown)
        assert all(plain_sounds(sound, code) for sound in sounds), code


@pytest.mark.parametrize(
    ("sound", "other"), [("aː", "a"), ("ɑ51", "a"), ("nʲ", "n"), ("t̪", "t"), ("ss", "s"), ("ˈe", "e")]
)
def test_length_tone_stress_and_what_is_said_besides_change_nothing(sound: str, other: str) -> None:
    assert plain_sounds(sound, "it") == plain_sounds(other, "it") == [other]


def test_breath_tells_the_stops_of_mandarin_apart_as_voice_tells_those_of_others() -> None:
    for breathed, plain, voiced in (("ph", "p", "b"), ("th", "t", "d"), ("kh", "k", "ɡ"), ("tɕh", "tɕ", "dʒ")):
        assert plain_sounds(plain, "zh") == plain_sounds(voiced, "de")
        assert plain_sounds(breathed, "zh") == plain_sounds(breathed.rstrip("h").replace("ɕ", "ʃ"), "de")


def test_a_diphthong_is_its_parts_in_every_language() -> None:
    assert plain_sounds("aɪ", "de") == plain_sounds("ai51", "zh") == ["a", "j"]
    assert plain_sounds("uei55", "zh") == ["w", "e", "j"]
    assert plain_sounds("ts", "de") == ["t", "s"]


def test_a_nasal_vowel_is_one_symbol_whatever_its_quality() -> None:
    assert plain_sounds("ɑ̃", "fr") == plain_sounds("ɐ̃", "pt") == ["ã"]
    assert is_plain_vowel("ã")
    assert not is_plain_vowel("t͡ʃ")
