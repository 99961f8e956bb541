"""Laws of reading and writing audio files."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from wakeword import AudioFileError, AudioFormatError
from wakeword.audio.audio_file import AudioFile, read_audio, write_audio
from wakeword.audio.pcm import PcmStream

NOISE = np.random.default_rng(0).uniform(-0.5, 0.5, 4 * 44_100).astype(np.float32)
TONE = (0.5 * np.sin(2 * np.pi * 440 * np.arange(4 * 44_100) / 44_100)).astype(np.float32)


@pytest.mark.parametrize(
    ("suffix", "subtype", "tolerance"),
    [(".wav", "PCM_16", 4e-5), (".wav", "FLOAT", 0), (".flac", "PCM_24", 1e-6), (".ogg", "VORBIS", 0.5)],
)
def test_files_give_the_samples_that_were_written(tmp_path: Path, suffix: str, subtype: str, tolerance: float) -> None:
    path = tmp_path / f"clip{suffix}"
    signal = TONE[:16_000] + 0.1 * NOISE[:16_000]
    soundfile.write(path, signal, 16_000, subtype=subtype)
    np.testing.assert_allclose(read_audio(path), signal, atol=tolerance)


def test_a_file_equals_its_samples_at_any_rate(tmp_path: Path) -> None:
    path = tmp_path / "stereo.wav"
    stereo = np.stack([TONE, NOISE], axis=1)
    soundfile.write(path, stereo, 44_100, subtype="FLOAT")
    stream = PcmStream(44_100)
    converted = np.concatenate([stream.push(stereo), stream.flush()])
    np.testing.assert_allclose(read_audio(path), converted, atol=1e-6)


def test_a_file_without_samples_gives_none(tmp_path: Path) -> None:
    path = tmp_path / "silent.wav"
    soundfile.write(path, np.zeros(0, np.int16), 16_000)
    assert read_audio(path).shape == (0,)


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "it is empty"), (b"RIFF", "it is damaged"), (b"not audio at all" * 100, "or of another format")],
    ids=["empty", "header", "garbage"],
)
def test_a_file_without_audio_is_named(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "broken.wav"
    path.write_bytes(content)
    with pytest.raises(AudioFileError, match=rf"broken\.wav.*{reason}"):
        read_audio(path)


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(AudioFileError, match=r"nowhere\.wav.*found nothing"):
        read_audio(tmp_path / "nowhere.wav")
    with pytest.raises(AudioFileError, match="found a folder"):
        read_audio(tmp_path)
    with pytest.raises(AudioFileError, match="found a pipe, a device or a socket"):
        read_audio("/dev/zero")


def test_samples_that_cannot_be_taken_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "nan.wav"
    soundfile.write(path, np.array([0, np.nan], np.float32), 16_000, subtype="FLOAT")
    with pytest.raises(AudioFormatError, match=r"nan\.wav: expected finite"):
        read_audio(path)
    slow = tmp_path / "slow.wav"
    soundfile.write(slow, NOISE[:100], 4_000)
    with pytest.raises(AudioFormatError, match=r"slow\.wav: .*4000"):
        read_audio(slow)


def test_blocks_of_a_file_are_its_samples(tmp_path: Path) -> None:
    path = tmp_path / "clip.wav"
    soundfile.write(path, NOISE[:1_000], 16_000, subtype="FLOAT")
    with AudioFile(path) as file:
        blocks = list(file.blocks(300))
    assert [block.shape for block in blocks] == [(300, 1), (300, 1), (300, 1), (100, 1)]
    np.testing.assert_array_equal(np.concatenate(blocks)[:, 0], NOISE[:1_000])


@pytest.mark.parametrize("name", ["a.wav", "a.flac"])
def test_written_audio_reads_back(tmp_path: Path, name: str) -> None:
    whole = np.array([0, 1, -1, 32_767, -32_768], np.int16)
    write_audio(tmp_path / name, whole)
    np.testing.assert_array_equal(read_audio(tmp_path / name) * 32_768, whole)
    write_audio(tmp_path / name, NOISE[:1_000])
    np.testing.assert_allclose(read_audio(tmp_path / name), NOISE[:1_000], atol=1e-4)
    with pytest.raises(FileNotFoundError):
        write_audio(tmp_path / "nowhere" / name, whole)


@pytest.mark.parametrize("suffix", ["opus", "ogg", "flac", "wav"])
def test_a_damaged_file_is_refused_in_words_of_this_project(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"talk.{suffix}"
    kinds: dict[str, dict[str, Any]] = {"opus": {"format": "OGG", "subtype": "OPUS"}}
    soundfile.write(path, np.zeros(48_000), 48_000, **kinds.get(suffix, {}))
    data = path.read_bytes()
    for damaged in (data[:30], bytes(64) + data[64:], data[:4] + bytes(len(data) - 4)):
        path.write_bytes(damaged)
        with pytest.raises(AudioFileError) as refused, AudioFile(path) as file:
            list(file.blocks())
        told = str(refused.value)
        assert told.startswith(f"{path}: ")
        assert "\n" not in told
        assert not re.search("implemented|recogni|malformed|Supported|Unspecified|[.]$", told)


FORBIDDEN = """
import ctypes, sys, numpy
if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0):
    sys.exit(77)
from pathlib import Path
from wakeword.audio.audio_file import write_audio
for name in sys.argv[1:]:
    write_audio(Path(name), numpy.arange(-800, 800, dtype=numpy.int16))
"""
"""Writes files where no memory may become code: PR_SET_MDWE, as MemoryDenyWriteExecute= of systemd."""


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_audio_is_written_where_no_memory_may_become_code(tmp_path: Path) -> None:
    files = [tmp_path / "a.wav", tmp_path / "a.flac"]
    done = subprocess.run([sys.executable, "-c", FORBIDDEN, *files], capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip("needs Linux 6.3")
    assert done.stderr == ""
    for file in files:
        np.testing.assert_array_equal(soundfile.read(file, dtype="int16")[0], np.arange(-800, 800))
