"""``wakeword compare``."""

import dataclasses
import json
from pathlib import Path

import pytest
from support.builders import band_model_bytes, random_model, random_model_bytes, with_card
from support.worlds import World, write_world

from wakeword.format.operating_point import Rate
from wakeword_tools.measure.reading import pcm_blocks


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return write_world(tmp_path_factory.mktemp("world"), random_model())


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.onnx"
    path.write_bytes(random_model_bytes())
    return path


def test_a_model_is_no_better_than_itself(cli, old: Path, world: World, tmp_path: Path) -> None:
    done = cli(
        *("compare", old, old, "--positives", world.positives, "--negatives", world.negatives),
        *("--background", world.background, "--report", tmp_path / "report.json"),
    )
    assert done.status == 0, done.err
    assert "A tie: no recording tells them apart" in done.out
    content = json.loads((tmp_path / "report.json").read_text())
    assert [one["name"] for one in content["differences"]] == ["recall", "FPR, negatives", "FA per hour"]
    for one in content["differences"]:
        assert (one["difference"], one["only_first"], one["only_second"], one["gain"]) == (0, 0, 0, 0)
        assert one["low"] < 0 < one["high"]


def test_a_model_that_finds_more_is_not_called_better_for_that_alone(
    cli, old: Path, world: World, tmp_path: Path
) -> None:
    # It fires on tones only, and finds nothing.
    new = tmp_path / "new.onnx"
    new.write_bytes(band_model_bytes("marvin", -1))
    for pair in ((old, new), (new, old)):
        done = cli("compare", *pair, "--positives", world.positives)
        assert done.status == 0
        assert "cannot tell which is better" in done.out
        assert "but only recall was compared" in done.out


def test_a_broken_promise_is_the_first_line(cli, old: Path, world: World, tmp_path: Path) -> None:
    card = random_model().card
    lax = dataclasses.replace(card.point(), name="fa_per_hour=1", kind="fa_per_hour", target=1.0, threshold=1e-9)
    new, report = tmp_path / "new.onnx", tmp_path / "report.json"
    new.write_bytes(
        with_card(random_model_bytes(), dataclasses.replace(card, operating_points=(lax,), default_point=lax.name))
    )
    done = cli(
        *("compare", old, new, "--positives", world.positives, "--background", world.background, "--report", report)
    )
    assert done.status == 0, done.err
    assert done.out.startswith("NEW breaks its promise: it fired ")
    assert "NEW is better" not in done.out
    content = json.loads(report.read_text())
    assert content["promises"]["old"] is None
    assert content["promises"]["new"]["broken"] is True
    assert content["outcome"] != "better"


def test_models_of_different_words_are_refused(cli, old: Path, world: World, models: Path) -> None:
    done = cli("compare", old, models / "low.onnx", "--positives", world.positives)
    assert (done.status, done.out) == (1, "")
    assert "models of one word" in done.err
    assert done.err.count("\n") == 1


def test_a_point_that_fires_often_is_warned_of(cli, old: Path, world: World, tmp_path: Path) -> None:
    card = random_model().card
    often = dataclasses.replace(card.point(), false_accepts_per_hour=Rate(40.0, 20.0, 80.0, 20, 0.5))
    new = tmp_path / "new.onnx"
    new.write_bytes(with_card(random_model_bytes(), dataclasses.replace(card, operating_points=(often,))))
    done = cli("compare", old, new, "--positives", world.positives)
    assert done.status == 0
    assert "warning: NEW: " in done.err
    assert "fired 40 times an hour" in done.err


def test_a_point_that_one_model_lacks_is_refused_by_the_name_of_the_model(
    cli, old: Path, world: World, tmp_path: Path
) -> None:
    card = random_model().card
    other = dataclasses.replace(card.point(), name="fpr=0.5", target=0.5)
    new = tmp_path / "new.onnx"
    new.write_bytes(
        with_card(random_model_bytes(), dataclasses.replace(card, operating_points=(other,), default_point=other.name))
    )
    done = cli("compare", old, new, "--positives", world.positives, "--point", card.point().name)
    assert (done.status, done.out) == (1, "")
    assert f"NEW ({new}): model 'marvin' has no operating point" in done.err


def test_a_laxer_threshold_is_not_taken_for_a_better_model(cli, old: Path, world: World, tmp_path: Path) -> None:
    card = random_model().card
    lax = dataclasses.replace(card.point(), name="fpr=0.5", target=0.5, threshold=card.point().threshold / 2)
    new = tmp_path / "new.onnx"
    new.write_bytes(
        with_card(random_model_bytes(), dataclasses.replace(card, operating_points=(lax,), default_point=lax.name))
    )
    alone = cli("compare", old, new, "--positives", world.positives)
    assert "OLD is at fpr=0.03 and NEW at fpr=0.5" in alone.err
    assert "better: " not in alone.out.replace("cannot tell which is better: ", "")
    both = cli("compare", old, old, "--positives", world.positives, "--background", world.background)
    assert "warning: OLD" not in both.err
    assert "only recall" not in both.out


def test_json_is_the_report(cli, old: Path, world: World, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = cli("compare", old, old, "--positives", world.positives, "--report", report, "--json")
    assert done.status == 0, done.err
    assert json.loads(done.out) == json.loads(report.read_text())


def test_a_comparison_that_was_interrupted_goes_on(
    cli, old: Path, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report, read = tmp_path / "report.json", []
    files = sorted(world.positives.iterdir())

    def interrupted(path: Path) -> object:
        read.append(path)
        if len(read) == len(files):
            raise KeyboardInterrupt
        return pcm_blocks(path)

    options = ("compare", old, old, "--positives", world.positives, "--report", report)
    monkeypatch.setattr("wakeword_tools.measure.score_work.pcm_blocks", interrupted)
    assert cli(*options).status != 0
    assert [path.name for path in tmp_path.glob("report*")] == ["report.json.journal"]
    assert cli(*options, "--resume").status == 0
    assert len(read) == len(files) + 1  # the one that was interrupted
    assert [path.name for path in tmp_path.glob("report*")] == ["report.json"]
    assert cli(*options[:-2], "--resume").status == 2
