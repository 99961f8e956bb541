"""Splits are by speaker; Speech Commands is read as published."""

import dataclasses
import json
import math
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from wakeword.base.errors import AudioFileError, DataError
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.transcripts import speaker_of
from wakeword_train import DataFolders, TrainConfig
from wakeword_train.data.clips import (
    Clip,
    deal_speakers,
    hash_split,
    hold_out,
    read_folder,
    read_speech_commands,
    without_fold,
)
from wakeword_train.training import gather_clips


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, np.zeros(800, np.float32), 16_000)


def splits(clips: list[Clip]) -> dict[str, set[Split]]:
    found: dict[str, set[Split]] = {}
    for clip in clips:
        found.setdefault(clip.speaker, set()).add(clip.split)
    return found


@pytest.fixture
def speech_commands(tmp_path: Path) -> Path:
    for word in ("marvin", "seven"):
        touch(*(tmp_path / word / f"{speaker:08x}_nohash_{n}.wav" for speaker in range(40) for n in range(2)))
    touch(tmp_path / "_background_noise_" / "white_noise.wav")
    return tmp_path


def test_the_hash_rule_is_the_published_one() -> None:
    # Computed with the function that the dataset's README prints.
    expected = {
        "0a7c2a8d_nohash_0.wav": Split.TRAIN,
        "00176480_nohash_0.wav": Split.TRAIN,
        "022cd682_nohash_0.wav": Split.TEST,
        "0c40e715_nohash_0.wav": Split.TEST,
    }
    assert {name: hash_split(name) for name in expected} == expected


def test_hash_split_puts_about_a_tenth_into_each_held_out_split() -> None:
    found = [hash_split(f"{n:08x}_nohash_0.wav") for n in range(4_000)]
    assert found.count(Split.VALIDATION) == pytest.approx(400, rel=0.2)
    assert found.count(Split.TEST) == pytest.approx(400, rel=0.2)


def test_speech_commands_without_lists_is_split_by_the_hash_rule(speech_commands: Path) -> None:
    clips = read_speech_commands(speech_commands, "marvin")
    words = [clip for clip in clips if clip.kind is not Kind.NOISE]
    assert len(words) == 160
    assert {clip.kind for clip in clips if clip.word == "marvin"} == {Kind.POSITIVE}
    assert {clip.kind for clip in clips if clip.word == "seven"} == {Kind.NEGATIVE}
    assert {clip.kind for clip in clips if clip.word == "_background_noise_"} == {Kind.NOISE}
    assert all(clip.split is hash_split(clip.path.name) for clip in words)


def test_speech_commands_with_lists_is_split_by_the_lists(speech_commands: Path) -> None:
    (speech_commands / "validation_list.txt").write_text("marvin/00000001_nohash_0.wav\nmarvin/00000001_nohash_1.wav\n")
    (speech_commands / "testing_list.txt").write_text("seven/00000002_nohash_0.wav\n")
    split_of = {f"{c.word}/{c.path.stem}": c.split for c in read_speech_commands(speech_commands, "marvin")}
    assert [name for name, split in split_of.items() if split is Split.VALIDATION] == [
        "marvin/00000001_nohash_0",
        "marvin/00000001_nohash_1",
    ]
    assert [name for name, split in split_of.items() if split is Split.TEST] == ["seven/00000002_nohash_0"]


def test_lists_hold_for_a_set_converted_to_flac(tmp_path: Path) -> None:
    touch(tmp_path / "marvin" / "00000001_nohash_0.flac")
    (tmp_path / "validation_list.txt").write_text("marvin/00000001_nohash_0.wav\n")
    (tmp_path / "testing_list.txt").write_text("")
    assert [clip.split for clip in read_speech_commands(tmp_path, "marvin")] == [Split.VALIDATION]


@given(speakers=st.integers(1, 60), each=st.integers(1, 4))
def test_dealt_speakers_are_in_one_split_each_and_fill_all_splits(speakers: int, each: int) -> None:
    clips = [
        Clip(Path(f"{s}_nohash_{n}.wav"), Kind.NEGATIVE, "w", str(s), Split.TRAIN)
        for s in range(speakers)
        for n in range(each)
    ]
    dealt = splits(deal_speakers(clips))
    assert all(len(of_speaker) == 1 for of_speaker in dealt.values())
    if speakers >= 3:
        assert set.union(*dealt.values()) == set(Split)


