"""Models that learn at night: when, which, and what is said of each."""

from datetime import datetime
from pathlib import Path

import pytest

from wakeword import ConfigError
from wakeword_serve.nightly import Nightly, seconds_to_night


@pytest.mark.parametrize(
    ("now", "hours"),
    [((2, 59, 30), 1 / 120), ((3, 0, 0), 24), ((3, 0, 1), 24 - 1 / 3600), ((23, 0, 0), 4), ((0, 0, 0), 3)],
)
def test_one_night_is_one_run(now: tuple[int, int, int], hours: float) -> None:
    assert seconds_to_night(datetime(2024, 5, 1, *now)) == pytest.approx(3600 * hours)


def test_each_model_of_the_folder_is_tried_and_the_reason_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="improve needs the packages of training")
    monkeypatch.setenv("WAKEWORD_HOME", str(tmp_path / "home"))
    for name in ("damaged.onnx", ".unfinished.onnx", "notes.txt"):
        (tmp_path / name).write_bytes(b"no model")
    lines: list[str] = []
    nightly = Nightly(tmp_path, ["--threshold", "0.5"], lines.append)
    nightly.improve_all()
    assert len(lines) == 1
    assert lines[0].startswith(f"{tmp_path / 'damaged.onnx'}: not an ONNX model")
    assert (tmp_path / "damaged.onnx").read_bytes() == b"no model"
    nightly.close()
    nightly.improve_all()
    assert len(lines) == 1


def test_no_module_of_the_current_folder_runs_at_night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAKEWORD_HOME", str(tmp_path / "home"))
    (tmp_path / "damaged.onnx").write_bytes(b"no model")
    (tmp_path / "typer.py").write_text("open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    Nightly(tmp_path, [], lambda line: None).improve_all()
    assert not (tmp_path / "ran").exists()


def test_it_needs_what_it_learns_from_and_a_folder_that_it_may_change(cli) -> None:
    shown = cli("serve", "--improve", "nightly", "--keep", "audio")
    assert shown.status == 2
    assert "--improve needs --keep, and --models DIR" in shown.err


def test_without_the_packages_of_training_it_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"packages are missing: .*torch, .*; install torch first"):
        Nightly(tmp_path, [], lambda line: None).start()
