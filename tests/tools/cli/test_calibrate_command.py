"""``wakeword calibrate`` gives the rates that ``wakeword scan`` then has, and refuses targets that it cannot measure."""

import dataclasses
import json
import shutil
from pathlib import Path

import onnx
import pytest
import soundfile
from support.builders import bursts, random_model, random_model_bytes, two_stage_bytes
from support.worlds import World, write_world

from wakeword.format.card import ModelCard
from wakeword.format.verifier_card import FLOOR
from wakeword.model.model import read_model
from wakeword_tools.measure.cards import write_card


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return write_world(tmp_path_factory.mktemp("world"), random_model("attention", 2), seed=1)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "marvin.onnx"
    path.write_bytes(random_model_bytes("attention", 2))
    return path


@pytest.fixture
def calibrate(cli, world: World, model: Path):
    """Calibrates the model on the clips of the world."""
    return lambda *arguments: cli(
        *("calibrate", "--model", model, "--positives", world.positives, "--negatives", world.negatives),
        *("--near-negatives", world.near_negatives, *arguments),
    )


def graph(path: Path) -> bytes:
    return onnx.load(path).graph.SerializeToString(deterministic=True)


def points(card: ModelCard) -> dict[str, float]:
    return {point.name: point.threshold for point in card.operating_points}


def test_scan_finds_exactly_what_calibrate_counted(cli, calibrate, world: World, model: Path, tmp_path: Path) -> None:
    before, old = graph(model), read_model(model).card
    targets = ("--fpr", "0.05", "--fa-per-hour", "55")
    ended = calibrate(*targets, "--background", world.background, "--report", tmp_path / "report.json")
    assert ended.status == 0, ended.err
    card = read_model(model).card
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["written"] is True
    assert card.default_point == report["default_point"] == "fa_per_hour=55"
    counts = {}
    for point in report["points"]:
        assert card.point(point["name"]).threshold == point["threshold"]
        assert point["fingerprint"] == report["fingerprint"]
        assert point["name"] in ended.out
        scanned = cli("scan", "--model", model, "--point", point["name"], "--format", "json", world.background)
        counts[point["name"]] = len(scanned.out.splitlines())
        assert counts[point["name"]] == point["false_accepts_per_hour"]["count"]
        # A clip is accepted by scan when it was counted.
        for folder, rate in ((world.negatives, "fpr_negatives"), (world.near_negatives, "fpr_near_negatives")):
            scanned = cli("scan", "--model", model, "--point", point["name"], "--format", "json", folder)
            assert len({json.loads(line)["file"] for line in scanned.out.splitlines()}) == point[rate]["count"]
    assert counts["fa_per_hour=55"] == 5
    assert set(points(card)) == {*points(old), "fpr=0.05", "fa_per_hour=55"}
    assert points(card)["fpr=0.03"] == points(old)["fpr=0.03"]
    assert graph(model) == before
    assert {path.name for path in tmp_path.iterdir()} == {"marvin.onnx", "report.json"}


def test_a_default_that_stays_and_fires_too_often_here_is_named(calibrate, world: World, model: Path) -> None:
    background = ("--fa-per-hour", "55", "--background", world.background)
    assert calibrate(*background).status == 0
    card = read_model(model).card
    for target, warned in ((0.5, True), (54.0, False)):
        # Of another room, where hardly anything fired; here it is five events in 0.16 h.
        elsewhere = dataclasses.replace(card.point("fa_per_hour=55"), name=f"fa_per_hour={target:g}", target=target)
        default = dataclasses.replace(elsewhere, assurance=0.9)
        others = [point for point in card.operating_points if point.kind == "fpr"]
        write_card(model, dataclasses.replace(card, operating_points=(default, *others), default_point=default.name))
        ended = calibrate(*background)
        assert ended.status == 0, ended.err
        assert f"listening uses {default.name}" in ended.err
        warning = (
            f"{default.name} fired 5 times in these 0.16 h of background, 31.7 times an hour (10.3 to 74.1 at 95 %)"
        )
        assert (
            f"{warning} where it promises 0.5; --default fa_per_hour=55 makes listening use the new point" in ended.err
        ) is warned
    assert "fired" not in calibrate(*background, "--default", "fa_per_hour=55").err


def test_a_dry_run_measures_and_leaves_the_model_unchanged(calibrate, model: Path, tmp_path: Path) -> None:
    before = model.read_bytes()
    ended = calibrate("--dry-run", "--fpr", "0.05", "--report", tmp_path / "r.json")
    assert ended.status == 0, ended.err
    assert "fpr=0.05" in ended.out
    assert model.read_bytes() == before
    assert json.loads((tmp_path / "r.json").read_text())["written"] is False


