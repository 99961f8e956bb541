"""Folders that cannot be searched are named, the others are searched, and no tree is too deep."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from wakeword import AudioFileError
from wakeword.audio.audio_listing import audio_files, list_audio
from wakeword.base.listing import files_below


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """An empty folder of a user for whom permissions count, and who runs the test."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if os.geteuid() == 0:
            os.chown(folder, 65_534, 65_534)
            os.seteuid(65_534)
        try:
            yield folder
        finally:
            for below, folders, _ in os.walk(folder):
                for one in folders:
                    (Path(below) / one).chmod(0o700)
            if os.getuid() == 0:
                os.seteuid(0)


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


@pytest.mark.parametrize("mode", [0o000, 0o444, 0o111])
def test_a_folder_that_cannot_be_searched_is_named_and_the_others_are_searched(unprivileged: Path, mode: int) -> None:
    first, last = touch(unprivileged / "a.flac"), touch(unprivileged / "open" / "z.flac")
    secret = touch(unprivileged / "secret" / "deep" / "b.flac").parent.parent
    touch(secret / "c.flac")
    secret.chmod(mode)
    listing = list_audio(unprivileged)
    assert listing.files == [first, last]
    assert listing.unsearched[secret] == "Permission denied"
    with pytest.raises(AudioFileError, match=f"{secret}.*Permission denied"):
        audio_files(unprivileged)


def test_a_file_that_must_not_be_read_says_so(unprivileged: Path) -> None:
    from wakeword import FileSource

    path = touch(unprivileged / "secret.wav")
    path.chmod(0)
    with pytest.raises(AudioFileError, match=r"secret\.wav: .*Permission denied"):
        FileSource(path)
    inside = touch(unprivileged / "secret" / "a.wav")
    inside.parent.chmod(0)
    for call in (FileSource, audio_files):
        with pytest.raises(AudioFileError, match=r"a\.wav: .*Permission denied"):
            call(inside)


def test_a_tree_may_be_deeper_than_pythons_stack(tmp_path: Path) -> None:
    names = ["d"] * 1_200
    here = os.getcwd()  # noqa: PTH109
    try:
        os.chdir(tmp_path)
        for name in names:
            os.mkdir(name)  # noqa: PTH102
            os.chdir(name)
        Path("deep.wav").touch()
    finally:
        os.chdir(here)
    deep = tmp_path.joinpath(*names, "deep.wav")
    assert audio_files(tmp_path) == [deep]
    assert files_below(tmp_path, lambda name: name == "absent.wav").files == []
    # pytest would remove the tree recursively.
    os.unlink(deep)  # noqa: PTH108
    for count in range(len(names), 0, -1):
        tmp_path.joinpath(*names[:count]).rmdir()


def test_links_to_folders_are_not_followed_and_links_to_nothing_are_left_out(tmp_path: Path) -> None:
    target = touch(tmp_path / "real" / "a.wav")
    (tmp_path / "circle").symlink_to(tmp_path)
    (tmp_path / "nothing.wav").symlink_to(tmp_path / "absent.wav")
    (tmp_path / "self.wav").symlink_to(tmp_path / "self.wav")
    (tmp_path / "link.wav").symlink_to(target)
    listing = list_audio(tmp_path)
    assert (listing.files, listing.unsearched) == ([tmp_path / "link.wav", target], {})


def test_an_entry_that_cannot_be_looked_at_leaves_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = touch(tmp_path / "good" / "a.wav")
    touch(tmp_path / "bad" / "b.wav")
    scandir = os.scandir

    class Broken:
        name = "b.wav"

        def is_dir(self, *, follow_symlinks: bool) -> bool:
            raise OSError(errno.EIO, "Input/output error")

    def scan(folder: str) -> AbstractContextManager[Iterator[object]]:
        return nullcontext(iter([Broken()])) if folder.endswith("bad") else scandir(folder)

    monkeypatch.setattr(os, "scandir", scan)
    listing = list_audio(tmp_path)
    assert (listing.files, listing.unsearched) == ([good], {tmp_path / "bad": "Input/output error"})
