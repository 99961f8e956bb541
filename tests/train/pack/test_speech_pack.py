"""Laws of the starter pack: what is written is read again, nobody is in two splits, and the keyword is cut out."""

import io
import json
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from support.packs import write_small_pack, write_spoken
from support.small_world import RATE, SMALL_SECOND_STAGE, small_config, tones, write_world

from scripts.make_pack import all_turns, chosen_turns, codec_of, make_pack
from wakeword.audio.features import FeatureConfig, dct_matrix
from wakeword.base.errors import ConfigError, DataError
from wakeword.model.installed import assets_folder
from wakeword.model.model import read_model
from wakeword.verify.embedding import STEP_FRAMES
from wakeword_tools.kinds import Kind, Split
from wakeword_train import DataFolders, train_model
from wakeword_train.data.clips import Clip
from wakeword_train.data.packed import PackedStore, packed_clips, rounded
from wakeword_train.model.two_stage import shipped_digests
from wakeword_train.pack import starter
from wakeword_train.pack.starter import BACKGROUND_PACKAGE, BLOCK, OTHERS, STARTER, SpeechPack, pack_path, read_pack
from wakeword_train.training import gather_clips


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_pack(tmp_path_factory.mktemp("pack"))


@pytest.fixture(scope="module")
def pack(path: Path) -> SpeechPack:
    return read_pack(path)


def test_rounding_moves_no_coefficient_by_more_than_half_a_step() -> None:
    rows = np.random.default_rng(0).normal(3.0, 2.0, (4 * BLOCK, 5)).astype(np.float32)
    codec = codec_of(rows, np.full((BLOCK, 5), 0.1, np.float32))
    again = codec.decode(codec.encode(rows))
    # The transform is orthonormal: a block moves by at most the norm of its half steps.
    moved = np.square(again - rows).reshape(-1, BLOCK, 5).sum(axis=1)
    assert (moved <= np.square(codec.steps / 2).sum(axis=0) * 1.01).all()
    assert not np.array_equal(again, rows)
    assert np.array_equal(codec.encode(again), codec.encode(rows))
    with pytest.raises(DataError, match="multiple of 16"):
        codec.encode(rows[:-1])


def test_sounds_of_nobody_are_background_and_no_people(tmp_path: Path) -> None:
    spoken, sounds = write_spoken(tmp_path / "spoken"), tmp_path / "sounds"
    sounds.mkdir()
    for name in ("song-1", "song-2"):
        soundfile.write(sounds / f"{name}.wav", np.tile(tones((700.0, 900.0), np.random.default_rng(0)), 3), RATE)
    path = tmp_path / "wide.pack"
    people, hours = make_pack([*chosen_turns(spoken, ["*"], 1.0), *all_turns(sounds)], path, licence="CC0-1.0")
    pack = read_pack(path)
    assert len(pack.people) == people == 6
    assert pack.hours == pytest.approx(hours)
    own = [clip for clip in packed_clips(pack, ["updown"], validation=0.5) if clip.speaker.startswith("song")]
    # Each is dealt out alone.
    assert [clip.speaker for clip in own] == ["song-1/", "song-2/"]


def test_clips_are_rounded_as_the_pack_is() -> None:
    rows = np.random.default_rng(1).normal(size=(2 * BLOCK, 4)).astype(np.float32)
    codec = codec_of(rows, np.full((BLOCK, 4), 0.5, np.float32))
    expected = codec.decode(codec.encode(rows))
    np.testing.assert_allclose(rounded(torch.from_numpy(rows)[None], codec)[0].numpy(), expected, atol=1e-5)
    assert rounded(torch.from_numpy(rows)[None, :20], codec).shape == (1, 20, 4)


def test_the_same_recordings_give_the_same_bytes(path: Path, tmp_path: Path) -> None:
    assert write_small_pack(tmp_path).read_bytes() == path.read_bytes()


def test_a_share_takes_whole_speakers(pack: SpeechPack, tmp_path: Path) -> None:
    half = read_pack(write_small_pack(tmp_path, share=0.5))
    assert half.people < pack.people
    assert half.recordings == tuple(one for one in pack.recordings if (one.source, one.speaker) in half.heard)


