"""Words are found, windows contain the whole word, outside a clip there is only its own noise floor."""

import dataclasses
import logging
import math
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from support.phones import as_on_a_phone, needs_decoder

from wakeword.base.errors import DataError
from wakeword.model.installed import assets_folder
from wakeword.takes.word_region import locate_word
from wakeword_tools.kinds import Kind, Split
from wakeword_train.data.clips import Clip, read_folder
from wakeword_train.data.store import ClipStore

WINDOW = 15_920


def recording(seconds: float, word_at: float, *, word: float = 0.4, floor: float = 1e-3) -> np.ndarray:
    random = np.random.default_rng(0)
    samples = floor * random.standard_normal(round(seconds * 16_000))
    start = round(word_at * 16_000)
    length = round(word * 16_000)
    samples[start : start + length] += 0.3 * np.sin(2 * np.pi * 300 * np.arange(length) / 16_000)
    return samples.astype(np.float32)


def store_of(tmp_path: Path, *recordings: np.ndarray) -> ClipStore:
    clips = []
    for number, samples in enumerate(recordings):
        path = tmp_path / f"{number}.wav"
        soundfile.write(path, samples, 16_000, subtype="FLOAT")
        clips.append(Clip(path, Kind.POSITIVE, "w", str(number), Split.TRAIN))
    return ClipStore(clips)


@pytest.mark.parametrize("floor", [0.0, 1e-4, 1e-2])
@pytest.mark.parametrize("word_at", [0.1, 0.5, 2.0])
def test_the_word_is_found_by_its_energy(word_at: float, floor: float) -> None:
    region, level = locate_word(recording(3.0, word_at, floor=floor))
    assert abs(region.start / 16_000 - word_at) < 0.06
    assert abs(region.end / 16_000 - (word_at + 0.4)) < 0.06
    assert level == pytest.approx(floor, rel=0.5, abs=1e-6)


def test_a_click_is_not_the_word() -> None:
    samples = recording(2.0, 1.0)
    samples[2_000:2_100] += 0.5
    region, _ = locate_word(samples)
    assert region.start > 15_000


def test_windows_hold_the_whole_word_at_any_speed(tmp_path: Path) -> None:
    store = store_of(tmp_path, recording(0.6, 0.1), recording(3.0, 2.0), recording(1.0, 0.5))
    generator = torch.Generator().manual_seed(0)
    rows = torch.arange(3).repeat(200)
    speed = 0.85 + 0.3 * torch.rand(len(rows), generator=generator)
    offsets = store.word_offsets(rows, WINDOW, speed=speed, generator=generator)
    assert (offsets <= store.word_starts[rows]).all()
    assert (offsets + WINDOW * speed + 1 >= store.word_ends[rows]).all()
    assert len(offsets[rows == 1].unique()) > 150


def test_a_window_stays_inside_a_longer_word(tmp_path: Path) -> None:
    store = store_of(tmp_path, recording(3.0, 0.5, word=2.0))
    rows = torch.zeros(100, dtype=torch.int64)
    offsets = store.word_offsets(rows, WINDOW, speed=torch.ones(100), generator=torch.Generator().manual_seed(0))
    assert (offsets >= store.word_starts[0] - 1).all()
    assert (offsets + WINDOW <= store.word_ends[0] + 1).all()


def test_cut_returns_the_samples_unchanged(tmp_path: Path) -> None:
    samples = recording(2.0, 1.0)
    store = store_of(tmp_path, recording(1.0, 0.2), samples)
    cut = store.cut(torch.tensor([1]), torch.tensor([3_000]), 8_000, generator=torch.Generator())
    np.testing.assert_allclose(cut[0].numpy(), samples[3_000:11_000], atol=1e-4)


