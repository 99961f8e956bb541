"""Close words from a dictionary: what the rule gives, and what the page says of clips that are counted by hand."""

import json
from pathlib import Path

import numpy as np
import pytest

from wakeword_experiments.two_stages import dictionary_page as page
from wakeword_experiments.two_stages.close_words import CLOSE, KEYWORD, WordEngine
from wakeword_experiments.two_stages.dictionary_words import FARTHEST, edits, heard_in_training, near_words
from wakeword_tools.engines.espeak import ESPEAK
from wakeword_tools.kinds import Split
from wakeword_tools.texts.confusables import without_sound_of
from wakeword_tools.texts.phonemes import pronunciations
from wakeword_tools.texts.sounds import sound_keys


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("ABC", "ABC", 0),
        ("ABC", "AXC", 1),
        ("ABC", "BC", 1),
        ("ABC", "CBA", 2),
        ("", "AB", 2),
        ("A", "ABCDEF", FARTHEST + 1),
    ],
)
def test_edits_add_leave_out_and_replace(one: str, other: str, expected: int) -> None:
    assert edits(one, other) == edits(other, one) == expected


@pytest.mark.parametrize("keyword", ["marvin", "stop"])
def test_no_text_sounds_like_the_keyword_or_like_another_text(keyword: str) -> None:
    near = near_words(keyword)
    texts = [one.text for one in near]
    assert len(texts) == 60
    assert without_sound_of(keyword, texts) == texts
    keys = [sound_keys(pronunciations(text)[0]) for text in texts]
    assert len(set(keys)) == len(keys)
    distances = [one.edits for one in near]
    assert distances == sorted(distances)
    assert 1 <= distances[0] <= distances[-1] <= FARTHEST
    assert near_words(keyword, most=5) == near[:5]


def test_texts_that_training_had_are_known_by_their_sound() -> None:
    assert heard_in_training("marvin", ["mervin", "yes", "modglin"]) == [True, True, False]


def row(kind: str, text: str, voice: str, found: int, *, heard: bool = False, distance: int = 1) -> dict[str, object]:
    fields = {"keyword": "marvin", "kind": kind, "text": text, "voice": voice, "clips": 4, "found": found}
    return fields | {"highest": 0.5, "edits": distance, "heard": heard}


def test_the_page_counts_clips_texts_and_voices(tmp_path: Path) -> None:
    rows = [
        row(CLOSE, "parvin", "a", 4),
        row(CLOSE, "parvin", "b", 0),
        row(CLOSE, "mervin", "a", 0, heard=True),
        row(CLOSE, "larkin", "b", 0, distance=2),
        row(KEYWORD, "marvin", "a", 4, distance=0),
        row(KEYWORD, "marvin", "b", 2, distance=0),
    ]
    clean = {"found": 1, "of": 50}
    people = {
        "words": [{"keyword": "marvin", "stages": {"both": {"points": {"default": {"close": {"clean": clean}}}}}}]
    }
    page.dictionary_page(tmp_path, rows, people, command="made by hand", seed=0)
    text = (tmp_path / "dictionary-words.md").read_text()
    assert "16 clips of 3 texts in 2 voices, and 8 of the keywords" in text
    assert "| marvin | 3 | 25.0 % [" in text
    assert "| 2 | 33.3 % [" in text
    assert "| 2.0 % | 75.0 % [" in text
    assert "| marvin | 50.0 / 100.0 % | 0.0 / 50.0 % |" in text
    assert "| marvin | 33.3 % | 0.0 % | – |" in text
    assert "- marvin: parvin (50 %). 2 of 3 texts never fire." in text
    assert json.loads((tmp_path / "dictionary-words.json").read_text())["rows"] == rows


def test_clips_are_spoken_scored_and_counted_by_text_and_voice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    near = near_words("marvin", most=2)
    monkeypatch.setattr(page, "near_words", lambda keyword: near)
    voices = page.voices_unheard(ESPEAK)
    assert {voice.split for voice in voices} == {Split.VALIDATION, Split.TEST}
    lines: list[str] = []
    found = page.measure_keyword("marvin", {WordEngine(ESPEAK, 2): voices[:2]}, tmp_path, seed=0, report=lines.append)
    clips = {kind: sum(one["clips"] for one in found if one["kind"] == kind) for kind in (CLOSE, KEYWORD)}
    assert clips == {CLOSE: 4, KEYWORD: 16}
    assert {one["text"] for one in found} == {"marvin", *(one.text for one in near)}
    assert all(0 <= one["found"] <= one["clips"] and np.isfinite(one["highest"]) for one in found)
    assert len(lines) == 2