def test_a_speaker_in_two_folders_is_in_one_split(tmp_path: Path) -> None:
    touch(*(tmp_path / "pos" / f"{s:08x}_nohash_0.wav" for s in range(20, 50)))
    touch(*(tmp_path / "neg" / f"{s:08x}_nohash_0.wav" for s in range(60)))
    touch(*(tmp_path / "words" / "yes" / f"{s:08x}_nohash_0.wav" for s in range(40, 80)))
    data = DataFolders(speech_commands=tmp_path / "words", positives=[tmp_path / "pos"], negatives=[tmp_path / "neg"])
    clips = gather_clips(TrainConfig(keyword="marvin"), data)
    assert len(clips) == 130
    assert all(len(of_speaker) == 1 for of_speaker in splits(clips).values())
    assert all(clip.split is hash_split(clip.path.name) for clip in clips if clip.word == "yes")


def test_the_configured_shares_of_speakers_are_held_out(tmp_path: Path) -> None:
    touch(*(tmp_path / "mine" / f"{number}.wav" for number in range(20)))
    touch(*(tmp_path / "other" / f"x{number}.wav" for number in range(20)))
    config = TrainConfig(keyword="mine", validation_share=0.2, test_share=0.35)
    clips = gather_clips(config, DataFolders(positives=[tmp_path / "mine"], negatives=[tmp_path / "other"]))
    for kind in (Kind.POSITIVE, Kind.NEGATIVE):
        of_kind = [clip.split for clip in clips if clip.kind is kind]
        assert [of_kind.count(split) for split in (Split.TRAIN, Split.VALIDATION, Split.TEST)] == [9, 4, 7]


def test_only_the_utterances_with_the_word_are_left_out_and_every_recording_keeps_its_split(tmp_path: Path) -> None:
    touch(*(tmp_path / "mine" / f"{number}.wav" for number in range(6)))
    touch(*(tmp_path / "long" / f"{number}-1.wav" for number in range(12)))
    data = DataFolders(positives=[tmp_path / "mine"], background=[tmp_path / "long"])

    def background() -> list[Clip]:
        return [clip for clip in gather_clips(TrainConfig(keyword="Stop"), data) if clip.kind is Kind.BACKGROUND]

    before = {clip.path.name: clip.split for clip in background()}
    texts = {"3-1.wav": "AND THEN STOP HE SAID", "4-1.wav": "nonstop", "5-1.wav": "unstoppable"}
    lines = [json.dumps({"file": file, "start": 4.0, "end": 6.0, "text": text}) for file, text in texts.items()]
    (tmp_path / "long" / "transcripts.jsonl").write_text("\n".join(lines) + "\n")
    after = background()
    assert {clip.path.name: clip.split for clip in after} == before
    cut = {clip.path.name: [one.part for one in after if one.path == clip.path] for clip in after if clip.part}
    assert cut == {"3-1.wav": [(0.0, 3.5), (6.5, math.inf)]}
    (tmp_path / "long" / "transcripts.jsonl").write_text(lines[0] + "\nnothing\n")
    with pytest.raises(DataError, match=r"transcripts\.jsonl, line 2"):
        background()


def test_a_recording_of_many_people_is_dealt_by_speaker(tmp_path: Path) -> None:
    touch(tmp_path / "mine" / "a.wav", tmp_path / "mine" / "b.wav", tmp_path / "mine" / "c.wav")
    touch(tmp_path / "long" / "all.wav")
    lines = [
        json.dumps({"file": "all.wav", "start": start, "end": start + 9.0, "text": "go", "speaker": f"p{start // 20}"})
        for start in range(0, 400, 10)
    ]
    (tmp_path / "long" / "transcripts.jsonl").write_text("\n".join(lines) + "\n")
    clips = read_folder(tmp_path / "long", Kind.BACKGROUND, keyword="stop", placed={"p3": Split.TEST})
    assert [clip.speaker for clip in clips] == [f"p{number}" for number in range(20)]
    assert {clip.split for clip in clips} == set(Split)
    assert clips[3].split is Split.TEST
    spans = [clip.part for clip in clips]
    assert spans[0] == (0.0, 19.5)
    assert spans[-1] == (379.5, math.inf)
    # Pieces of less than a second between two cuts are of no use.
    (rest,) = read_folder(tmp_path / "long", Kind.BACKGROUND, keyword="go")
    assert rest.part == (399.5, math.inf)


