"""Each person is tested by a model that has not heard them, and the page has the figures of the record."""

import json
from pathlib import Path

import pytest
import soundfile
from support.small_world import RATE, SMALL_SECOND_STAGE, small_config, write_background, write_voices, write_world

from wakeword.errors import DataError
from wakeword_experiments.two_stages.stage_folds import measure_stage_folds
from wakeword_experiments.two_stages.stage_folds_page import folds_sentence, stage_folds_page
from wakeword_tools.clips.manifest import MANIFEST, read_manifest
from wakeword_tools.kinds import Split
from wakeword_train.training import DataFolders


def folders(root: Path) -> DataFolders:
    return DataFolders(
        write_world(root / "words", speakers=12),
        [write_voices(root / "said", (400.0, 2_000.0), "updown")],
        [write_voices(root / "other", (400.0, 400.0), "low")],
        background=[write_background(root / "background", speakers=8)],
        noise=[write_background(root / "noise", speakers=10, seconds=2.4)],
    )


def recording(number: int, *found: bool) -> dict[str, object]:
    names = ("fpr=0.03", "default")
    return {
        "file": f"updown/{number}.wav",
        "speaker": str(number),
        "found": {name: {"clean": clean, "noisy": False} for name, clean in zip(names, found, strict=True)},
    }


def fold(number: int, events: int, *recordings: dict[str, object]) -> dict[str, object]:
    both = {
        "points": {"default": {"name": "fa_per_hour=1", "close": {"clean": {"rate": 0.01 * number}}}},
        "cross_validated": {"events": events, "hours": 4.0},
    }
    return {"fold": number, "word": {"stages": {"both": both}}, "recordings": list(recordings)}


@pytest.mark.slow
def test_everybody_is_tested_once_by_a_model_that_has_not_heard_them(tmp_path: Path) -> None:
    config = small_config(second_stage=SMALL_SECOND_STAGE)
    records = measure_stage_folds(config, folders(tmp_path), 2, tmp_path / "work", lambda line: None)
    files = [one["file"] for record in records for one in record["recordings"]]
    assert len(files) == len(set(files)) == 12
    for record in records:
        tested = {one["speaker"] for one in record["recordings"]}
        manifest = tmp_path / "work" / f"fold-{record['fold']}" / "clips" / "positives" / MANIFEST
        splits = {row.source: row.split for row in read_manifest(manifest)}
        assert {speaker for speaker, split in splits.items() if split is Split.TEST} == tested
        point = record["word"]["stages"]["both"]["points"]["default"]
        assert point["people"]["clean"]["of"] == len(tested)
        assert point["people"]["clean"]["found"] == sum(
            one["found"]["default"]["clean"] for one in record["recordings"]
        )


def test_recordings_that_are_not_dealt_are_refused(tmp_path: Path) -> None:
    own = folders(tmp_path)
    (tmp_path / "takes").mkdir()
    samples, _ = soundfile.read(tmp_path / "said" / "0.wav")
    soundfile.write(tmp_path / "takes" / "one.wav", samples, RATE)
    own.positives.append(tmp_path / "takes")
    with pytest.raises(DataError, match="expected synthetic voices"):
        measure_stage_folds(small_config(second_stage=SMALL_SECOND_STAGE), own, 2, tmp_path / "work", lambda line: None)


def test_the_page_counts_all_recordings_and_the_whole_ones() -> None:
    record = {
        "keyword": "updown",
        "seed": 0,
        "cut": ["updown/3"],
        "command": "COMMAND",
        "date": "2020-01-01",
        "folds": [
            fold(0, 1, recording(1, True, True), recording(2, True, False)),
            fold(1, 2, recording(3, False, False)),
        ],
    }
    page = stage_folds_page(json.loads(json.dumps(record)), figures="figures.json")
    assert "| 1 | 2 | 2 / 0 of 2 | 1 / 0 of 2 | `fa_per_hour=1` |" in page
    assert "| **all** | 3 | 2 / 0 of 3, 67 / 0 % (9 to 99) | 1 / 0 of 3, 33 / 0 % (1 to 91) |" in page
    assert "| **whole clips** | 2 | 2 / 0 of 2" in page
    assert "0.38 (0.08 to 1.10) in 8.0 h | 0.5 % |" in page
    assert "| updown/2.wav | fpr=0.03 at 10 dB, default, default at 10 dB |" in page
    assert "`COMMAND` on 2020-01-01" in page
    sentence = folds_sentence(record, page="folds.md")
    assert (
        '"updown" finds at its default 33 / 0 % (1 to 91) of all 3 recordings, and 50 / 0 % (1 to 99) of the 2'
        in sentence
    )
