"""Recordings of a word are found in other collections, and counted by their people."""

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.small_world import write_world

from wakeword_experiments.two_stages import other_collections as page
from wakeword_experiments.two_stages.conditions import IN_NOISE, IN_ROOM, NARROW, Condition, in_faint_noise, narrowed
from wakeword_experiments.two_stages.other_collections import (
    COMMANDS,
    DIGITS,
    WAKE,
    WAKE_WORDS,
    people_of_the_test,
    people_of_the_wake_words,
    recorded_digits,
    said_in_talk,
)


@pytest.fixture
def audio(tmp_path: Path) -> Path:
    digits = tmp_path / "spoken_digits_8k" / "seven"
    digits.mkdir(parents=True)
    for name in ("ann_0", "ann_1", "bob_0"):
        soundfile.write(digits / f"{name}.wav", np.full(4_000, 0.1), 8_000)
    return tmp_path


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    folder = tmp_path / "talk"
    folder.mkdir()
    ramp = np.arange(10 * 16_000) / 1e6
    lines = []
    for file in ("speechocean762-1.wav", "77-8.wav"):
        soundfile.write(folder / file, ramp, 16_000, subtype="FLOAT")
        for start, text in ((1.0, "STOP AT SEVEN"), (4.0, "SEVENTY STOPS"), (6.0, "SEVEN")):
            lines.append({"file": file, "start": start, "end": start + 2, "text": text})
    lines[0]["speaker"] = "cat"
    (folder / "transcripts.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return folder


def test_digits_have_a_speaker_and_other_words_none(audio: Path) -> None:
    said = recorded_digits(audio, "seven")
    assert [(one.collection, one.speaker) for one in said] == [(DIGITS, "ann"), (DIGITS, "ann"), (DIGITS, "bob")]
    assert {len(one.samples) for one in said} == {8_000}
    assert recorded_digits(audio, "marvin") == []


def test_only_the_utterances_with_the_word_itself_are_cut_out(talk: Path) -> None:
    said = said_in_talk([talk], "seven")
    assert [(one.collection, one.speaker) for one in said] == [
        ("librispeech", "77"),
        ("librispeech", "77"),
        ("speechocean762", "cat"),
        ("speechocean762", "speechocean762"),
    ]
    assert [round(float(one.samples[0]) * 1e6 / 16_000, 2) for one in said] == [0.7, 5.7, 0.7, 5.7]
    assert [len(one.samples) for one in said] == [round(2.6 * 16_000)] * 4
    assert [len(said_in_talk([talk], word)) for word in ("stop", "marvin")] == [2, 0]


def test_a_narrow_band_and_faint_noise_keep_the_people_and_the_word() -> None:
    tone = np.sin(np.arange(16_000) * 2 * np.pi * 6_000 / 16_000).astype(np.float32)
    low = np.sin(np.arange(16_000) * 2 * np.pi * 1_000 / 16_000).astype(np.float32)
    said = [Condition(COMMANDS, "ann", tone), Condition(COMMANDS, "bob", low)]
    high, kept = narrowed(said)
    assert [(one.speaker, one.condition, len(one.samples)) for one in (high, kept)] == [
        ("ann", NARROW, 16_000),
        ("bob", NARROW, 16_000),
    ]
    assert float(np.abs(high.samples[1_000:-1_000]).max()) < 0.01
    assert float(np.abs(kept.samples - low)[1_000:-1_000].max()) < 0.01
    (noisy,) = in_faint_noise(said[1:])
    assert (noisy.condition, len(noisy.samples)) == (IN_NOISE, 32_000)
    assert float(np.abs(noisy.samples[8_000:-8_000] - low).max()) < 0.01
    assert float(np.std(noisy.samples[:8_000])) == pytest.approx(1e-3, rel=0.05)


def test_the_people_are_those_of_the_test_split_of_the_recipe(tmp_path: Path) -> None:
    write_world(tmp_path / "speech_commands", speakers=30)
    (tmp_path / "updown.toml").write_text('keyword = "updown"\nsplit = "dealt"\n')
    said = people_of_the_test(tmp_path, tmp_path, "updown")
    every = {path.name.partition("_")[0] for path in (tmp_path / "speech_commands" / "updown").iterdir()}
    assert {one.speaker for one in said} < every
    assert {one.collection for one in said} == {COMMANDS}


def test_the_wake_words_are_those_of_the_test_split_of_the_recipe(tmp_path: Path) -> None:
    for word in WAKE_WORDS:
        (tmp_path / word).mkdir()
        for voice in range(20):
            soundfile.write(tmp_path / word / f"{voice}_nohash_0.wav", np.ones(800) * 0.1, 16_000)
    (tmp_path / "jarvis.toml").write_text('keyword = "jarvis"\nsplit = "dealt"\ntest_share = 0.3\n')
    said = people_of_the_wake_words(tmp_path, tmp_path, "jarvis")
    assert {one.collection for one in said} == {WAKE}
    assert 0 < len({one.speaker for one in said}) == len(said) < 20


def test_the_page_has_a_line_for_each_collection(
    audio: Path, talk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "clip_score", lambda model, samples: float(len(samples) == 8_000))
    said = [
        Condition(COMMANDS, "eve", np.zeros(8_000, np.float32)),
        Condition(COMMANDS, "eve", np.zeros(9_000, np.float32)),
    ]
    monkeypatch.setattr(page, "people_of_the_test", lambda audio, recipes, keyword: said)
    before = tmp_path / "before.json"
    same = {"keyword": "seven", "collection": DIGITS, "condition": "", "found": 1, "of": 3}
    before.write_text(json.dumps({"rows": [same, same | {"collection": COMMANDS, "of": 1}]}))
    rooms = tmp_path / "rooms"
    rooms.mkdir()
    soundfile.write(rooms / "far.wav", np.r_[1.0, np.zeros(15_999)], 16_000)
    page.measure_collections(
        audio,
        None,
        [talk],
        tmp_path,
        tmp_path / "out",
        before=before,
        rooms=rooms,
        origin="a hall",
        command="made by hand",
        report=lambda line: None,
    )
    rows = json.loads((tmp_path / "out" / "collections.json").read_text())["rows"]
    assert [(*(row[name] for name in ("keyword", "collection", "condition", "found", "of")),) for row in rows] == [
        ("marvin", COMMANDS, "", 1, 2),
        ("marvin", COMMANDS, NARROW, 1, 2),
        ("marvin", COMMANDS, IN_ROOM, 0, 2),
        ("seven", COMMANDS, "", 1, 2),
        ("seven", COMMANDS, NARROW, 1, 2),
        ("seven", COMMANDS, IN_ROOM, 0, 2),
        ("seven", DIGITS, "", 3, 3),
        ("seven", DIGITS, IN_NOISE, 0, 3),
        ("seven", "librispeech", "", 0, 2),
        ("seven", "speechocean762", "", 0, 2),
        ("stop", COMMANDS, "", 1, 2),
        ("stop", COMMANDS, NARROW, 1, 2),
        ("stop", COMMANDS, IN_ROOM, 0, 2),
        ("stop", "librispeech", "", 0, 1),
        ("stop", "speechocean762", "", 0, 1),
    ]
    # Another number of recordings is no figure of the same.
    assert [row["before"] for row in rows if row["before"] is not None] == [1]
    text = (tmp_path / "out" / "collections.md").read_text()
    assert "(a hall)" in text
    assert "] | 33 % |" in text
    assert "| 2 of 1 | 50 % [0, 100] |  |" in text
    assert f"| seven | {DIGITS}, {IN_NOISE} | the same recordings | 3 of 2 | 0 % [" in text