def test_of_background_alone_the_threshold_is_printed_and_scan_counts_the_same(
    cli, world: World, model: Path, tmp_path: Path
) -> None:
    before, report = model.read_bytes(), tmp_path / "report.json"
    room = ("calibrate", "--model", model, "--background", world.background, "--report", report)
    ended = cli(*room, "--fa-per-hour", "55")
    assert ended.status == 0, ended.err
    (point,) = json.loads(report.read_text())["points"]
    (_, printed), count = ended.out.split(":")[:2], point["false_accepts_per_hour"]["count"]
    used = ("scan", "--model", model, "--format", "json", world.background, "--threshold")
    assert len(cli(*used, printed.split()[1]).out.splitlines()) == count
    assert len(cli(*used, repr(point["threshold"])).out.splitlines()) == count > 0
    assert f"next: wakeword listen --model {model} --threshold {printed.split()[1]}" in ended.err
    assert model.read_bytes() == before


@pytest.mark.parametrize(
    ("given", "message"),
    [((), "expected --positives"), (("--background", ".", "--fpr", "0.1"), "need --positives")],
)
def test_what_background_alone_cannot_give_is_one_line(cli, given: tuple[str, ...], message: str) -> None:
    done = cli("calibrate", "--model", "marvin", *given)
    assert (done.status, done.out) == (2, "")
    assert message in done.err.splitlines()[-1]


def test_a_rate_that_needs_more_data_is_refused(calibrate, world: World, model: Path) -> None:
    before = model.read_bytes()
    ended = calibrate("--background", world.noise, "--fa-per-hour", "0.5", "--fpr", "0.1")
    assert ended.status == 1
    assert "expected at least 0.09 h of background, for 20 false accepts an hour at 80%, got 0.00 h" in ended.err
    assert model.read_bytes() == before, "one target that fails must leave the others unwritten"


def test_default_targets_are_those_that_the_recordings_allow(cli, world: World, model: Path) -> None:
    common = ("calibrate", "--model", model, "--positives", world.positives)
    assert cli(*common).status == 2
    few = cli(*common, "--negatives", world.negatives)
    assert few.status == 1
    assert "expected at least 100 negative clips for a false positive rate of 0.03, got 50" in few.err


def test_folders_that_were_swapped_are_noticed(cli, world: World, model: Path) -> None:
    before = model.read_bytes()
    ended = cli(
        "calibrate", "--model", model, "--positives", world.negatives, "--negatives", world.positives, "--fpr", "0.2"
    )
    assert ended.status == 1
    assert "swapped" in ended.err
    assert model.read_bytes() == before


def test_a_file_among_positives_and_negatives_is_refused_before_the_work(
    cli, world: World, model: Path, tmp_path: Path
) -> None:
    both = tmp_path / "both"
    shutil.copytree(world.negatives, both)
    ended = cli("calibrate", "--model", model, "--positives", both / "000.flac", "--negatives", both, "--fpr", "0.2")
    assert (ended.status, len(ended.err.splitlines())) == (1, 1)
    assert "000.flac" in ended.err


def test_bad_files_are_named_and_the_rest_is_calibrated_on(calibrate, world: World, model: Path) -> None:
    bad = world.negatives / "bad.wav"
    bad.write_bytes(b"RIFF, but no more")
    soundfile.write(world.positives / "empty.wav", bursts(0, {}), 16_000)
    try:
        ended = calibrate("--fpr", "0.05", "--dry-run")
    finally:
        bad.unlink()
        (world.positives / "empty.wav").unlink()
    assert ended.status == 0
    assert f"skipped: {bad}: " in ended.err
    assert "empty.wav: expected audio" in ended.err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--fpr", "1.5"], 2, "--fpr"),
        (["--fa-per-hour", "0"], 2, "--fa-per-hour"),
        (["--positives", "absent"], 1, "absent"),
        (["--model", "absent.onnx"], 1, "absent.onnx"),
    ],
)
def test_errors_are_reported_before_the_work(calibrate, arguments: list[str], status: int, message: str) -> None:
    ended = calibrate(*arguments)
    assert ended.status == status
    assert message in ended.err
    assert ended.out == ""


def test_a_default_that_is_not_a_point_is_refused(calibrate, model: Path) -> None:
    before = model.read_bytes()
    ended = calibrate("--fpr", "0.05", "--default", "fpr=0.5")
    assert ended.status == 1
    assert "expected a default point among" in ended.err
    assert model.read_bytes() == before


def test_a_model_of_two_stages_is_calibrated_on_its_fused_score(calibrate, model: Path) -> None:
    model.write_bytes(two_stage_bytes(random_model_bytes("attention", 2), gate=0.75))
    before = read_model(model).card
    ended = calibrate("--fpr", "0.05")
    assert ended.status == 0, ended.err
    after = read_model(model)
    assert after.second_stage is not None
    assert after.card.verifier == before.verifier
    assert points(after.card)["fpr=0.05"] >= FLOOR
    assert points(after.card)["fpr=0.05"] not in points(before).values()
