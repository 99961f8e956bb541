"""Recordings of the keyword that are silent, too quiet or clipped are named, and others are not."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from wakeword.audio.audio_file import read_audio
from wakeword.base.types import Array
from wakeword.model.installed import assets_folder
from wakeword_tools.kinds import Kind, Split
from wakeword_train.data.clips import Clip
from wakeword_train.data.store import ClipStore, note_faults
from wakeword_train.training_run import TrainingEvents

SPOKEN = read_audio(assets_folder() / "audio" / "marvin-m2.flac")


def lines_of(
    folder: Path, recordings: dict[str, Array], *, kind: Kind = Kind.POSITIVE, synthetic: bool = False
) -> list[str]:
    clips = []
    for name, samples in recordings.items():
        soundfile.write(folder / name, samples, 16_000, subtype="PCM_16")
        clips.append(Clip(folder / name, kind, "marvin", name, Split.TRAIN, synthetic=synthetic))
    lines: list[str] = []
    note_faults([ClipStore(clips)], TrainingEvents(lines.append))
    return lines


@pytest.mark.parametrize(
    ("samples", "words"),
    [
        (np.zeros(16_000, np.float32), "1 recording of the word (poor.wav): only digital silence"),
        (0.001 * SPOKEN, "1 recording of the word (poor.wav): it is too quiet"),
        (np.clip(20 * SPOKEN, -1, 1), "1 recording of the word (poor.wav): it is clipped"),
    ],
)
def test_a_recording_that_says_little_is_named_with_what_to_do(tmp_path: Path, samples: Array, words: str) -> None:
    (line,) = lines_of(tmp_path, {"good.wav": SPOKEN, "poor.wav": samples})
    assert words in line
    assert "good.wav" not in line
    assert ";" in line


def test_quiet_speech_is_good_and_many_faults_are_one_line(tmp_path: Path) -> None:
    assert lines_of(tmp_path, {"quiet.wav": 0.02 * SPOKEN}) == []
    (line,) = lines_of(tmp_path, {f"{n}.wav": np.zeros(16_000, np.float32) for n in range(5)})
    assert "5 recordings" in line
    assert "and 2 more" in line


@pytest.mark.parametrize(("kind", "synthetic"), [(Kind.NEGATIVE, False), (Kind.POSITIVE, True)])
def test_only_recordings_of_the_word_are_looked_at(tmp_path: Path, kind: Kind, synthetic: bool) -> None:
    assert lines_of(tmp_path, {"a.wav": np.zeros(16_000, np.float32)}, kind=kind, synthetic=synthetic) == []
