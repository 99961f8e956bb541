"""Transcripts: the keyword is cut out and nothing else, and every second belongs to the speaker who speaks in it."""

import itertools
import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeword.base.errors import DataError
from wakeword_tools.transcripts import (
    MARGIN,
    TRANSCRIPTS,
    TimedText,
    TranscribedSpeech,
    read_transcripts,
    turns,
    without_keyword,
)

TALK = Path("talk.wav")


def utterance(start: float, end: float, text: str = "", speaker: str = "") -> TranscribedSpeech:
    return TranscribedSpeech(TALK, start, end, text, speaker)


@pytest.mark.parametrize(
    ("text", "phrase", "said"),
    [
        ("AND THEN STOP HE SAID", "stop", True),
        ("Stop!", "Stop", True),
        ("he stopped", "stop", True),
        ("unstoppable", "stop", False),
        ("hey marvin's", "hey marvin", True),
        ("heys marvin", "hey marvin", False),
        ("MARVIN'S ROOM", "marvin", True),
        ("hey, MARVIN", "hey marvin", True),
        ("hey dear marvin", "hey marvin", False),
        ("marvin hey", "hey marvin", False),
        ("STRASSE", "Straße", True),
        ("e\u0301te\u0301 chaud", "\u00e9t\u00e9", True),
        ("", "stop", False),
        ("anything", "", False),
    ],
)
def test_a_phrase_is_said_if_all_its_words_are_in_sequence(text: str, phrase: str, said: bool) -> None:
    assert utterance(0, 1, text).says(phrase) is said


def conversation() -> st.SearchStrategy[list[TranscribedSpeech]]:
    """Utterances one after the other, with pauses, of two speakers and with and without the keyword."""
    one = st.tuples(st.floats(0, 2), st.floats(0.1, 5), st.sampled_from(["stop", "go"]), st.sampled_from("ab"))

    def placed(drawn: list[tuple[float, float, str, str]]) -> list[TranscribedSpeech]:
        made, now = [], 0.0
        for pause, length, text, speaker in drawn:
            start = now + pause
            now = start + length
            made.append(utterance(start, now, text, speaker))
        return made

    return st.lists(one, min_size=1, max_size=12).map(placed)


def covers(parts: list[TimedText], second: float) -> list[TimedText]:
    return [part for part in parts if part.start <= second < part.end]


@given(conversation())
def test_turns_cover_a_recording_once_and_each_utterance_is_in_its_speakers_turn(said: list[TranscribedSpeech]) -> None:
    parts = turns(said)
    assert parts[0].start == 0
    assert math.isinf(parts[-1].end)
    assert all(before.end == after.start for before, after in itertools.pairwise(parts))
    assert all(before.speaker != after.speaker for before, after in itertools.pairwise(parts))
    for one in said:
        (part,) = covers(parts, 0.5 * (one.start + one.end))
        assert part.speaker == one.speaker
        assert part.start <= one.start
        assert one.end <= part.end


@given(conversation(), st.floats(0, 60))
def test_just_the_utterances_with_the_keyword_and_their_margins_are_cut_out(
    said: list[TranscribedSpeech], second: float
) -> None:
    parts = turns(said)
    kept = without_keyword(parts, said, "Stop")
    is_cut = any(one.text == "stop" and one.start - MARGIN <= second < one.end + MARGIN for one in said)
    (whole,) = covers(parts, second)
    assert [part.speaker for part in covers(kept, second)] == ([] if is_cut else [whole.speaker])
    assert without_keyword(parts, said, "marvin") == parts


def test_overlapping_utterances_still_divide_a_recording() -> None:
    parts = turns([utterance(0, 10, speaker="a"), utterance(4, 6, speaker="b"), utterance(6, 7, speaker="a")])
    assert [part.span for part in parts] == [(0, 4), (4, 6), (6, math.inf)]


def test_transcripts_are_read_from_the_folder_and_below_it(tmp_path: Path) -> None:
    for name, lines in (
        ("one", [{"file": "b.wav", "start": 3, "end": 4.5, "text": "x", "speaker": "ann", "age": "6"}]),
        ("two", [{"file": "c.wav", "text": "line\u2028end"}, {"file": "a.wav", "text": "y", "start": 1, "end": 2}]),
    ):
        (tmp_path / name).mkdir()
        written = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (tmp_path / name / TRANSCRIPTS).write_text(written, encoding="utf-8")
    found = read_transcripts(tmp_path)
    assert found == [
        TranscribedSpeech(tmp_path / "one" / "b.wav", 3, 4.5, "x", "ann"),
        TranscribedSpeech(tmp_path / "two" / "a.wav", 1, 2, "y"),
        TranscribedSpeech(tmp_path / "two" / "c.wav", 0, math.inf, "line\u2028end"),
    ]
    # Without times, the whole recording is left out.
    assert without_keyword([TimedText(found[2].path)], found, "line") == []
    recording = tmp_path / "one" / "b.wav"
    recording.touch()
    assert read_transcripts(recording) == found[:1]
    assert read_transcripts(tmp_path / "one" / "nothing") == []


@pytest.mark.parametrize(
    "line",
    [
        "nothing",
        "[]",
        '{"file": "a.wav"}',
        '{"file": "a.wav", "text": 3}',
        '{"file": "a.wav", "text": "", "start": 2, "end": 1}',
        '{"file": "a.wav", "text": "", "start": NaN, "end": 1}',
        '{"file": "a.wav", "text": "", "start": -1, "end": 1}',
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / TRANSCRIPTS).write_text('{"file": "a.wav", "text": "x"}\n' + line + "\n")
    with pytest.raises(DataError, match=r"transcripts\.jsonl, line 2: expected a file and its text"):
        read_transcripts(tmp_path)
