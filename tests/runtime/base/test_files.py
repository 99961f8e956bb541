"""A reader sees the old file or the complete new one."""

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from wakeword import ConfigError
from wakeword.base.exclusive import resumable_folder
from wakeword.base.files import new_folder, read_limited, remove_abandoned, replacing, write_json


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


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o664])
def test_who_may_read_a_file_stays(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "model.onnx"
    path.write_text("old")
    path.chmod(mode)
    with replacing(path) as temporary:
        temporary.write_text("new")
    assert (path.read_text(), path.stat().st_mode & 0o7777) == ("new", mode)


def test_links_in_a_circle_are_refused_and_stay(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises(OSError, match=r"levels of symbolic links.*one") as caught, replacing(tmp_path / "one"):
        pass
    assert caught.value.errno == errno.ELOOP
    with pytest.raises(ConfigError, match="does not exist yet"), new_folder(tmp_path / "one"):
        pass
    assert sorted(file.name for file in tmp_path.iterdir()) == ["one", "two"]


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


def test_two_runs_never_make_one_folder(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="needs locks of files")
    target = tmp_path / "folder"
    with resumable_folder(target, "content", resume=False) as folder:
        (folder / "half.txt").write_text("half")
        for resume in (False, True):
            with (
                pytest.raises(ConfigError, match=r"folder: .* another run writes it"),
                resumable_folder(target, "content", resume=resume),
            ):
                raise AssertionError("the block was entered")
        assert (folder / "half.txt").read_text() == "half"
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


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


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_reported_with_the_name_of_the_file(tmp_path: Path, code: int) -> None:
    def write() -> None:
        with replacing(tmp_path / "figures.csv"):
            raise OSError(code, "full")

    with pytest.raises(OSError, match="full") as failed:
        write()
    assert (failed.value.errno, failed.value.filename) == (code, str(tmp_path / "figures.csv"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "sendfile"), reason="copies are made otherwise here")
def test_a_copy_onto_a_full_disk_is_reported_with_the_name_of_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr("os.sendfile", full)
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("content")
    with pytest.raises(OSError, match="full") as failed, replacing(target) as temporary:
        shutil.copyfile(source, temporary)
    assert failed.value.filename == str(target)
    assert list(tmp_path.iterdir()) == [source]


def test_a_full_device_is_named() -> None:
    def write() -> None:
        with replacing("/dev/full") as target:
            target.write_text("figures")

    with pytest.raises(OSError, match="No space") as failed:
        write()
    assert failed.value.filename == "/dev/full"


def test_a_failure_names_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, dir: Path, prefix: str, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(dir / f"{prefix}12345678"))

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    for make in (replacing, new_folder):
        with pytest.raises(PermissionError) as failed, make(tmp_path / "x.csv"):
            raise AssertionError("the block was entered")
        assert failed.value.filename == str(tmp_path / "x.csv")
        assert "expected a place that can be written to, got: Permission denied" in str(failed.value)


def test_a_folder_that_cannot_be_made_is_named_with_what_was_expected() -> None:
    for make in (replacing, new_folder):
        with (
            pytest.raises(OSError, match=r"expected a place that can be written to.*/dev/null/x"),
            make(Path("/dev/null/x/y.csv")),
        ):
            raise AssertionError("the block was entered")


def test_failures_of_other_files_keep_their_name(tmp_path: Path) -> None:
    def read() -> None:
        with replacing(tmp_path / "x.csv"):
            (tmp_path / "nowhere").read_text()

    with pytest.raises(FileNotFoundError, match="nowhere"):
        read()


def test_files_that_a_killed_process_left_are_removed_and_no_others(tmp_path: Path) -> None:
    target = tmp_path / "x.csv"
    program = f"""if True:
        import os, signal
        from wakeword.base.files import replacing
        with replacing({str(target)!r}) as temporary:
            temporary.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    """
    subprocess.run([sys.executable, "-c", program], check=False)
    assert [path.suffix for path in tmp_path.iterdir()] == [".csv"]
    others = [tmp_path / ".x.csv.notatemporary.csv", tmp_path / ".y.csv.abcd_123.csv", tmp_path / "x.csv.abcd_123.csv"]
    for other in others:
        other.touch()
    remove_abandoned([target])
    assert set(tmp_path.iterdir()) == set(others)


def test_no_more_than_the_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(100))
    assert read_limited(path, 100) == bytes(100)
    with pytest.raises(ValueError, match="at most 99 bytes, got 100"):
        read_limited(path, 99)
    with pytest.raises(ValueError, match="a pipe, a device or a socket"):
        read_limited("/dev/zero", 99)
    with pytest.raises(IsADirectoryError):
        read_limited(tmp_path, 99)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_a_file_that_is_refused_stays_closed(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(bytes(100))
    before = len(list(Path("/proc/self/fd").iterdir()))
    for path in (tmp_path, tmp_path / "large"):
        for _ in range(3):
            with pytest.raises((OSError, ValueError)):
                read_limited(path, 99)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
