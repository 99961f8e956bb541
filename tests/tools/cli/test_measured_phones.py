"""``wakeword evaluate`` and ``calibrate`` measure recordings of phones as they measure others."""

from pathlib import Path

import pytest
from support.builders import random_model, random_model_bytes
from support.phones import as_on_a_phone, needs_decoder, without_decoders
from support.worlds import World, write_world

from wakeword.base.errors import LeftOutError
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.selection import find_files


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A small world with half of its positives, and a recording of background, as a phone makes them."""
    world = write_world(tmp_path / "world", random_model("attention", 2), clips=40)
    for clip in [*sorted(world.positives.iterdir())[::2], world.background / "a.flac"]:
        as_on_a_phone(clip.with_suffix(".m4a"), clip)
        clip.unlink()
    return world


@needs_decoder
@pytest.mark.parametrize("command", ["evaluate", "calibrate"])
def test_all_of_them_are_measured(cli, world: World, tmp_path: Path, command: str) -> None:
    (tmp_path / "marvin.onnx").write_bytes(random_model_bytes("attention", 2))
    ended = cli(
        *(command, "--model", tmp_path / "marvin.onnx", "--positives", world.positives, "--negatives", world.negatives),
        *("--near-negatives", world.near_negatives),
        *(("--dry-run", "--fpr", "0.3") if command == "calibrate" else ("--background", world.background)),
    )
    assert ended.status == 0, ended.err
    assert "10 positives" in ended.out + ended.err
    assert "skipped" not in ended.err


def test_what_cannot_be_read_is_left_out_with_a_warning_but_never_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_decoders(monkeypatch)
    for name in ("a.m4a", "b.wav"):
        (tmp_path / name).touch()
    reports: list[str] = []
    found = find_files({Kind.POSITIVE: [str(tmp_path)]}, report=reports.append)
    assert [one.name for one in found[Kind.POSITIVE]] == [str(tmp_path / "b.wav")]
    assert len(reports) == 1
    assert "left out 1 recording: a.m4a" in reports[0]
    (tmp_path / "b.wav").unlink()
    with pytest.raises(LeftOutError, match=r"a\.m4a"):
        find_files({Kind.POSITIVE: [str(tmp_path)]}, report=reports.append)
