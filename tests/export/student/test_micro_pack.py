"""Laws of packs of microWakeWord's features: they give back features of the same speech, nearly; nothing else is one."""

from pathlib import Path

import numpy as np
import pytest
from support.micro_nets import random_frames

from scripts.make_micro_pack import write_micro_pack
from wakeword.base.errors import DataError
from wakeword.base.types import Array
from wakeword_export.student.rounded_pack import CODED_STEP, read_micro_pack, rounded_frames
from wakeword_train.data.packed import packed_clips, places_of
from wakeword_train.pack.starter import MICRO, NOISE, OTHERS, STARTER, PackedRecording, pack_path, read_pack

RECORDING = PackedRecording("people-1", "anna", 1_280, ((0.5, 2.0, "good morning"), (3.0, 4.0, "Ja, gewiß")))


def written(path: Path, frames: Array) -> Path:
    write_micro_pack(path, [RECORDING], frames, licence="CC0-1.0")
    return path


def test_what_is_written_comes_back_nearly(tmp_path: Path) -> None:
    frames = random_frames(1_280)
    own, again = (written(tmp_path / name, frames) for name in ("own.pack", "again.pack"))
    pack = read_micro_pack(own)
    assert own.read_bytes() == again.read_bytes()
    error = np.sqrt(np.mean((pack.frames.astype(float) - frames) ** 2))
    assert (pack.recordings, pack.licence) == ((RECORDING,), "CC0-1.0")
    assert pack.frames.dtype == np.uint8
    assert 0 < error < CODED_STEP / 3
    # What is not from a pack is rounded as much.
    alike = np.sqrt(np.mean((rounded_frames(frames).astype(float) - frames) ** 2))
    assert alike == pytest.approx(error, rel=0.2)


def test_another_or_a_damaged_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="and of these features"):
        read_micro_pack(pack_path(STARTER))
    with pytest.raises(DataError, match="and of these features"):
        read_pack(pack_path(OTHERS))
    with pytest.raises(DataError, match="1264 frames, and recordings of another length"):
        read_micro_pack(written(tmp_path / "short.pack", random_frames(1_264)))
    path = written(tmp_path / "own.pack", random_frames(1_280))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataError, match="could not read it"):
        read_micro_pack(path)


def test_the_pack_that_comes_with_training_has_its_features() -> None:
    pack = read_pack(pack_path(STARTER))
    micro = read_micro_pack(pack_path(MICRO))
    assert micro.recordings == pack.recordings
    # Loud frames of one are loud frames of the other: they stand on one time line.
    loudness, energy = micro.frames.mean(axis=1, dtype=float), pack.mfcc[:, 0].astype(float)
    assert np.corrcoef(loudness[:100_000], energy[:100_000])[0, 1] > 0.5
    assert sum(pack_path(name).stat().st_size for name in (STARTER, NOISE, MICRO, OTHERS)) < 30e6


def test_cutoffs_are_chosen_on_people_whom_no_student_hears() -> None:
    others, heard = read_micro_pack(pack_path(OTHERS)), read_pack(pack_path(STARTER))
    assert not {one.source for one in others.recordings} & {one.source for one in heard.recordings}
    _, lengths = places_of(packed_clips(others, ["no such word"], validation=0.0))
    assert lengths.sum() > 0.99 * len(others.frames)
    # What is said is known, so the word itself is left out, where texts have spaces between words.
    _, kept = places_of(packed_clips(others, ["road"], validation=0.0))
    assert 0.9 * lengths.sum() < kept.sum() < lengths.sum()
