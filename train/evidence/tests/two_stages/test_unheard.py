"""A trial keeps out what it says it keeps out, and its page has its figures."""

import json
from pathlib import Path

import pytest
from support.small_world import SMALL_SECOND_STAGE, small_config, write_background, write_voices, write_world

from wakeword_experiments.two_stages.unheard import Trial, measure_trial, split_takes, unheard_page
from wakeword_tools.kinds import Kind, Split
from wakeword_train.data.clips import Clip
from wakeword_train.training import gather_clips
from wakeword_train.training_run import DataFolders


def test_takes_are_of_people_who_do_not_count_in_the_test() -> None:
    people = [
        Clip(Path(f"{speaker}-{n}.wav"), Kind.POSITIVE, "x", speaker, Split.TEST)
        for speaker in "abcdefg"
        for n in (0, 1)
    ]
    takes, others = split_takes(people, 3)
    assert len({take.speaker for take in takes}) == len(takes) == 3
    assert len(others) == 8
    assert {take.speaker for take in takes}.isdisjoint(other.speaker for other in others)
    assert split_takes(list(reversed(people)), 3)[0] != []


@pytest.mark.slow
def test_a_word_without_recordings_is_tested_on_all_of_them(tmp_path: Path) -> None:
    config = small_config(second_stage=SMALL_SECOND_STAGE, hold_out_recorded=True)
    folders = DataFolders(
        write_world(tmp_path / "words", speakers=6),
        [write_voices(tmp_path / "said", (400.0, 2_000.0), "updown")],
        [write_voices(tmp_path / "other", (400.0, 400.0), "low")],
        background=[write_background(tmp_path / "background", speakers=8)],
        noise=[write_background(tmp_path / "noise", speakers=10, seconds=2.4)],
    )
    heard = [clip for clip in gather_clips(config, folders) if clip.split is not Split.TEST]
    assert heard
    assert not any("words" in clip.path.parts for clip in heard)
    unheard = write_background(tmp_path / "unheard", speakers=2)
    record = measure_trial(Trial(config, folders, [unheard]), tmp_path / "work" / "trial", lambda line: None)
    people = record["word"]["stages"]["both"]["points"]["default"]["people"]
    assert (people["clean"]["of"], people["noisy"]["of"]) == (6, 6)
    assert record["speech"][0]["hours"] == pytest.approx(2 * 8.4 / 3600)
    own = {"point": "fpr=0.03", "people": people}
    record["enrolled"] = {"takes": 3, "others": 3, "before": own, "after": own}
    made = [record | {"command": "COMMAND", "date": "2020-01-01"}]
    page = unheard_page(json.loads(json.dumps(made)), figures="figures.json")
    assert "- `COMMAND` on 2020-01-01" in page
    assert "| updown | synthetic voices alone; background | 6 |" in page
    assert "in unheard, unheard" in page
    assert "before 3 recordings" in page
