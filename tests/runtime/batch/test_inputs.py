"""Recordings are found wherever they are; what is none is named."""

import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from wakeword.base.errors import AudioError, AudioFileError, ConfigError
from wakeword.batch import inputs
from wakeword.batch.inputs import expanded, find_recordings, listed_places


def found(*places: object) -> tuple[list[str], list[str]]:
    """Names and errors."""
    errors: list[AudioError] = []
    recordings = find_recordings(list(expanded(map(str, places))), failed=errors.append)
    return [one.name for one in recordings], [str(error) for error in errors]


def test_folders_patterns_and_files_have_the_same_recordings_each_once(recordings: Path) -> None:
    first, second, third = (recordings / name for name in ("first.wav", "deeper/second.flac", "deeper/third.ogg"))
    every = [str(second), str(third), str(first)]
    assert found(recordings) == (every, [])
    assert found(recordings, first) == (every, [])
    assert found(f"{recordings}/**/*.[wfo]*") == (every, [])
    assert found(first) == ([str(first)], [])


def test_what_is_not_there_is_an_error_that_names_it(recordings: Path) -> None:
    names, errors = found("nothing.wav", f"{recordings}/*.mp3", "s3://bucket/x.wav", recordings / "first.wav")
    assert len(names) == 1
    assert errors[0].startswith("nothing.wav: ")
    assert errors[1].startswith(f"{recordings}/*.mp3: ")
    assert errors[2].startswith("s3://bucket/x.wav: ")


@pytest.mark.parametrize("place", ["s3://bucket/x.wav", "https://host/calls/a.wav?key=secret", "file:///tmp/a.wav"])
def test_an_address_is_refused_with_what_to_do_and_without_its_secret(place: str) -> None:
    names, (error,) = found(place)
    assert names == []
    assert error.startswith(place.partition("?")[0])
    assert "copy them here first" in error
    assert "secret" not in error


def test_a_pattern_that_only_folders_match_is_an_error(recordings: Path) -> None:
    names, (error,) = found(f"{recordings}/d*")
    assert names == []
    assert "but 1 folder(s)" in error


def test_a_name_with_the_signs_of_a_pattern_is_a_name(recordings: Path) -> None:
    odd = (recordings / "first.wav").rename(recordings / "take [1].wav")
    assert found(odd) == ([str(odd)], [])


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
    monkeypatch.setattr(inputs, "_MAX_BYTES", 3 * 2**20)
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
    with pytest.raises(AudioFileError, match=r"nothing\.txt: expected a list of recordings, got: No such file"):
        found("@nothing.txt")


def test_a_list_that_names_itself_is_read_once(recordings: Path, tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text(f"@{path}\n{recordings / 'first.wav'}\n")
    names, errors = found(f"@{path}")
    assert names == [str(recordings / "first.wav")]
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


# --- with the command


def test_scan_reads_lists_like_files(cli, models: Path, recordings: Path) -> None:
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


@pytest.mark.parametrize(("name", "mode"), [("calls.tar", "w"), ("calls.tar.gz", "w:gz"), ("calls.tgz", "w:gz")])
def test_a_tar_file_is_no_recording(cli, models: Path, recordings: Path, tmp_path: Path, name: str, mode: str) -> None:
    with tarfile.open(tmp_path / name, mode) as packed:
        packed.add(recordings / "first.wav", "first.wav")
    ended = cli("scan", "--model", models / "low.onnx", tmp_path / name)
    assert (ended.status, ended.out) == (1, "")
    assert f"{tmp_path / name}: expected audio" in ended.err.splitlines()[0]
