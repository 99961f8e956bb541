"""Each person is tested by a model that has not heard them, and the page has the figures of the record."""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest
import soundfile
from support import RESULTS
from support.small_world import RATE, SMALL_SECOND_STAGE, small_config, write_background, write_voices, write_world

from wakeword.base.errors import ConfigError, DataError
from wakeword.model.installed import shipped_models
from wakeword.model.model import read_model
from wakeword_experiments.two_stages.fold_cards import with_folds, write_fold_cards
from wakeword_experiments.two_stages.stage_folds import measure_stage_folds, run_stage_folds
from wakeword_experiments.two_stages.stage_folds_page import RECORD_PREFIX, folds_sentence, stage_folds_page
from wakeword_experiments.two_stages.two_stages_run import Sources
from wakeword_tools.clips.manifest import MANIFEST, read_manifest
from wakeword_tools.kinds import Split
from wakeword_tools.measure.cards import write_card
from wakeword_train.training_run import DataFolders


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


def test_the_included_models_say_what_their_folds_found() -> None:
    for path in RESULTS.glob(f"{RECORD_PREFIX}*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        card = read_model(shipped_models()[path.stem.removeprefix(RECORD_PREFIX)]).card
        assert with_folds(card, record) == card
        by_folds = card.point().by_folds
        assert by_folds is not None
        assert by_folds.models == len(record["folds"])


def test_folds_are_written_onto_the_card_and_nothing_else_changes(tmp_path: Path) -> None:
    results, path = tmp_path / "results", tmp_path / "marvin.onnx"
    results.mkdir()
    shutil.copy(shipped_models()["marvin"], path)
    shutil.copy(RESULTS / f"{RECORD_PREFIX}marvin.json", results)
    whole, card = path.read_bytes(), read_model(path).card
    bare = tuple(dataclasses.replace(point, by_folds=None) for point in card.operating_points)
    write_card(path, dataclasses.replace(card, operating_points=bare))
    assert b"by_folds" not in path.read_bytes()
    assert write_fold_cards(tmp_path, results) == [path]
    assert path.read_bytes() == whole
    # A record of another recipe says nothing of this model.
    record = results / f"{RECORD_PREFIX}marvin.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), "earlier": "with less speech"}))
    assert write_fold_cards(tmp_path, results) == []


@pytest.mark.slow
def test_everybody_is_tested_once_by_a_model_that_has_not_heard_them(tmp_path: Path) -> None:
    config = small_config(second_stage=SMALL_SECOND_STAGE, hold_out_recorded=True)
    own, work, told = folders(tmp_path), tmp_path / "work", list[str]()
    records = measure_stage_folds(config, own, 2, work, told.append)
    speakers = [one["speaker"] for record in records for one in record["recordings"]]
    assert len(speakers) == len(set(speakers)) == 12
    for record in records:
        tested = {one["speaker"] for one in record["recordings"]}
        rows = {
            kind: read_manifest(work / f"fold-{record['fold']}" / "clips" / kind / MANIFEST)
            for kind in ("positives", "negatives")
        }
        assert {row.source for row in rows["positives"] if row.split is not Split.TEST} == set(speakers) - tested
        assert len([row for row in rows["positives"] if row.split is Split.VALIDATION]) == 1
        assert not {row.source for row in rows["negatives"]} & set(speakers)
        found = record["word"]["stages"]["both"]["points"]["default"]["people"]
        for condition in ("clean", "noisy"):
            assert found[condition]["of"] == len(tested)
            assert found[condition]["found"] == sum(one["found"]["default"][condition] for one in record["recordings"])
    told.clear()
    assert measure_stage_folds(config, own, 2, work, told.append) == json.loads(json.dumps(records))
    assert sum(line.startswith("using ") for line in told) == 2
    made = {"keyword": "updown", "seed": 0, "cut": [], "encoder_heard_the_word": False}
    page = stage_folds_page(
        made | {"folds": records, "command": "COMMAND", "date": "2020-01-01"}, figures="figures.json"
    )
    assert "12 recordings of 12 people" in page


@pytest.mark.parametrize("cut", [["nobody"], ["updown"]])
def test_cut_recordings_are_some_of_those_of_the_word(cut: list[str], tmp_path: Path) -> None:
    recipe = tmp_path / "updown.toml"
    recipe.write_text('keyword = "updown"\nsplit = "dealt"\n')
    write_world(tmp_path / "audio" / "speech_commands", speakers=12)
    for name in ("voices", "clips"):
        (tmp_path / name).mkdir()
    sources = Sources(tmp_path / "audio", tmp_path / "voices", tmp_path / "clips")
    with pytest.raises(ConfigError, match="--cut"):
        run_stage_folds(recipe, sources, 2, tmp_path, tmp_path, cut=cut, command="", report=print)


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
        "encoder_heard_the_word": True,
        "command": "COMMAND",
        "date": "2020-01-01",
        "folds": [
            fold(0, 1, recording(1, True, True), recording(2, True, False)),
            fold(1, 2, recording(3, False, False)),
        ],
    }
    page = stage_folds_page(json.loads(json.dumps(record)), figures="figures.json")
    assert "| 1 | 2 / 0 of 2 | 1 / 0 of 2 | `fa_per_hour=1` | 0.25 (0.01 to 1.39) in 4.0 h | 0.0 % |" in page
    assert "| **all** | 2 / 0 of 3, 67 / 0 % (4 to 100) | 1 / 0 of 3, 33 / 0 % (0 to 96) |  | 0.38 |  |" in page
    assert "| **whole clips** | 2 / 0 of 2" in page
    assert "may have heard them" in page
    assert "| updown/2.wav | fpr=0.03 at 10 dB, default, default at 10 dB |" in page
    assert "`COMMAND` on 2020-01-01" in page
    sentence = folds_sentence(record, page="folds.md")
    assert 'the recipe of "updown" finds at its defaults, `fa_per_hour=1`, 33 / 0 % (0 to 96) of all 3' in sentence
    assert "and 50 / 0 % (0 to 100) of the 2 that are whole. In the mean" in sentence
    assert "these models have 0.38 false accepts an hour (" in sentence
    assert page.count("The recipe of the included model trained 2 times") == 1
    earlier = record | {"earlier": "with less speech"}
    assert "An earlier recipe of the included model, with less speech, trained" in stage_folds_page(
        earlier, figures="f"
    )
    assert 'an earlier recipe of "updown"' in folds_sentence(earlier, page="folds.md")
