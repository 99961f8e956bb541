"""Measured responses of rooms: what they are, and recordings in them."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import DataError
from wakeword_experiments.two_stages.conditions import IN_ROOM, Condition
from wakeword_experiments.two_stages.measured_rooms import describe_rooms, in_rooms, read_rooms

_DECAY = 0.4


def _response(*, tail: float) -> np.ndarray:
    """A direct sound after 10 ms, and noise of energy ``tail`` that decays by 60 dB in 0.4 s."""
    time = np.arange(SAMPLE_RATE) / SAMPLE_RATE
    noise = np.random.default_rng(0).normal(size=SAMPLE_RATE) * 10 ** (-3 * time / _DECAY)
    found = np.zeros(2 * SAMPLE_RATE)
    found[160] = 1.0
    found[161:][: len(noise)] += noise * np.sqrt(tail / np.square(noise).sum())
    return found


def test_a_response_begins_at_the_direct_sound_and_tells_distance_and_decay(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "b.wav", np.stack([_response(tail=1.0), np.zeros(2 * SAMPLE_RATE)], 1), SAMPLE_RATE)
    soundfile.write(tmp_path / "a.flac", np.repeat(_response(tail=0.1), 3)[: 6 * SAMPLE_RATE], 3 * SAMPLE_RATE)
    (tmp_path / "notes.txt").write_text("no sound")
    near, far = read_rooms(tmp_path)
    assert [int(np.abs(room.response).argmax()) for room in (near, far)] == [16, 16]
    assert float(np.square(far.response).sum()) == pytest.approx(1.0, abs=1e-4)
    assert far.direct_ratio == pytest.approx(0.0, abs=1.0)
    assert near.direct_ratio == pytest.approx(10.0, abs=2.0)
    assert far.decay == pytest.approx(_DECAY, rel=0.15)
    assert describe_rooms([near, far]).startswith("2 measured responses")


def test_a_recording_in_a_room_keeps_its_level_its_person_and_gets_an_echo(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "far.wav", _response(tail=1.0), SAMPLE_RATE)
    rooms = read_rooms(tmp_path)
    word = np.zeros(SAMPLE_RATE, np.float32)
    word[4_000:8_000] = 0.1 * np.sin(np.arange(4_000))
    (heard,) = in_rooms([Condition("words", "ann", word)], rooms)
    assert (heard.speaker, heard.condition) == ("ann", IN_ROOM)
    spoken = heard.samples[: len(word)]
    assert float(np.square(spoken).sum()) == pytest.approx(float(np.square(word).sum()), rel=0.02)
    assert float(np.square(heard.samples[:3_900]).sum()) < 1e-6
    assert float(np.square(heard.samples[9_000:12_000]).sum()) > 100 * float(np.square(word[9_000:12_000]).sum() + 1e-6)


def test_rooms_take_turns(tmp_path: Path) -> None:
    for name, tail in (("a", 0.01), ("b", 4.0)):
        soundfile.write(tmp_path / f"{name}.wav", _response(tail=tail) / 4, SAMPLE_RATE)
    word = (0.1 * np.sin(np.arange(8_000))).astype(np.float32)
    heard = in_rooms([Condition("words", "ann", word)] * 3, read_rooms(tmp_path))
    assert np.array_equal(heard[0].samples, heard[2].samples)
    assert not np.allclose(heard[0].samples, heard[1].samples)


def test_a_folder_without_responses_or_with_silence_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="found none"):
        read_rooms(tmp_path)
    soundfile.write(tmp_path / "silent.wav", np.zeros(800), SAMPLE_RATE)
    with pytest.raises(DataError, match=r"silent\.wav"):
        read_rooms(tmp_path)