def test_parts_cover_the_same_time(pack: SpeechPack) -> None:
    assert len(pack.mfcc) == sum(one.frames for one in pack.recordings) == STEP_FRAMES * len(pack.embeddings)
    assert len(pack.mfcc) == 2 * (len(pack.phonemes.starts) - 1)
    begins = np.cumsum([0, *(one.frames for one in pack.recordings)]) / 100
    assert {one.start for one in pack.transcripts if one.text == "something else"} == set(begins[:-1].tolist())
    outside = pack.phonemes.between(-3, 2, 191, 190)
    assert (outside[:3, 190] == 0).all()
    assert (outside.max(axis=1) == 0).all()


def test_nobody_is_in_two_splits_and_the_keyword_is_cut_out(pack: SpeechPack) -> None:
    clips = packed_clips(pack, ["updown"], validation=0.5)
    speakers = {split: {clip.speaker for clip in clips if clip.split is split} for split in Split}
    assert speakers[Split.TRAIN]
    assert speakers[Split.VALIDATION]
    assert not speakers[Split.TRAIN] & speakers[Split.VALIDATION]
    assert not speakers[Split.TEST]
    said = [one for one in pack.transcripts if one.says("updown")]
    for clip in clips:
        assert clip.part is not None
        assert not any(clip.part[0] < one.end and one.start < clip.part[1] for one in said)
    whole = packed_clips(pack, ["nothing of this"], validation=0.5)
    assert PackedStore(whole, pack).hours == pytest.approx(pack.hours, rel=0.02)
    assert PackedStore(clips, pack).hours < 0.9 * pack.hours


def test_windows_are_those_of_the_features(pack: SpeechPack) -> None:
    store = PackedStore(packed_clips(pack, [], validation=0.5), pack)
    rows, offsets = torch.tensor([0, 1]), torch.tensor([8, 0])
    windows = store.log_mel(rows, offsets, 96)
    dct = torch.from_numpy(np.array(dct_matrix(FeatureConfig())))
    for row, offset, window in zip(rows.tolist(), offsets.tolist(), windows, strict=True):
        torch.testing.assert_close(window @ dct, store.mfcc(row)[offset : offset + 96], atol=1e-3, rtol=0)
    assert sum(len(some) for _, some, _ in store.hops(96)) == sum((int(n) - 96) // 16 + 1 for n in store.lengths)
    assert (store.starts % STEP_FRAMES == 0).all()


@pytest.mark.parametrize("name", ["nothing", "nothing.pack", "/dev/null"])
def test_a_pack_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="starter"):
        pack_path(name)


def test_the_starter_pack_is_that_of_the_checkout_or_of_the_installed_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pack_path(STARTER) == assets_folder().parent / "background" / BACKGROUND_PACKAGE / "starter.pack"
    monkeypatch.setattr(starter, "assets_folder", lambda: tmp_path / "assets")
    monkeypatch.setattr(starter, "BACKGROUND_PACKAGE", "a_package_that_is_not_installed")
    with pytest.raises(ConfigError, match=r"wakeword-background 1\.0 or newer, .* install wakeword\[train\]"):
        pack_path(STARTER)
    package = tmp_path / "site" / "a_package_that_is_not_installed"
    package.mkdir(parents=True)
    for name in ("__init__.py", "starter.pack"):
        (package / name).touch()
    monkeypatch.syspath_prepend(package.parent)
    assert pack_path(STARTER) == package / "starter.pack"
    # An older package lacks the newer packs.
    with pytest.raises(ConfigError, match=r"others-micro\.pack of wakeword-background 1\.4 or newer"):
        pack_path(OTHERS)