def test_the_keyword_is_found_in_any_case(tmp_path: Path) -> None:
    touch(tmp_path / "marvin" / "a_nohash_0.wav")
    assert [clip.kind for clip in read_speech_commands(tmp_path, "Marvin")] == [Kind.POSITIVE]


def test_hold_out_includes_all_clips_of_the_speakers() -> None:
    def clip(kind: Kind, speaker: str, *, synthetic: bool = False) -> Clip:
        return Clip(Path(f"{speaker}.wav"), kind, "w", speaker, Split.TRAIN, synthetic)

    clips = [
        clip(Kind.POSITIVE, "ann"),
        clip(Kind.NEGATIVE, "ann"),
        clip(Kind.NEGATIVE, "bob"),
        clip(Kind.POSITIVE, "robot", synthetic=True),
    ]
    held = hold_out(clips, Kind.POSITIVE)
    assert splits(held) == {"ann": {Split.TEST}, "bob": {Split.TRAIN}, "robot": {Split.TRAIN}}


def test_parts_of_the_background_are_dealt_by_speaker() -> None:
    def clip(kind: Kind, speaker: str, split: Split = Split.TRAIN) -> Clip:
        return Clip(Path(f"{speaker}.wav"), kind, "w", speaker, split)

    own = [clip(Kind.BACKGROUND, f"reader {number}") for number in range(10) for _ in range(2)]
    others = [
        clip(Kind.POSITIVE, "ann"),
        clip(Kind.BACKGROUND, "ann"),
        clip(Kind.BACKGROUND, "bob", Split.VALIDATION),
        clip(Kind.BACKGROUND, "eve", Split.TEST),
    ]
    parts = [without_fold([*own, *others], fold, 3) for fold in range(3)]
    for part in parts:
        assert part[len(own) :] == others
        assert [dataclasses.replace(one, split=Split.TRAIN) for one in part[: len(own)]] == own
    held_out = [{one.speaker for one in part[: len(own)] if one.split is Split.VALIDATION} for part in parts]
    assert sorted(map(len, held_out)) == [3, 3, 4]
    assert set().union(*held_out) == {one.speaker for one in own}
    assert all(
        splits(part)[speaker] == {Split.VALIDATION}
        for part, some in zip(parts, held_out, strict=True)
        for speaker in some
    )


@pytest.mark.parametrize(
    ("name", "speaker"),
    [
        ("0c40e715_nohash_1.wav", "0c40e715"),
        ("163-122947.opus", "163"),
        ("door slam.wav", "door slam"),
        ("2024-05-01_10-22.wav", "2024-05-01_10-22"),
    ],
)
def test_speaker_of(name: str, speaker: str) -> None:
    assert speaker_of(Path(name)) == speaker


def test_a_folder_without_audio_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AudioFileError, match="expected audio files"):
        read_folder(tmp_path, Kind.BACKGROUND)
    with pytest.raises(DataError, match="Speech Commands"):
        read_speech_commands(tmp_path / "absent", "marvin")


def test_a_damaged_manifest_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "manifest.jsonl").write_text('{"file": "a.flac"}\n')
    with pytest.raises(DataError, match="line 1"):
        read_folder(tmp_path, Kind.POSITIVE)


def test_a_folder_that_cannot_be_searched_is_an_error_not_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(folder: str):
        if Path(folder).name == "secret":
            raise PermissionError(13, "Permission denied", folder)
        return os.scandir(folder)

    for name in ("marvin", "other/secret"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "a.wav").touch()
    monkeypatch.setattr("wakeword.base.listing.os", SimpleNamespace(scandir=refusing, fspath=os.fspath))
    with pytest.raises(AudioFileError, match=r"secret: could not search this folder for audio: Permission denied"):
        read_folder(tmp_path, Kind.NEGATIVE)
    with pytest.raises(AudioFileError, match="secret"):
        read_speech_commands(tmp_path, "marvin")
