"""Lists of recordings: Speech Commands as published, and plain folders of clips.

Each clip has a kind, a speaker and a split. No speaker is in two splits.
"""

import dataclasses
import hashlib
import logging
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wakeword.audio.audio_listing import audio_files
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import DataError
from wakeword.base.types import Array
from wakeword_tools.clips.manifest import MANIFEST, read_manifest
from wakeword_tools.kinds import Kind as Kind
from wakeword_tools.kinds import Split as Split
from wakeword_tools.transcripts import TimedText, describe_cut, read_transcripts, speaker_of, turns, without_keyword
from wakeword_train.pack.starter import SUFFIX

log = logging.getLogger(__name__)

_MIN_PART = 1.0
"""Seconds of a long recording that are worth keeping between two parts that are left out."""


@dataclass(frozen=True)
class Clip:
    """One recording, or a part of a long one."""

    path: Path
    kind: Kind
    word: str
    """The spoken text, or the name of the sound."""
    speaker: str
    split: Split
    synthetic: bool = False
    part: tuple[float, float] | None = None
    """Start and end in seconds of the recording, the end infinite for its own; ``None``: all of it."""

    @property
    def is_packed(self) -> bool:
        """Whether it is a part of the starter pack, which holds features in place of audio."""
        return self.path.suffix == SUFFIX

    @property
    def engine(self) -> str:
        """What spoke a synthetic clip, as voices are named ``engine:voice``; empty of a recorded one."""
        return self.speaker.partition(":")[0] if self.synthetic else ""

    def cut(self, samples: Array) -> Array:
        """The part of the recording's samples at 16 kHz, ``(n,)``, that this is."""
        if self.part is None:
            return samples
        start, end = (round(min(time * SAMPLE_RATE, len(samples))) for time in self.part)
        return samples[start:end]


def read_speech_commands(root: Path, keyword: str) -> list[Clip]:
    """Speech Commands v0.01 or v0.02 as published, WAV or FLAC: a folder per word.

    The split comes from ``validation_list.txt`` and ``testing_list.txt`` if both exist, and from the dataset's hash
    rule otherwise. Folders in underscores (``_background_noise_``, ``_silence_``) are noise. Raises ``DataError`` if
    ``root`` is not such a folder.
    """
    words = sorted(path for path in root.iterdir() if path.is_dir()) if root.is_dir() else []
    if not words:
        raise DataError(f"{root}: expected Speech Commands, a folder per word; found no folders there")
    listed = _official_lists(root)
    clips = []
    for folder in words:
        is_noise = folder.name.startswith("_")
        is_keyword = folder.name.casefold() == keyword.casefold()
        kind = Kind.NOISE if is_noise else Kind.POSITIVE if is_keyword else Kind.NEGATIVE
        for path in audio_files(folder, required=False):
            if listed is not None and not is_noise:
                split = listed.get(f"{folder.name}/{path.stem}", Split.TRAIN)
            else:
                split = hash_split(path.name)
            clips.append(Clip(path, kind, folder.name, speaker_of(path), split))
    return clips


def _official_lists(root: Path) -> dict[str, Split] | None:
    """``word/stem`` -> split, for all clips outside training; ``None`` if the lists are missing."""
    files = {Split.VALIDATION: root / "validation_list.txt", Split.TEST: root / "testing_list.txt"}
    if not all(file.is_file() for file in files.values()):
        return None
    # Without the suffix, so that the lists still match a set converted to FLAC.
    listed = [(line.strip(), split) for split, file in files.items() for line in file.read_text().splitlines()]
    return {name.rpartition(".")[0]: split for name, split in listed if name}


def hash_split(file_name: str) -> Split:
    """The rule in the README of Speech Commands: a fixed hash of the speaker; 10 per cent each for validation and test."""
    speaker = re.sub(r"_nohash_.*$", "", file_name)
    largest = 2**27 - 1
    position = int(hashlib.sha1(speaker.encode()).hexdigest(), 16) % (largest + 1) * (100.0 / largest)
    if position < 10:
        return Split.VALIDATION
    return Split.TEST if position < 20 else Split.TRAIN


def deal_speakers(
    clips: Iterable[Clip], *, placed: Mapping[str, Split] | None = None, validation: float = 0.15, testing: float = 0.15
) -> list[Clip]:
    """The same clips with their speakers dealt out, by a hash of their names; speakers in ``placed`` keep their split.

    At least one speaker goes to each split with a share as soon as there are three. For folders that define no split, and
    for excerpts of a published set that hold only one of its splits.
    """
    clips = list(clips)
    speakers = sorted({clip.speaker for clip in clips}, key=lambda name: hashlib.sha1(name.encode()).hexdigest())
    split = {speaker: own for speaker, own in (placed or {}).items() if speaker in speakers}
    enough = len(speakers) >= 3
    for dealt, share in ((Split.TEST, testing), (Split.VALIDATION, validation)):
        wanted = max(1, round(share * len(speakers))) if enough and share > 0 else 0
        missing = wanted - list(split.values()).count(dealt)
        free = [speaker for speaker in speakers if speaker not in split]
        split |= dict.fromkeys(free[: max(0, missing)], dealt)
    return [dataclasses.replace(clip, split=split.get(clip.speaker, Split.TRAIN)) for clip in clips]


