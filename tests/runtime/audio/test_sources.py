"""Files and standard input as sources of audio."""

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from wakeword import AudioFileError, AudioFormatError, FileSource, StdinSource
from wakeword.audio.audio_listing import audio_files


def pcm(*, samples: int = 1_000, channels: int = 1) -> np.ndarray:
    return np.random.default_rng(0).integers(-32_768, 32_768, (samples, channels), dtype=np.int16)


class Pipe(io.RawIOBase):
    """Delivers bytes in pieces of the given sizes, as a pipe does."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self._data = data
        self._sizes = sizes

    def read(self, size: int = -1) -> bytes:
        piece = min(size, self._sizes.pop(0) if self._sizes else size)
        data, self._data = self._data[:piece], self._data[piece:]
        return data


@given(sizes=st.lists(st.integers(1, 700)), channels=st.integers(1, 5), odd=st.integers(0, 1))
def test_stdin_gives_the_samples_for_any_pieces_of_the_pipe(sizes: list[int], channels: int, odd: int) -> None:
    samples = pcm(channels=channels)
    source = StdinSource(channels=channels, stream=Pipe(samples.tobytes() + b"x" * odd, sizes))
    np.testing.assert_array_equal(np.concatenate(list(source.blocks())), samples)


def test_empty_input_gives_no_blocks() -> None:
    assert list(StdinSource(stream=io.BytesIO()).blocks()) == []


@pytest.mark.parametrize("form", ["WAV", "FLAC", "OGG"])
def test_a_file_with_a_header_is_refused_as_raw_pcm(form: str) -> None:
    file = io.BytesIO()
    soundfile.write(file, pcm(), 16_000, format=form)
    file.seek(0)
    with pytest.raises(AudioFormatError, match="file with a header"):
        list(StdinSource(stream=file).blocks())


def test_stdin_without_audio_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AudioFormatError, match="number of channels"):
        StdinSource(channels=0, stream=io.BytesIO())
    for stdin in (None, SimpleNamespace(isatty=lambda: True)):
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(AudioFileError, match="pipe audio into it"):
            StdinSource()


def test_a_file_gives_its_samples_at_its_rate(tmp_path: Path) -> None:
    samples = pcm(samples=100_000, channels=2)
    soundfile.write(tmp_path / "a.flac", samples, 44_100)
    source = FileSource(tmp_path / "a.flac")
    assert (source.sample_rate, source.seconds) == (44_100, pytest.approx(100_000 / 44_100))
    for _ in range(2):
        np.testing.assert_array_equal(np.concatenate(list(source.blocks())), np.float32(samples / 32_768))


def test_a_path_without_an_audio_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.wav").write_text("text")
    for path in (tmp_path, tmp_path / "missing.wav", tmp_path / "text.wav"):
        with pytest.raises(AudioFileError, match=str(path)):
            FileSource(path)


def test_a_file_that_disappears_is_an_audio_error(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", pcm(), 16_000)
    source = FileSource(tmp_path / "a.wav")
    (tmp_path / "a.wav").unlink()
    with pytest.raises(AudioFileError):
        list(source.blocks())


def test_audio_files_are_found_at_any_depth_and_nothing_else(tmp_path: Path) -> None:
    names = ["b.WAV", "a.flac", "x/y/c.opus", "x/readme.md", "list.json"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert audio_files(tmp_path) == [tmp_path / name for name in ("a.flac", "b.WAV", "x/y/c.opus")]
    assert audio_files(tmp_path / "list.json") == [tmp_path / "list.json"]
    (tmp_path / "empty").mkdir()
    for name, reason in (("missing", "found nothing; check the path"), ("empty", "look at its names")):
        with pytest.raises(AudioFileError, match=f"{tmp_path / name}: .*{reason}"):
            audio_files(tmp_path / name)


def test_a_file_can_replace_a_microphone(tmp_path: Path) -> None:
    path = tmp_path / "talk.wav"
    soundfile.write(path, np.zeros(1_600, np.int16), 16_000)
    with FileSource(path) as microphone:
        assert sum(len(block) for block in microphone.blocks()) == 1_600
