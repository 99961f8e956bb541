"""Speech Commands is unpacked only if it is the archive of the known digest, and only into its folder."""

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from wakeword import DataError
from wakeword_train.data import clips
from wakeword_train.data.clips import VERSION, download_speech_commands


def archive(path: Path, *names: str) -> str:
    """An archive of members with these names at ``path``; its digest."""
    with tarfile.open(path, "w:gz") as members:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = 5
            members.addfile(member, io.BytesIO(b"audio"))
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clips, "download_url_to_file", lambda *_, **__: pytest.fail("the network was used"))


def test_the_archive_is_downloaded_by_its_digest_and_unpacked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = archive(tmp_path / "source.tar.gz", "./yes/0.wav")
    calls = []

    def fetch(url: str, target: str, *, hash_prefix: str) -> None:
        calls.append((url, hash_prefix))
        Path(target).write_bytes((tmp_path / "source.tar.gz").read_bytes())

    monkeypatch.setattr(clips, "download_url_to_file", fetch)
    monkeypatch.setattr(clips, "DIGEST", digest)
    for _ in range(2):
        folder = download_speech_commands(tmp_path / "new")
        assert folder == tmp_path / "new" / "SpeechCommands" / VERSION
        assert (folder / "yes" / "0.wav").read_bytes() == b"audio"
    assert calls == [(f"http://download.tensorflow.org/data/{VERSION}.tar.gz", digest)]


def test_an_archive_that_is_there_already_is_verified_too(tmp_path: Path) -> None:
    archive(tmp_path / f"{VERSION}.tar.gz", "./yes/0.wav")
    with pytest.raises(DataError, match=r"archive of SHA-256 af14739ee7dc3114\.\.\., got .*delete it"):
        download_speech_commands(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [f"{VERSION}.tar.gz"]


@pytest.mark.parametrize("name", ["../../planted.txt", "yes/../../../planted.txt"])
def test_nothing_is_unpacked_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    root = tmp_path / "data"
    root.mkdir()
    digest = archive(root / f"{VERSION}.tar.gz", "yes/0.wav", name)
    monkeypatch.setattr(clips, "DIGEST", digest)
    with pytest.raises(DataError, match="could not unpack it"):
        download_speech_commands(root)
    assert list(tmp_path.rglob("planted.txt")) == []
    assert not (root / "SpeechCommands" / VERSION).exists()


def test_a_name_from_the_root_of_the_disk_is_one_inside_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "data"
    root.mkdir()
    monkeypatch.setattr(clips, "DIGEST", archive(root / f"{VERSION}.tar.gz", f"{tmp_path}/planted.txt"))
    folder = download_speech_commands(root)
    assert [path.is_relative_to(folder) for path in tmp_path.rglob("planted.txt")] == [True]


@pytest.mark.parametrize("content", [b"", b"no archive"])
def test_what_is_no_archive_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    (tmp_path / f"{VERSION}.tar.gz").write_bytes(content)
    monkeypatch.setattr(clips, "DIGEST", hashlib.sha256(content).hexdigest())
    with pytest.raises(DataError, match="could not unpack it"):
        download_speech_commands(tmp_path)


@pytest.mark.parametrize("failure", [OSError("no route to host"), RuntimeError("invalid hash value")])
def test_a_failed_download_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception) -> None:
    def fail(*_: object, **__: object) -> None:
        raise failure

    monkeypatch.setattr(clips, "download_url_to_file", fail)
    with pytest.raises(DataError, match=f"could not download .*{failure}.*try again"):
        download_speech_commands(tmp_path)
