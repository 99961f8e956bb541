"""Recordings are found and read wherever they are, and a shard or a URL gives what its files would."""

import io
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from wakeword.base.errors import AudioError, AudioFileError, ConfigError
from wakeword.batch.inputs import find
from wakeword.batch.inputs.find import expanded, find_recordings, listed_places
from wakeword.batch.inputs.opening import local_files
from wakeword.batch.inputs.recording import local_recording, parts_below


def found(*places: object) -> tuple[list[tuple[str, str]], list[str]]:
    """Names with their paths inside, and errors."""
    errors: list[AudioError] = []
    recordings = find_recordings(list(expanded(map(str, places))), failed=errors.append)
    return [(one.name, one.inside) for one in recordings], [str(error) for error in errors]


def shard_of(path: Path, members: dict[str, bytes]) -> Path:
    mode = "w:gz" if path.suffix in (".gz", ".tgz") else "w"
    with tarfile.open(path, mode) as shard:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            shard.addfile(info, io.BytesIO(content))
    return path


@pytest.fixture
def shard(recordings: Path, tmp_path: Path) -> Path:
    first, second = (recordings / name for name in ("first.wav", "deeper/second.flac"))
    members = {"a/1.wav": first.read_bytes(), "a/1.json": b"{}", "b/2.flac": second.read_bytes()}
    return shard_of(tmp_path / "shard-000.tar", members)


def test_folders_patterns_and_files_have_the_same_recordings_each_once(recordings: Path) -> None:
    first, second, third = (recordings / name for name in ("first.wav", "deeper/second.flac", "deeper/third.ogg"))
    inside = [(str(second), "deeper/second.flac"), (str(third), "deeper/third.ogg"), (str(first), "first.wav")]
    assert found(recordings) == (inside, [])
    assert found(recordings, first) == (inside, [])
    assert found(f"{recordings}/**/*.[wfo]*") == (inside, [])
    assert found(first) == ([(str(first), "first.wav")], [])


def test_what_is_not_there_is_an_error_that_names_it(recordings: Path) -> None:
    names, errors = found("nothing.wav", f"{recordings}/*.mp3", recordings / "first.wav")
    assert len(names) == 1
    assert errors[0].startswith("nothing.wav: ")
    assert errors[1].startswith(f"{recordings}/*.mp3: ")


def test_a_pattern_that_only_folders_match_is_an_error(recordings: Path) -> None:
    names, (error,) = found(f"{recordings}/d*")
    assert names == []
    assert "but 1 folder(s)" in error


def test_a_name_with_the_signs_of_a_pattern_is_a_name(recordings: Path) -> None:
    odd = (recordings / "first.wav").rename(recordings / "take [1].wav")
    assert found(odd) == ([(str(odd), "take [1].wav")], [])


def test_a_list_has_a_place_in_each_line(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(b"\xef\xbb\xbfa b.wav\r\n\ns3://bucket/x.flac\ncaf\xe9.wav\n")
    assert listed_places(path) == ["a b.wav", "s3://bucket/x.flac", "caf\udce9.wav"]


def test_a_recording_is_no_list_of_recordings(tmp_path: Path) -> None:
    path = tmp_path / "word.flac"
    path.write_bytes(b"fLaC\0\0\0\x22")
    with pytest.raises(ConfigError, match="expected a list of recordings"):
        listed_places(path)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no endless devices")
def test_a_list_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="no text"):
        listed_places(Path("/dev/zero"))
    monkeypatch.setattr(find, "_MOST_BYTES", 3 * 2**20)
    monkeypatch.setattr(
        "sys.stdin", SimpleNamespace(buffer=SimpleNamespace(read=lambda size: (b"a.wav\n" * size)[:size]))
    )
    with pytest.raises(ConfigError, match="at most 3 MB"):
        listed_places(Path("-"))


def test_a_list_in_place_of_a_place_is_what_it_lists(recordings: Path, tmp_path: Path) -> None:
    first, second = recordings / "first.wav", recordings / "deeper" / "second.flac"
    path = tmp_path / "list.txt"
    path.write_text(f"{first}\n{second}\n")
    assert found(f"@{path}") == found(first, second)
    with pytest.raises(FileNotFoundError):
        found("@nothing.txt")