def test_cut_is_as_exact_late_in_a_long_recording_as_at_its_start(tmp_path: Path) -> None:
    # A float32 counts to 2^24 samples, which is 17.5 minutes.
    samples = np.zeros(2**24 + 20_000, np.float32)
    samples[-20_000:] = recording(1.25, 0.4)
    store = store_of(tmp_path, samples)
    offset = torch.tensor([2**24 + 1_001])
    cut = store.cut(torch.tensor([0]), offset, 8_000, generator=torch.Generator())
    np.testing.assert_allclose(cut[0].numpy(), samples[2**24 + 1_001 :][:8_000], atol=1e-4)


def test_outside_a_clip_there_is_its_noise_floor_or_digital_silence(tmp_path: Path) -> None:
    store = store_of(tmp_path, recording(0.6, 0.1, floor=1e-2))
    rows, offsets = torch.zeros(2, dtype=torch.int64), torch.full((2,), -5_000)
    silent = torch.tensor([False, True])
    cut = store.cut(rows, offsets, WINDOW, silent=silent, generator=torch.Generator().manual_seed(0))
    assert cut[0, :4_900].std().item() == pytest.approx(float(store.floors[0]), rel=0.1)
    assert (cut[1, :4_900] == 0).all()


def test_fragments_hold_a_part_of_the_word_only(tmp_path: Path) -> None:
    store = store_of(tmp_path, recording(2.0, 0.8))
    rows = torch.zeros(300, dtype=torch.int64)
    offsets = store.fragment_offsets(rows, WINDOW, speed=torch.ones(300), generator=torch.Generator().manual_seed(0))
    start, end = int(store.word_starts[0]), int(store.word_ends[0])
    held = torch.minimum(offsets + WINDOW, torch.tensor(end)) - torch.maximum(offsets, torch.tensor(start))
    share = held / (end - start)
    assert share.min() > 0.2
    assert share.max() < 0.65


def test_an_unreadable_file_is_logged_and_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = store_of(tmp_path, recording(1.0, 0.2))
    broken = tmp_path / "broken.wav"
    broken.write_bytes(b"no audio")
    with caplog.at_level(logging.WARNING):
        more = ClipStore([*store.clips, Clip(broken, Kind.POSITIVE, "w", "x", Split.TRAIN)])
    assert len(more) == 1
    assert more.skipped == 1
    assert "broken.wav" in caplog.text
    with pytest.raises(DataError):
        ClipStore([Clip(broken, Kind.POSITIVE, "w", "x", Split.TRAIN)])


def test_parts_of_a_recording_are_its_samples(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    whole = store_of(tmp_path, recording(3.0, 0.2))
    (clip,) = whole.clips
    spans = [(0.0, 1.0), (1.0, 2.5), (2.5, math.inf), (3.5, math.inf)]
    parts = ClipStore([dataclasses.replace(clip, part=span) for span in spans])
    assert [one.part for one in parts.clips] == spans[:3]
    assert parts.lengths.tolist() == [16_000, 24_000, 8_000]
    assert torch.equal(parts.samples, whole.samples)
    # The last one is after the end of the recording, which no transcript knows: no reason for a warning.
    assert not caplog.text


def test_the_fingerprint_is_that_of_the_samples(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one = store_of(tmp_path / "a", recording(1.0, 0.2))
    same = store_of(tmp_path / "b", recording(1.0, 0.2))
    other = store_of(tmp_path / "a", recording(1.0, 0.3))
    assert one.fingerprint == same.fingerprint != other.fingerprint


@needs_decoder
def test_clips_of_phones_are_read_from_a_folder(tmp_path: Path) -> None:
    clip = assets_folder() / "audio" / "marvin-david.flac"
    for name in ("a.m4a", "b.webm"):
        as_on_a_phone(tmp_path / name, clip)
    store = ClipStore(read_folder(tmp_path, Kind.POSITIVE, keyword="marvin"))
    assert len(store) == 2
    assert store.hours == pytest.approx(2 * soundfile.info(clip).duration / 3_600, rel=0.2)
