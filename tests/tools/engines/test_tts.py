"""Laws of the text-to-speech engines and of their voices."""

import numpy as np
import pytest

from wakeword import SynthesisError
from wakeword_tools.engines import espeak as espeak_module
from wakeword_tools.engines.espeak import EspeakSynthesizer
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.engines.synthesizer import Prosody
from wakeword_tools.engines.voice import Voice
from wakeword_tools.kinds import Split

# f3 has breath, Reed is a Klatt voice with breath, m1 has flutter: each keeps a different state inside espeak-ng.
STATEFUL = ("espeak-ng:en-GB-x-rp+f3", "espeak-ng:en-US+Reed", "espeak-ng:en-GB-scotland+m1")

NAMED = {voice.name: voice for voice in english_voices()}


@pytest.fixture(scope="module")
def espeak() -> EspeakSynthesizer:
    return EspeakSynthesizer()


def test_no_source_is_in_two_splits() -> None:
    sources = [{voice.source for voice in english_voices(split)} for split in Split]
    assert sum(map(len, sources)) == len(set.union(*sources))
    assert all(sources)


def test_every_voice_has_a_name_of_its_own() -> None:
    assert len(NAMED) == len(english_voices())


def test_every_source_speaks_with_its_own_voice(espeak: EspeakSynthesizer) -> None:
    one_each = {voice.variant: voice for voice in english_voices()}
    spoken = {name: espeak.speak("marvin", voice) for name, voice in one_each.items()}
    assert {voice.accent for voice in english_voices()} == set(espeak_module.ENGLISH_ACCENTS)
    assert all(0.2 < len(samples) / 16_000 < 1.5 for samples in spoken.values())
    assert all(0.02 < np.abs(samples).max() < 0.9 for samples in spoken.values())
    assert len({samples.tobytes() for samples in spoken.values()}) == len(spoken)


@pytest.mark.parametrize("name", STATEFUL)
def test_earlier_texts_do_not_matter(espeak: EspeakSynthesizer, name: str) -> None:
    voice = NAMED[name]
    alone = espeak.speak("harvest", voice)
    for other in STATEFUL:
        espeak.speak("something else", NAMED[other], Prosody(rate=1.3, pitch=0.7))
    np.testing.assert_array_equal(espeak.speak("harvest", voice), alone)


def test_speech_is_16_khz_mono_and_shorter_if_faster(espeak: EspeakSynthesizer) -> None:
    voice = english_voices()[0]
    slow, fast = (espeak.speak("turn on the lights", voice, Prosody(rate=rate)) for rate in (0.8, 1.4))
    assert slow.dtype == fast.dtype == np.float32
    assert slow.ndim == 1
    assert len(fast) < 0.8 * len(slow)
    assert 0.8 < len(slow) / 16_000 < 3


def test_a_text_is_read_as_ipa_word_by_word_with_its_phonemes_as_written(espeak: EspeakSynthesizer) -> None:
    assert espeak.ipa("hey jarvis, [[m'A@vIk]]!", "en-US") == "hˈe^ɪ d^ʒˈɑː^ɹvɪs mˈɑː^ɹvɪk"
    assert espeak.ipa("marvin", "en") == "mˈɑːvɪn"
    assert espeak.ipa("?!", "en") == ""
    with pytest.raises(SynthesisError, match="expected an accent"):
        espeak.ipa("marvin", "xq")


def test_phonemes_are_spoken_like_their_word(espeak: EspeakSynthesizer) -> None:
    voice = NAMED["espeak-ng:en-GB-x-rp+f3"]
    np.testing.assert_array_equal(espeak.speak("[[m'A@vIn]]", voice), espeak.speak("marvin", voice))


@pytest.mark.parametrize("text", ["", "  ", "?!", "[["])
def test_a_text_without_sound_is_refused(espeak: EspeakSynthesizer, text: str) -> None:
    with pytest.raises(SynthesisError, match=r"expected a text|no sound"):
        espeak.speak(text, english_voices()[0])


def test_an_unknown_voice_is_refused(espeak: EspeakSynthesizer) -> None:
    with pytest.raises(SynthesisError, match="expected a voice"):
        espeak.speak("marvin", Voice("x:y", "espeak-ng", "en", "nobody", "nobody", Split.TRAIN, "CC0-1.0"))


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(SynthesisError, match="engines"):
        english_voices(engines=["nothing"])


def test_the_error_of_a_missing_engine_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "espeakng_loader", None)
    with pytest.raises(SynthesisError, match="pip install"):
        EspeakSynthesizer()
