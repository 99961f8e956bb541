"""``wakeword evaluate`` reports, compares and draws."""

import json
from pathlib import Path

import pytest
from support.builders import random_model, random_model_bytes, two_stage_bytes
from support.worlds import World, write_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return write_world(tmp_path_factory.mktemp("world"), random_model("attention", 2))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "first.onnx"
    path.write_bytes(random_model_bytes("attention", 2))
    return path


@pytest.fixture
def evaluate(cli, world: World, model: Path):
    """Evaluates the model on the clips of the world."""
    return lambda *arguments: cli(
        *("evaluate", "--model", model, "--positives", world.positives, "--negatives", world.negatives),
        *("--near-negatives", world.near_negatives, *arguments),
    )


def test_one_model_in_text_json_and_picture(evaluate, world: World, tmp_path: Path) -> None:
    ended = evaluate(
        *(
            "--background",
            world.background,
            "--fa-per-hour",
            "55",
            "--snr",
            "20",
            "--snr",
            "-5",
            "--noise",
            world.noise,
        ),
        *("--report", tmp_path / "report.json", "--plot", tmp_path / "figure.png"),
    )
    assert ended.status == 0, ended.err
    report = json.loads((tmp_path / "report.json").read_text())
    assert {"keyword", "positives", "negatives", "near_negatives", "background_hours", "roc_auc"} <= set(report)
    assert report["positives"] == len(list(world.positives.iterdir())) == 33
    assert set(report["recall_at_fpr"]) == {"0.03", "0.05"}
    assert set(report["recall_at_fpr"]["0.03"]) == {"recall", "low", "high", "threshold"}
    assert set(report["recall_at_fa_per_hour"]) == {"55"}
    assert set(report["operating_points"]["fpr=0.03"]) >= {"threshold", "recall", "false_accepts_per_hour", "latency"}
    for line in (
        "ROC area",
        "recall at fpr=0.03",
        "near negatives alone, fpr=0.05",
        "recall at fa_per_hour=55",
        "-5 dB",
    ):
        assert line in ended.out
    assert set(report["snr"]) == {"20", "-5"}
    # With noise louder than the clips, the model cannot distinguish them.
    area = {snr: report["snr"][snr]["roc_auc"] for snr in report["snr"]}
    assert area["-5"] < area["20"] < report["roc_auc"] + 0.05
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_the_report_is_written_even_if_the_figure_cannot_be_drawn(evaluate, model: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    assert evaluate("--report", report, "--plot", model / "no" / "folder.png").status != 0
    assert "recall_at_fpr" in json.loads(report.read_text())


def test_two_models_are_compared_on_the_same_recordings(evaluate, tmp_path: Path) -> None:
    other = tmp_path / "second.onnx"
    other.write_bytes(random_model_bytes("max", 1))
    ended = evaluate("--model", other, "--report", tmp_path / "report.json")
    assert ended.status == 0, ended.err
    report = json.loads((tmp_path / "report.json").read_text())
    assert [one["model"] for one in report["models"]] == ["first", "second"]
    for one in report["differences"]:
        assert (one["model"], one["against"]) == ("second", "first")
        assert one["difference"] == one["second"] - one["first"]
        assert one["low"] <= one["high"]
    areas = [one["roc_auc"] for one in report["models"]]
    assert [report["differences"][0]["first"], report["differences"][0]["second"]] == areas
    assert "second - first" in ended.out


def test_errors_are_reported_before_the_work(evaluate, cli, world: World, models: Path, tmp_path: Path) -> None:
    assert cli("evaluate", "--positives", world.positives).status == 2
    assert evaluate("--snr", "5").status == 2
    assert evaluate("--model", models / "low.onnx", "--save-errors", tmp_path / "errors").status == 1
    refused = evaluate("--model", models / "low.onnx")
    assert refused.status == 1
    assert "models of one word" in refused.err
    (tmp_path / "there").mkdir()
    assert "does not exist yet" in evaluate("--save-errors", tmp_path / "there").err
    assert "no operating point 'fpr=0.5'" in evaluate("--save-errors", tmp_path / "new", "--point", "fpr=0.5").err
    assert evaluate("--fpr", "2").status == 2


def test_a_warning_names_thresholds_chosen_on_the_same_recordings(
    cli, evaluate, world: World, model: Path, tmp_path: Path
) -> None:
    folders = ("--positives", world.positives, "--negatives", world.negatives, "--near-negatives", world.near_negatives)
    assert cli("calibrate", "--model", model, *folders, "--fpr", "0.3").status == 0
    assert "warning: the thresholds of fpr=0.3 of first were chosen on exactly these recordings" in evaluate().err
    halves = [tmp_path / name for name in ("negatives", "near")]
    for half, whole in zip(halves, (world.negatives, world.near_negatives), strict=True):
        half.mkdir()
        for path in sorted(whole.iterdir())[::2]:
            (half / path.name).write_bytes(path.read_bytes())
    others = cli(
        *("evaluate", "--model", model, "--positives", world.positives),
        *("--negatives", halves[0], "--near-negatives", halves[1]),
    )
    assert others.status == 0
    assert "exactly these recordings" not in others.err


def test_the_first_stage_alone_can_be_evaluated(cli, world: World, tmp_path: Path) -> None:
    one, two = tmp_path / "one.onnx", tmp_path / "two.onnx"
    one.write_bytes(random_model_bytes("attention", 2))
    two.write_bytes(two_stage_bytes(random_model_bytes("attention", 2), gate=0.75))

    def report(*arguments: str | Path) -> dict[str, object]:
        out = tmp_path / "report.json"
        clips = ("--positives", world.positives, "--negatives", world.negatives, "--report", out)
        ended = cli("evaluate", *clips, *arguments)
        assert ended.status == 0, ended.err
        content = json.loads(out.read_text())
        return {key: content[key] for key in ("roc_auc", "recall_at_fpr", "operating_points")}

    alone = report("--model", two, "--no-verify")
    assert alone == report("--model", one)
    assert alone != report("--model", two)