def read_folder(
    root: Path,
    kind: Kind,
    *,
    keyword: str = "",
    also: Sequence[str] = (),
    placed: Mapping[str, Split] | None = None,
    validation: float = 0.15,
    testing: float = 0.15,
) -> list[Clip]:
    """A folder of clips of one kind, read recursively.

    If the folder has a manifest, it gives each clip's split. Otherwise speakers are taken from the file names
    (``speaker_nohash_n`` and ``speaker-chapter``; any other file counts as a separate speaker) and dealt out, except
    those already ``placed`` by other recordings. Background with transcripts is divided by speaker, and the utterances
    in which ``keyword`` or a phrase of ``also`` is said are left out. Raises ``AudioFileError`` if it holds no audio.
    """
    if (root / MANIFEST).is_file():
        rows = read_manifest(root / MANIFEST)
        return [Clip(root / row.file, kind, row.text, row.source, row.split, row.synthetic) for row in rows]
    files = audio_files(root)
    if kind is Kind.BACKGROUND:
        clips = deal_speakers(_by_turn(root, files), placed=placed, validation=validation, testing=testing)
        for phrase in (keyword, *also):
            clips = _without_keyword(clips, root, phrase)
        return clips
    clips = [Clip(path, kind, path.parent.name, speaker_of(path), Split.TRAIN) for path in files]
    return deal_speakers(clips, placed=placed, validation=validation, testing=testing)


def _by_turn(root: Path, files: Iterable[Path]) -> list[Clip]:
    """Long recordings, divided where the transcripts say that another speaker begins."""
    parts: dict[Path, list[TimedText]] = {}
    for turn in turns(read_transcripts(root)):
        parts.setdefault(turn.path, []).append(turn)
    return [
        Clip(
            path,
            Kind.BACKGROUND,
            path.parent.name,
            turn.speaker or speaker_of(path),
            Split.TRAIN,
            part=None if turn == TimedText(path, speaker=turn.speaker) else turn.span,
        )
        for path in files
        for turn in parts.get(path, [TimedText(path)])
    ]


def _without_keyword(clips: list[Clip], root: Path, keyword: str) -> list[Clip]:
    """What the clips hold apart from the keyword; after dealing, so that a cut changes no speaker's split."""
    utterances = [one for one in read_transcripts(root) if one.says(keyword)]
    if not utterances:
        return clips
    log.info("%s", describe_cut(utterances, keyword))
    kept = []
    for clip in clips:
        whole = TimedText(clip.path, *(clip.part or (0.0, math.inf)))
        for part in without_keyword([whole], utterances, keyword):
            if part == whole:
                kept.append(clip)
            elif part.end - part.start >= _MIN_PART:
                kept.append(dataclasses.replace(clip, part=part.span))
    return kept


def hold_out(clips: Iterable[Clip], kind: Kind) -> list[Clip]:
    """The clips, with every recorded clip of ``kind`` and all other clips of its speakers moved to the test split."""
    clips = list(clips)
    people = {clip.speaker for clip in clips if clip.kind is kind and not clip.synthetic}
    return [dataclasses.replace(clip, split=Split.TEST) if clip.speaker in people else clip for clip in clips]


def without_fold(clips: Iterable[Clip], fold: int, folds: int) -> list[Clip]:
    """The clips, with one of ``folds`` parts of the background's train split moved to the validation split.

    The parts are dealt by speaker. Speakers with other clips that a model is trained on are in no part.
    """
    clips = list(clips)
    elsewhere = {clip.speaker for clip in clips if clip.kind is not Kind.BACKGROUND}
    own = {clip.speaker for clip in clips if clip.kind is Kind.BACKGROUND and clip.split is Split.TRAIN} - elsewhere
    # Another order than in ``deal_speakers``, which has taken the first of its own for the other splits.
    dealt = sorted(own, key=lambda name: hashlib.sha1(f"fold {name}".encode()).hexdigest())
    held_out = set(dealt[fold::folds])
    return [
        dataclasses.replace(clip, split=Split.VALIDATION)
        if clip.kind is Kind.BACKGROUND and clip.split is Split.TRAIN and clip.speaker in held_out
        else clip
        for clip in clips
    ]
