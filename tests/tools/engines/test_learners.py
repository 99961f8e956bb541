"""Laws of learners: they say a text's sounds or near ones, each sound in one way, and each clip has its own."""

import dataclasses
import random
from pathlib import Path

import pytest

from wakeword import ConfigError
from wakeword.model.installed import HOME_VARIABLE
from wakeword_tools.engines.learners import LEARNERS, LearnersSynthesizer, as_learners_say
from wakeword_tools.engines.registry import engine_of, english_voices, installed_engines, voices_in
from wakeword_tools.engines.synthesizer import Prosody
from wakeword_tools.engines.voice import kokoro_folder

COMPUTER = "kəmpjˈuTəɹ"
INSTALLED = kokoro_folder()
"""Where this machine has Kokoro, before a test moves the folder of voices."""


def test_a_clip_has_sounds_that_are_near_and_each_sound_is_said_in_one_way() -> None:
    said = [as_learners_say("mˈʌməmʌ", random.Random(seed)) for seed in range(200)]
    assert {one[0] for one in said} == {"m"}
    assert {one[1] for one in said} == {"ˈ"}
    assert all(one[2] == one[6] for one in said)
    assert {one[2] for one in said} == set("ʌaɑɔ")
    changed = sum(one != "mˈʌməmʌ" for one in said)
    assert 60 < changed < 180  # some people say it as the dictionary does


def test_what_people_were_heard_to_say_is_among_it() -> None:
    said = {as_learners_say(COMPUTER, random.Random(seed)) for seed in range(3_000)}
    assert {COMPUTER, "kɑmpjˈutɑɹ", "kəmbjˈuTəɹ", "kəmpjˈudə"} <= said
    assert len(said) > 300


def test_clips_differ_and_each_is_the_same_each_time() -> None:
    (voice, *_) = [dataclasses.replace(one, name="a") for one in english_voices(engines=["espeak-ng"])]
    speak = LearnersSynthesizer().sounds
    rates = [Prosody(rate=0.8 + number / 100) for number in range(50)]
    said = [speak(COMPUTER, "computer", voice, rate) for rate in rates]
    assert said == [speak(COMPUTER, "computer", voice, rate) for rate in rates]
    assert len(set(said)) > 25


@pytest.mark.skipif(INSTALLED is None, reason="Kokoro is not installed")
def test_they_are_the_people_of_kokoro_and_train_nobody_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert INSTALLED is not None
    monkeypatch.setenv(HOME_VARIABLE, str(INSTALLED.parents[1]))
    own, native = (english_voices(engines=[engine]) for engine in (LEARNERS, "kokoro"))
    assert [(one.source, one.split) for one in own] == [(one.source, one.split) for one in native]
    assert {one.engine for one in own} == {LEARNERS}
    assert LEARNERS not in installed_engines("natural")
    assert not voices_in("es", engines=[LEARNERS])
    (voice, *_), synthesizer = own, engine_of(own[0])
    assert (
        len({synthesizer.speak("computer", voice, Prosody(rate=1 + number / 100)).tobytes() for number in range(3)})
        == 3
    )


def test_without_kokoro_there_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path))
    with pytest.raises(ConfigError, match=r"expected Kokoro in .*install it"):
        english_voices(engines=[LEARNERS])
