"""A reader sees the old file or the whole new one."""

from pathlib import Path

import pytest

from wakeword.files import replacing


def test_a_finished_block_replaces_and_a_broken_one_leaves_all_as_it_was(tmp_path: Path) -> None:
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
