"""``wakeword check``."""

import json
from functools import cache
from pathlib import Path

import pytest

from wakeword.cli.app import CROSS_PACKAGE
from wakeword_tools.cli import check_work
from wakeword_tools.texts.advice import TextPromise, often

ADVISE, LONGER = cache(check_work.advise_in), cache(check_work.longer)


@pytest.fixture(autouse=True)
def said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each word is compared with what people say once: that takes seconds, and is the same in every test."""
    monkeypatch.setattr(check_work, "advise_in", ADVISE)
    monkeypatch.setattr(check_work, "longer", LONGER)


def test_text_and_json_say_the_same(cli) -> None:
    shown, as_json = cli("check", "stop"), cli("check", "stop", "--json")
    assert shown.status == as_json.status == 0
    content = json.loads(as_json.out)
    assert "comparing 'stop' with what people say" in shown.err
    assert shown.out.startswith(f"stop: {content['grade']} (the word, by what people say; `train` and")
    assert content["grade"] == "poor"
    assert f"{content['phonemes']} phonemes, {content['syllables']} syllable " in shown.out
    assert len(content["said"]) == 10
    assert all(one["text"] in shown.out for one in content["said"])
    # Each suggestion is better than the word.
    assert content["longer"]
    for one in content["longer"]:
        assert one["grade"] != "poor"
        assert f"Better: '{one['keyword']}' is {one['grade']}" in shown.out


def test_what_is_said_every_day_is_null_in_json(cli) -> None:
    content = json.loads(cli("check", "excuse me", "--json").out)
    assert (content["grade"], content["said_anyway_per_hour"], content["longer"]) == ("poor", None, [])
    assert {one["text"]: one["per_hour"] for one in content["said"]}["excuse me"] is None


def test_what_cannot_be_pronounced_is_one_line(cli) -> None:
    for keyword, reason in (("日本", "which English does not read"), ("", "as English"), ("?!", "as English")):
        ended = cli("check", keyword)
        assert (ended.status, ended.out) == (1, "")
        assert ended.err.count("\n") == 1
        assert reason in ended.err


@pytest.mark.parametrize("keyword", ["hey " * 9, "z" * 81])
def test_what_is_too_long_for_a_wake_word_is_one_line(cli, keyword: str) -> None:
    ended = cli("check", keyword)
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.count("\n") == 1
    assert "up to 8 words and 80 letters" in ended.err


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (0.0, "hardly ever"),
        (0.001, "once in 1,000 h"),
        (0.1, "once in 10 h"),
        (0.9, "once in 1.1 h"),
        (1, "1.0 times an hour"),
    ],
)
def test_rates_are_said_in_words(rate: float, words: str) -> None:
    assert often(rate) == words


@pytest.mark.parametrize(
    "line",
    [
        ("check", "hey Gr\udcfc\udcdfe"),
        ("check", "hey Gr\udcfc\udcdfe", "--language", "de"),
        ("synth", "hey Gr\udcfc\udcdfe", "--out", "clips"),
        ("train", "marvin", "--also", "Gr\udcfc\udcdfe"),
    ],
)
def test_text_that_is_not_utf_8_is_one_line(
    cli, line: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = cli(*line)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert "expected text in UTF-8" in err
    assert list(tmp_path.iterdir()) == []


def test_what_the_recogniser_hears_in_speech_is_a_part_of_the_grade(cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """As much as the model of `train --now` promises; without training's packages all else stays as it is."""
    ear = cache(CROSS_PACKAGE["text_promise"].load())
    monkeypatch.setattr("wakeword_train.from_text.text_model_promise", ear)
    heard = json.loads(cli("check", "alexa", "--json").out)
    per_hour, recall = ear("alexa", "en")
    assert heard["by_ear"] == {"per_hour": per_hour, "recall": recall}
    assert heard["grades"]["by ear"] == heard["grade"] == ("good" if per_hour <= 1 else "fair")
    assert f"{per_hour:g} an hour by mistake" in cli("check", "alexa").out
    # A phrase that is longer than the recogniser hears at once says nothing of speech.
    assert ear("okay computer please turn on the kitchen lights", "en") is None
    assert ear("eye", "en")[1] == 0
    monkeypatch.setattr(check_work, "find_spec", lambda name: None)
    text = json.loads(cli("check", "alexa", "--json").out)
    assert (text["by_ear"], text["grade"]) == (None, "good")
    assert {**heard, "by_ear": None, "grade": "good", "grades": text["grades"], "longer": text["longer"]} == text
    assert heard["grades"] == {**text["grades"], "by ear": heard["grade"]}
    assert "by ear" not in cli("check", "alexa").out


@pytest.mark.parametrize(("recall", "finds"), [(0.425, "finds 42%"), (None, "what it finds is not known")])
def test_a_word_of_another_language_is_judged_by_what_hears_it(
    cli, recall: float | None, finds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def promise(word: str, language: str) -> TextPromise:
        asked.append((word, language))
        return TextPromise(3.0, recall)

    monkeypatch.setattr("wakeword_train.from_text.text_model_promise", promise)
    line = "check", "guten morgen luise", "--language", "de"
    content = json.loads(cli(*line, "--json").out)
    assert content["by_ear"] == {"per_hour": 3.0, "recall": recall}
    assert content["grades"]["by ear"] == content["grade"] == "poor"
    assert f"3 an hour by mistake, {finds}" in cli(*line).out
    assert asked == [("guten morgen luise", "de")] * 2
