"""Laws of the second file of a pack: it gives back features of the same speech, nearly, and refuses any other pack."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from support.micro_nets import random_frames

from scripts.make_micro_pack import write_micro_pack
from wakeword.base.errors import ConfigError, DataError
from wakeword_export.student.rounded_pack import CODED_STEP, micro_pack_path, read_micro_pack, rounded_frames
from wakeword_train.pack.starter import STARTER, SpeechPack, pack_path, read_pack


@pytest.fixture
def pack(tmp_path: Path) -> SpeechPack:
    whole = read_pack(pack_path(STARTER))
    first = dataclasses.replace(whole.recordings[0], frames=1_280)
    return dataclasses.replace(whole, path=tmp_path / "own.pack", recordings=(first, *whole.recordings[1:]))


def test_the_features_come_back_nearly(pack: SpeechPack) -> None:
    frames = random_frames(1_280)
    write_micro_pack(micro_path(pack), frames, pack)
    found = read_micro_pack(pack)
    error = np.sqrt(np.mean((found.astype(float) - frames) ** 2))
    assert found.dtype == np.uint8
    assert 0 < error < CODED_STEP / 3
    # What is not from a pack is rounded as much.
    own = np.sqrt(np.mean((rounded_frames(frames).astype(float) - frames) ** 2))
    assert own == pytest.approx(error, rel=0.2)


def test_the_same_features_give_the_same_bytes(pack: SpeechPack) -> None:
    written = []
    for _ in range(2):
        write_micro_pack(micro_path(pack), random_frames(1_280), pack)
        written.append(micro_path(pack).read_bytes())
    assert written[0] == written[1]


def test_another_or_a_damaged_file_is_refused(pack: SpeechPack) -> None:
    with pytest.raises(ConfigError, match=r"own-micro\.pack next to"):
        read_micro_pack(pack)
    with pytest.raises(DataError, match="expected the frames of whole recordings"):
        write_micro_pack(micro_path(pack), random_frames(1_264), pack)
    write_micro_pack(micro_path(pack), random_frames(1_280), pack)
    with pytest.raises(DataError, match="expected features of the speech in"):
        read_micro_pack(dataclasses.replace(pack, recordings=pack.recordings[1:]))
    micro_path(pack).write_bytes(micro_path(pack).read_bytes()[:-100])
    with pytest.raises(DataError, match="got: "):
        read_micro_pack(pack)


def test_the_pack_that_comes_with_training_has_its_second_file() -> None:
    pack = read_pack(pack_path(STARTER))
    frames = read_micro_pack(pack)
    assert 0.7 * len(pack.mfcc) < len(frames) <= len(pack.mfcc)
    # Loud frames of one are loud frames of the other: they stand on one time line.
    loudness, energy = frames.mean(axis=1, dtype=float), pack.mfcc[: len(frames), 0].astype(float)
    assert np.corrcoef(loudness[:100_000], energy[:100_000])[0, 1] > 0.5
    assert micro_pack_path(pack.path).stat().st_size + pack.path.stat().st_size < 25e6


def micro_path(pack: SpeechPack) -> Path:
    return pack.path.with_name("own-micro.pack")
