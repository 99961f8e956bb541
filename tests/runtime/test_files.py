"""A reader sees the old file or the complete new one."""

import json
from pathlib import Path

import pytest

from wakeword import ConfigError
from wakeword.files import new_folder, replacing, write_json


def test_a_finished_block_replaces_the_file_and_a_failed_one_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file.txt"
    with replacing(path) as temporary:
        temporary.write_text("old")

    def break_off() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    file, link = tmp_path / "file.txt", tmp_path / "link.txt"
    file.write_text("old")
    link.symlink_to(file)
    with replacing(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert file.read_text() == "new"


def test_a_device_is_written_to_and_not_replaced() -> None:
    with replacing("/dev/null") as target:
        assert target == Path("/dev/null")
        target.write_text("gone")
    assert not Path("/dev/null").is_file()


def test_a_folder_appears_completely_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "folder"

    def break_off() -> None:
        with new_folder(target) as folder:
            (folder / "half.txt").write_text("half")
            assert not target.exists()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert list(target.parent.iterdir()) == []
    with new_folder(target) as folder:
        (folder / "whole.txt").write_text("whole")
    (tmp_path / "usual").mkdir()
    assert target.stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert [path.name for path in target.iterdir()] == ["whole.txt"]


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), lambda path: path.touch()])
def test_an_existing_path_is_refused_as_a_new_folder(tmp_path: Path, make: object) -> None:
    make(tmp_path / "there")  # type: ignore[operator]
    with pytest.raises(ConfigError, match="does not exist yet"), new_folder(tmp_path / "there"):
        raise AssertionError("the block was entered")
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_json_is_written_completely_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    write_json(path, {"b": [1, 0.5], "a": "ß"})
    assert json.loads(path.read_text()) == {"b": [1, 0.5], "a": "ß"}
    assert path.read_text().startswith('{\n "b"')
    assert path.read_text().endswith("}\n")
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(path, {"a": float("nan")})
    assert json.loads(path.read_text())["a"] == "ß"
    assert [path.name for path in tmp_path.iterdir()] == ["figures.json"]