def test_a_list_that_names_itself_is_read_once(recordings: Path, tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text(f"@{path}\n{recordings / 'first.wav'}\n")
    names, errors = found(f"@{path}")
    assert [name for name, _ in names] == [str(recordings / "first.wav")]
    assert [error.split(": ")[0] for error in errors] == [f"@{path}"]


def test_an_empty_name_is_not_this_folder(recordings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(recordings)
    names, (error,) = found("")
    assert names == []
    assert "empty name" in error


def test_an_empty_list_is_an_error_as_an_empty_folder_is(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(b"\n \n")
    with pytest.raises(ConfigError, match="got an empty one"):
        listed_places(path)


@pytest.mark.parametrize("name", ["shard.tar", "shard.tar.gz", "shard.tgz"])
def test_a_shard_gives_its_audio_byte_for_byte(recordings: Path, tmp_path: Path, name: str) -> None:
    content = (recordings / "first.wav").read_bytes()
    path = shard_of(tmp_path / name, {"x/1.WAV": content, "x/1.txt": b"low", "2.wav": content[:100]})
    read = [(one.name, one.inside, one.path.read_bytes()) for one in local_files(local_recording(path, name))]
    assert read == [(f"{path}/x/1.WAV", "shard/x/1.WAV", content), (f"{path}/2.wav", "shard/2.wav", content[:100])]


def test_no_name_in_a_shard_becomes_a_path_of_this_machine(recordings: Path, tmp_path: Path) -> None:
    content = (recordings / "first.wav").read_bytes()
    names = ("../../up.wav", "/root.wav", "//host/up.wav", "a/..//../b.wav")
    path = shard_of(tmp_path / "shard.tar", dict.fromkeys(names, content))
    with tarfile.open(path, "a") as shard:
        link = tarfile.TarInfo("link.wav")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        shard.addfile(link)
    seen = []
    for one in local_files(local_recording(path, "shard.tar")):
        assert one.path.read_bytes() == content
        seen.append(one.inside)
        folder = one.path.parent
    assert seen == ["shard/up.wav", "shard/root.wav", "shard/host/up.wav", "shard/a/b.wav"]
    assert not folder.exists()
    assert parts_below("a\0.wav") == ["a.wav"]


def test_a_damaged_shard_gives_what_is_whole_and_an_error(shard: Path) -> None:
    shard.write_bytes(shard.read_bytes()[:300_000])
    files = local_files(local_recording(shard, shard.name))
    assert next(files).name == f"{shard}/a/1.wav"
    with pytest.raises(AudioFileError, match=rf"{shard}: .*could not read all of it"):
        next(files)
    shard.write_bytes(b"no tar at all" * 100)
    with pytest.raises(AudioFileError, match="expected a tar file"):
        list(local_files(local_recording(shard, shard.name)))


def test_a_shard_without_audio_is_an_error(tmp_path: Path) -> None:
    path = shard_of(tmp_path / "shard.tar", {"1.txt": b"low"})
    with pytest.raises(AudioFileError, match="found none"):
        list(local_files(local_recording(path, "shard.tar")))


# --- addresses


@pytest.mark.parametrize("place", ["s3://bucket/x.wav", "https://host/calls/a.wav?key=secret", "file:///tmp/a.wav"])
def test_an_address_is_refused_with_what_to_do_and_without_its_secret(place: str) -> None:
    with pytest.raises(ConfigError, match="copy them here first") as refused:
        found(place)
    assert str(refused.value).startswith(place.partition("?")[0])
    assert "secret" not in str(refused.value)


# --- with the command


def test_scan_reads_shards_and_lists_like_files(cli, models: Path, recordings: Path, shard: Path) -> None:
    def scan(*places: object) -> list[list[str]]:
        ended = cli("scan", "--format", "csv", "--model", models / "low.onnx", *places)
        assert ended.status == 0, ended.err
        return [line.split(",") for line in ended.out.splitlines()[1:]]

    first, second = recordings / "first.wav", recordings / "deeper" / "second.flac"
    wanted = scan(first, second)
    assert len(wanted) == 3
    lists = recordings.parent / "list.txt"
    lists.write_text(f"{first}\n{second}\n")
    assert scan(f"@{lists}") == wanted
    shown = {str(first): f"{shard}/a/1.wav", str(second): f"{shard}/b/2.flac"}
    assert scan(shard) == [[shown[name], *rest] for name, *rest in wanted]


def test_labels_of_a_shard_are_a_file_for_each_recording(cli, models: Path, shard: Path, tmp_path: Path) -> None:
    options = ("scan", "--format", "audacity", "--model", models / "low.onnx", shard)
    assert cli(*options).status == 2
    assert cli(*options, "--out", tmp_path / "labels").status == 0
    assert (tmp_path / "labels" / "shard-000" / "a" / "1.txt").read_text().count("\n") == 2
    assert (tmp_path / "labels" / "shard-000" / "b" / "2.txt").exists()


def test_members_of_a_shard_that_differ_in_their_suffix_have_two_files(
    cli, models: Path, recordings: Path, tmp_path: Path
) -> None:
    first, second = (recordings / name for name in ("first.wav", "deeper/second.flac"))
    shard = shard_of(tmp_path / "s.tar", {"a.wav": first.read_bytes(), "a.flac": second.read_bytes()})
    options = ("--format", "audacity", "--model", models / "low.onnx", "--out", tmp_path / "labels")
    assert cli("scan", *options, shard).status == 0
    counts = {path.name: path.read_text().count("\n") for path in (tmp_path / "labels" / "s").iterdir()}
    assert counts == {"a.txt": 2, "a.flac.txt": 1}