@pytest.mark.parametrize("cut", [0, 1, 200])
def test_a_damaged_pack_is_refused(path: Path, cut: int, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.pack"
    data = path.read_bytes()
    damaged.write_bytes(data[: len(data) - cut] if cut else b"no pack")
    with pytest.raises(DataError, match="expected a pack"):
        read_pack(damaged)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_small_file_that_unpacks_to_more_than_a_pack_is_refused(
    compression: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starter, "_MAX_UNPACKED", 2**16)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as archive:
        archive.writestr("header.npy", bytes(2**17))
    path = tmp_path / "large.pack"
    path.write_bytes(lzma.compress(content.getvalue()))
    assert path.stat().st_size < 2**16
    with pytest.raises(DataError, match="unpacks to more than 65536"):
        read_pack(path)


def rewritten(path: Path, out: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Path:
    """The pack with what ``change`` does to its header and its arrays."""
    with np.load(io.BytesIO(lzma.decompress(path.read_bytes()))) as content:
        arrays = {name: content[name] for name in content.files}
    header = json.loads(arrays["header"].tobytes())
    change(header, arrays)
    packed = io.BytesIO()
    np.savez(packed, **(arrays | {"header": np.frombuffer(json.dumps(header).encode(), np.uint8)}))
    out.write_bytes(lzma.compress(packed.getvalue(), preset=0))
    return out


def test_a_pack_of_another_version_is_refused(path: Path, tmp_path: Path) -> None:
    assert read_pack(rewritten(path, tmp_path / "same.pack", lambda header, arrays: None)).recordings
    with pytest.raises(DataError, match=r"changed\.pack: expected a pack of version"):
        read_pack(rewritten(path, tmp_path / "changed.pack", lambda header, arrays: header.update(version=0)))


def test_a_pack_of_other_networks_is_refused(path: Path, tmp_path: Path) -> None:
    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        header["embedding_digest"] = "0" * 64

    other = rewritten(path, tmp_path / "other.pack", change)
    world = DataFolders(speech_commands=write_world(tmp_path / "world", speakers=6))
    config = small_config(starter_pack=str(other), second_stage=SMALL_SECOND_STAGE)
    with pytest.raises(DataError, match="of the networks that are included"):
        gather_clips(config, world)


def test_people_of_the_pack_are_not_given_twice(pack: SpeechPack) -> None:
    config = small_config(starter_pack=str(pack.path))
    spoken = pack.path.parent / "spoken"
    clips = gather_clips(
        config, DataFolders(speech_commands=write_world(pack.path.parent / "w", speakers=6), background=[spoken])
    )
    background = [clip for clip in clips if clip.kind is Kind.BACKGROUND]
    assert background
    assert all(clip.is_packed for clip in background)


def test_a_model_is_trained_and_measured_without_any_recording_of_speech(pack: SpeechPack, tmp_path: Path) -> None:
    world = DataFolders(speech_commands=write_world(tmp_path / "world", speakers=24))
    config = small_config(starter_pack=str(pack.path), method="bce", second_stage=SMALL_SECOND_STAGE)
    result = train_model(config, world, tmp_path / "m.onnx", work=tmp_path)
    assert result.second_stage is not None
    packed = [clip for clip in result.clips if clip.is_packed]
    validation = PackedStore([clip for clip in packed if clip.split is Split.VALIDATION], pack)
    assert result.second_stage.held_out.hours == pytest.approx(validation.hours)
    card = read_model(tmp_path / "m.onnx").card
    assert card.training["starter_pack"]["people"] == len(pack.people)
    assert card.verifier is not None
    assert card.verifier.candidates_per_hour is not None


def test_a_clip_is_of_the_pack_only_if_its_file_is() -> None:
    assert not Clip(Path("talk.wav"), Kind.BACKGROUND, "", "", Split.TRAIN).is_packed
    assert PackedStore.of([Clip(Path("talk.wav"), Kind.BACKGROUND, "", "", Split.TRAIN)]) is None


def test_the_shipped_pack_is_of_the_shipped_networks_and_of_many_people() -> None:
    shipped = read_pack(pack_path(STARTER))
    assert (shipped.embedding_digest, shipped.phonemes_digest) == shipped_digests()
    assert shipped.licence == "CC-BY-4.0"
    assert len(shipped.people) >= 150
    assert shipped.hours > 1.6  # without an event this supports one an hour
    assert shipped.path.stat().st_size < 15e6
    for split in (Split.TRAIN, Split.VALIDATION):
        store = PackedStore([c for c in packed_clips(shipped, ["marvin"], validation=0.8) if c.split is split], shipped)
        assert store.hours > 0.2
