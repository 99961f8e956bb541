"""``wakeword train --from``: thresholds are chosen again, and recall is of models that were not trained on the take."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.builders import band_model_bytes, bursts, random_model_bytes

from wakeword.base.errors import ConfigError, DataError
from wakeword.format.operating_point import OperatingPoint
from wakeword.format.point_warnings import is_supported, warnings_of
from wakeword.model.installed import shipped_models
from wakeword.model.model import read_model
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.measure.point_choice import write_points
from wakeword_tools.measure.recordings import score_files
from wakeword_train.data.clips import Clip
from wakeword_train.display import ShownEvents
from wakeword_train.enrol import EnrolConfig, Enrolment, Fold
from wakeword_train.enrolment import PHASES, base_model, enrolled_points
from wakeword_train.points import default_point
from wakeword_train.training_run import Phase, TrainingEvents


def clips(folder: Path, kind: Kind, count: int, band: str, *, seed: int, level: float = 1.0) -> list[Clip]:
    folder.mkdir()
    found = []
    for number in range(count):
        path = folder / f"{number:03}.wav"
        noise = 0.02 * np.random.default_rng(seed + number).standard_normal(24_000).astype(np.float32)
        soundfile.write(path, level * bursts(1.5, {0.6: band}, seed=seed + number) + noise, 16_000)
        found.append(Clip(path, kind, band, path.stem, Split.VALIDATION))
    return found


@pytest.fixture
def enrolment(tmp_path: Path) -> tuple[Path, Enrolment]:
    """A base of random weights, and fine-tuned models, of which one fold has learnt the word and one has not."""
    files = {"base": random_model_bytes("mean"), "knows": band_model_bytes("marvin", 1)}
    files["deaf"] = band_model_bytes("marvin", -1)
    for name, content in files.items():
        (tmp_path / f"{name}.onnx").write_bytes(content)
    takes = [clip.path for clip in clips(tmp_path / "takes", Kind.POSITIVE, 8, "low", seed=0)]
    negatives = clips(tmp_path / "negatives", Kind.NEGATIVE, 100, "high", seed=100, level=0.3)
    folds = [Fold(tmp_path / "knows.onnx", takes[:5]), Fold(tmp_path / "deaf.onnx", takes[5:])]
    return tmp_path / "base.onnx", Enrolment(tmp_path / "knows.onnx", folds, negatives)


def test_recall_is_that_of_the_folds_and_thresholds_are_those_of_the_model(enrolment: tuple[Path, Enrolment]) -> None:
    base, enrolled = enrolment
    messages: list[str] = []
    points = {point.name: point for point in enrolled_points(base, enrolled, TrainingEvents(messages.append))}
    assert set(points) == {"fpr=0.03", "fpr=0.05"}
    point = points["fpr=0.03"]
    # One of the two folds finds its five takes, the other none of its three; the model itself finds all.
    assert point.recall == 5 / 8
    assert point.positives == 8
    assert point.recall_low < 5 / 8 < point.recall_high
    files = {Kind.POSITIVE: enrolled.folds[0].held_out, Kind.NEGATIVE: [clip.path for clip in enrolled.negatives]}
    scores = score_files([read_model(enrolled.path)], files, warn=messages.append).sets[0]
    assert (scores.words >= point.threshold).sum() <= 3
    assert (scores.positives >= point.threshold).all()
    assert any("5 of 8 takes found when held out" in line for line in messages)


def test_without_background_no_rate_an_hour_of_the_base_is_claimed(enrolment: tuple[Path, Enrolment]) -> None:
    base, enrolled = enrolment
    hourly = OperatingPoint("fa_per_hour=0.5", "fa_per_hour", 0.5, 0.7, 0.9, 0.8, 1.0, "20 h", assurance=0.99)
    write_points(base, [hourly])
    assert read_model(base).card.default_point == "fa_per_hour=0.5"
    messages: list[str] = []
    points = enrolled_points(base, enrolled, TrainingEvents(messages.append))
    assert {point.kind for point in points} == {"fpr"}
    assert any("the points of the base model for that do not hold" in line for line in messages)
    default = default_point(points, TrainingEvents(messages.append))
    assert default.name == "fpr=0.03"
    assert "without enough --background the default point is" in messages[-1]
    assert any("not measured on background" in line for line in warnings_of([("marvin", default)]))


def test_the_default_without_background_is_the_strictest_that_is_supported(
    enrolment: tuple[Path, Enrolment], tmp_path: Path
) -> None:
    base, enrolled = enrolment
    more = clips(tmp_path / "more", Kind.NEGATIVE, 210, "high", seed=300, level=0.3)
    many = Enrolment(enrolled.path, enrolled.folds, [*enrolled.negatives, *more])
    points = enrolled_points(base, many, TrainingEvents())
    assert [point.name for point in points] == ["fpr=0.01", "fpr=0.03", "fpr=0.05"]
    assert points[0].assurance is not None
    assert points[0].assurance >= 0.8
    thresholds = [point.threshold for point in points]
    assert thresholds == sorted(thresholds, reverse=True)
    assert default_point(points, TrainingEvents()) == points[0]


def test_background_gives_a_rate_that_it_supports(enrolment: tuple[Path, Enrolment], tmp_path: Path) -> None:
    base, enrolled = enrolment
    path = tmp_path / "talk.wav"
    soundfile.write(path, bursts(400, {at + 0.5: "high" for at in range(0, 400, 40)}), 16_000)
    talk = Clip(path, Kind.BACKGROUND, "talk", "talk", Split.VALIDATION)
    messages: list[str] = []
    points = enrolled_points(
        base, Enrolment(enrolled.path, enrolled.folds, [*enrolled.negatives, talk]), TrainingEvents(messages.append)
    )
    (hourly,) = [point for point in points if point.kind == "fa_per_hour"]
    assert (hourly.name, hourly.recall) == ("fa_per_hour=20", 5 / 8)
    assert is_supported(hourly)
    assert default_point(points, TrainingEvents()) == hourly
    assert any("0.11 h of background support only fa_per_hour=20 at 80%, not fa_per_hour=0.5" in m for m in messages)


def test_without_enough_negatives_there_are_no_points_and_a_report(enrolment: tuple[Path, Enrolment]) -> None:
    base, enrolled = enrolment
    messages: list[str] = []
    few = Enrolment(enrolled.path, enrolled.folds, enrolled.negatives[:20])
    assert enrolled_points(base, few, TrainingEvents(messages.append)) == []
    assert any("at least 100 negative clips" in line for line in messages)


def test_takes_of_something_else_make_no_model(enrolment: tuple[Path, Enrolment]) -> None:
    base, enrolled = enrolment
    deaf = Enrolment(base.parent / "deaf.onnx", enrolled.folds, enrolled.negatives)
    with pytest.raises(DataError, match="8 recordings in which nothing sounds like it"):
        enrolled_points(base, deaf, TrainingEvents())


def test_a_base_is_a_shipped_keyword_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.onnx"
    path.touch()
    assert base_model(str(path)) == path
    for keyword, shipped in shipped_models().items():
        assert base_model(keyword) == shipped
    with pytest.raises(ConfigError, match="no model for keyword 'absent'"):
        base_model("absent")


def test_a_model_is_fine_tuned_on_takes_and_calibrated(cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A learning rate so low that the base, which scores correctly, does not change: no threshold depends on the training.
    slow = partial(EnrolConfig, takes=16, others=32, epochs=(1, 1), learning_rates=(1e-7, 1e-7), folds=2)
    monkeypatch.setattr("wakeword_train.enrolment.EnrolConfig", slow)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base.onnx").write_bytes(band_model_bytes("marvin", 1))
    clips(tmp_path / "takes", Kind.POSITIVE, 4, "low", seed=0)
    clips(tmp_path / "others", Kind.NEGATIVE, 420, "high", seed=100)
    (tmp_path / "near.txt").write_text("martin\nmarble\nmargin\ncarvin\nmart\n")
    plan = 'near_negative_texts = "near.txt"\nnegative_texts = "near.txt"\nnear_negatives = 220\nnegatives = 4\n'
    (tmp_path / "few.toml").write_text(f"[synthesis]\n{plan}")
    options = ["--positives", "takes", "--negatives", "others", "--config", "few.toml", "--seed", "5"]
    told: list[tuple[Phase, float]] = []
    monkeypatch.setattr(ShownEvents, "phase", lambda self, phase, done: told.append((phase, done)))
    done = cli("train", "--from", "base.onnx", *options)
    assert (done.status, done.out) == (0, "marvin.onnx\n"), done.err
    card = read_model("marvin.onnx").card
    assert card.training["source"].endswith("4 own recordings")
    assert card.training["seed"] == 5
    # Of each kind some 40 clips are held out: enough for 5 %, not for 3 %.
    assert [(point.name, point.positives) for point in card.operating_points] == [("fpr=0.05", 4)]
    assert "fpr=0.05: 4 of 4 takes found when held out, 4 before" in done.err
    assert "warning: at fpr=0.05, where it will listen, fine-tuning finds no more of these takes" in done.err
    # It ends as the training of a word does.
    assert "'marvin' is weak: finds all of 10 of your takes, each tried by a model that never heard it" in done.err
    assert "try it: wakeword listen --model marvin.onnx" in done.err
    # Each step is told of as it goes on, in this order, and the last one to its end.
    assert list(dict.fromkeys(phase for phase, _ in told)) == list(PHASES)
    assert told[-1][1] == 1
    assert len(set(told)) >= 20
    assert "fpr=0.03: expected at least 50 clips of other words" in done.err
    assert "without --negatives" not in done.err
    # Without recorded negatives there is a warning.
    assert "warning: without --negatives" in cli("train", "--from", "base.onnx", *options[:2], *options[4:]).err


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (["--from", "absent"], 1, "absent"),
        (["high", "--from", "low.onnx"], 1, "leave out --from"),
        (["--from", "low.onnx"], 1, "3 or more recordings"),
        (["--from", "low.onnx", "--data", "."], 2, "--data"),
    ],
)
def test_errors_are_reported_before_any_work(
    cli, models: Path, tmp_path: Path, arguments: list[str], status: int, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "low.onnx").write_bytes((models / "low.onnx").read_bytes())
    (tmp_path / "clips").mkdir()
    soundfile.write(tmp_path / "clips" / "low-0001.wav", bursts(1, {0.4: "low"}), 16_000)
    done = cli("train", "--positives", "clips", *arguments)
    assert (done.status, done.out) == (status, "")
    assert expected in done.err
    assert not list(tmp_path.glob("runs/**/*.wav"))
