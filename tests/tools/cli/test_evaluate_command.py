"""``wakeword evaluate`` reports, compares and draws."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import soundfile
from support.builders import bursts, random_model, random_model_bytes, two_stage_bytes
from support.commands import Result
from support.worlds import World, write_world

from wakeword.cli.app import CROSS_PACKAGE


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


def test_a_model_may_be_the_default_or_any_text(
    cli,  # type: ignore[no-untyped-def]
    world: World,
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(CROSS_PACKAGE, "model_of_text", SimpleNamespace(load=lambda: lambda text, language: model))
    recordings = ("--positives", world.positives, "--negatives", world.negatives)
    for options, named in (((), "jarvis"), (("--say", "hey zorvella"), "first")):
        ended = cli("evaluate", *options, *recordings, "--json")
        assert ended.status == 0, ended.err
        assert json.loads(ended.out)["model"] == named


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
        *("--report", tmp_path / "report.json"),
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
        "recall at fa_per_hour=55",
        "-5 dB",
    ):
        assert line in ended.out
    assert set(report["snr"]) == {"20", "-5"}
    # With noise louder than the clips, the model cannot distinguish them.
    area = {snr: report["snr"][snr]["roc_auc"] for snr in report["snr"]}
    assert area["-5"] < area["20"] < report["roc_auc"] + 0.05


def test_errors_are_reported_before_the_work(evaluate, cli, world: World, models: Path, tmp_path: Path) -> None:
    assert cli("evaluate").status == 2
    assert evaluate("--snr", "5").status == 2
    refused = evaluate("--model", models / "low.onnx")
    assert refused.status == 2
    assert "wakeword compare" in refused.err
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


@pytest.fixture
def few(tmp_path: Path) -> tuple[Path, Path]:
    """Folders of three positives and three negatives."""
    folders = tmp_path / "yes", tmp_path / "no"
    for folder, kind in zip(folders, ("low", "high"), strict=True):
        folder.mkdir()
        for seed in range(3):
            soundfile.write(folder / f"{seed}.wav", bursts(1.1, {0.4: kind}, seed=seed), 16_000)
    return folders


def test_an_evaluation_is_the_same_in_processes(
    cli, model: Path, few: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(name: str, *options: str) -> Result:
        return cli(
            *("evaluate", "--model", model, "--positives", few[0], "--negatives", few[1]),
            *("--report", tmp_path / name, *options),
        )

    assert run("one.json", "--jobs", "1").status == 0
    assert run("two.json", "--jobs", "2").status == 0
    texts = {(tmp_path / f"{name}.json").read_text() for name in ("one", "two")}
    assert len(texts) == 1


def test_recordings_count_the_same_wherever_they_are(cli, model: Path, few: tuple[Path, Path], tmp_path: Path) -> None:
    def report(positives: object, negatives: object) -> str:
        path = tmp_path / "report.json"
        ended = cli(
            *("evaluate", "--model", model, "--positives", positives, "--negatives", negatives),
            *("--report", path, "--jobs", "1"),
        )
        assert ended.status == 0, ended.err
        return path.read_text()

    lists = []
    for folder in few:
        lists.append(folder.with_suffix(".txt"))
        lists[-1].write_text("".join(f"{path}\n" for path in sorted(folder.iterdir())))
    wanted = report(*few)
    assert report(*(f"@{path}" for path in lists)) == wanted
    assert report(few[0], f"{few[1]}/*.wav") == wanted
    ended = cli("evaluate", "--model", model, "--positives", few[0], "--negatives", "@nothing.txt")
    assert (ended.status, len(ended.err.splitlines())) == (1, 1)
    assert "nothing.txt" in ended.err


def test_json_is_the_report(evaluate, tmp_path: Path) -> None:
    done = evaluate("--report", tmp_path / "report.json", "--json")
    assert done.status == 0, done.err
    assert json.loads(done.out) == json.loads((tmp_path / "report.json").read_text())
