"""Parts of the starter pack as a store: windows of features where ``ClipStore`` has windows of audio."""

import hashlib
import math
from collections.abc import Iterable, Iterator

import numpy as np
import torch
from torch import Tensor

from wakeword.audio.features import FeatureConfig, dct_matrix
from wakeword.format.card import DEFAULT_HOP
from wakeword.verify.embedding import STEP_FRAMES
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.transcripts import without_keyword
from wakeword_train.data.clips import Clip, deal_speakers
from wakeword_train.pack.starter import (
    BLOCK,
    FRAMES_A_SECOND,
    BlockCodec,
    PackedSpeech,
    SpeechPack,
    hours_of,
    read_pack,
    transform,
)

_MIN_FRAMES = 2 * FRAMES_A_SECOND
"""Frames that must be left of a turn: a shorter piece hardly holds a window."""


def packed_clips(pack: PackedSpeech, phrases: Iterable[str], *, validation: float) -> list[Clip]:
    """The turns of a pack, without the utterances in which one of ``phrases`` is said; that share of the speakers for
    validation."""
    clips = [Clip(pack.path, Kind.BACKGROUND, "speech", part.speaker, Split.TRAIN) for part in pack.parts]
    dealt = deal_speakers(clips, validation=validation, testing=0.0)
    split = {clip.speaker: clip.split for clip in dealt}
    kept, utterances = pack.parts, pack.transcripts
    for phrase in phrases:
        kept = without_keyword(kept, utterances, phrase)
    return [
        Clip(pack.path, Kind.BACKGROUND, "speech", part.speaker, split[part.speaker], part=part.span)
        for part in kept
        if _frames(part.span)[1] >= _MIN_FRAMES
    ]


def _frames(part: tuple[float, float]) -> tuple[int, int]:
    """First frame and number of frames of a part: whole steps of the embedding."""
    first = math.ceil(round(part[0] * FRAMES_A_SECOND, 3) / STEP_FRAMES) * STEP_FRAMES
    last = math.floor(round(part[1] * FRAMES_A_SECOND, 3) / STEP_FRAMES) * STEP_FRAMES
    return first, max(0, last - first)


def places_of(clips: Iterable[Clip]) -> tuple[Tensor, Tensor]:
    """The first frame of each clip of a pack, and its frames, ``(clips,)``."""
    places = [_frames(clip.part or (0.0, 0.0)) for clip in clips]
    starts, lengths = torch.tensor(places, dtype=torch.int64).reshape(-1, 2).unbind(dim=1)
    return starts, lengths


class PackedStore:
    """The clips among ``clips`` that are parts of one pack, and their features."""

    def __init__(self, clips: Iterable[Clip], pack: SpeechPack) -> None:
        self.clips = [clip for clip in clips if clip.is_packed]
        self.pack = pack
        self.starts, self.lengths = places_of(self.clips)
        self._mfcc = torch.from_numpy(pack.mfcc)
        self._to_log_mel = torch.from_numpy(np.ascontiguousarray(dct_matrix(FeatureConfig()).T))

    @classmethod
    def of(cls, clips: Iterable[Clip]) -> "PackedStore | None":
        """The store of the packed clips, or ``None`` if there are none. ``DataError`` for a pack that cannot be read."""
        packed = [clip for clip in clips if clip.is_packed]
        return cls(packed, read_pack(packed[0].path)) if packed else None

    def __len__(self) -> int:
        return len(self.clips)

    @property
    def hours(self) -> float:
        """Hours of sound."""
        return hours_of(float(self.lengths.sum()))

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits of the pack and of the parts."""
        content = [self.pack.digest, self.starts.tolist(), self.lengths.tolist()]
        return hashlib.sha256(repr(content).encode()).hexdigest()[:16]

    def mfcc(self, row: int) -> Tensor:
        """The frames of a clip, ``(frames, n_mfcc)``."""
        first = int(self.starts[row])
        return self._mfcc[first : first + int(self.lengths[row])]

    def embeddings(self, row: int) -> Tensor:
        """The embeddings of a clip, ``(frames / 8, 96)`` half."""
        first = int(self.starts[row]) // STEP_FRAMES
        return torch.from_numpy(self.pack.embeddings[first : first + int(self.lengths[row]) // STEP_FRAMES])

    def log_mel(self, rows: Tensor, offsets: Tensor, window: int, *, speed: Tensor | None = None) -> Tensor:
        """Log mel energies of windows that begin ``offsets`` frames into the clips ``rows``, ``(batch, window, n_mels)``.

        ``speed`` ``(batch,)``: frames of the clip per frame of the window. Beyond the end of a clip its last frame stays.
        """
        rate = torch.ones(len(rows)) if speed is None else speed
        position = torch.arange(window, dtype=torch.float32) * rate[:, None]
        whole = position.floor()
        last = (self.lengths[rows] - 1)[:, None]
        before = torch.minimum(offsets[:, None] + whole.long(), last)
        after = torch.minimum(before + 1, last)
        begin = self.starts[rows][:, None]
        frames = torch.lerp(self._mfcc[begin + before], self._mfcc[begin + after], (position - whole)[..., None])
        return frames @ self._to_log_mel

    def any_offsets(self, rows: Tensor, window: int, *, generator: torch.Generator) -> Tensor:
        """Random offsets of windows inside their clips, ``(batch,)``."""
        slack = (self.lengths[rows] - window).clamp_min(0)
        return (torch.rand(len(rows), generator=generator) * (slack + 1)).long()

    def hops(self, window: int, *, step: int = DEFAULT_HOP) -> Iterator[tuple[int, Tensor, Tensor]]:
        """Each clip that holds a window: its row, its windows ``step`` frames apart, ``(windows, window, n_mfcc)``, and
        their offsets ``(windows,)``."""
        for row in range(len(self)):
            frames = self.mfcc(row)
            if len(frames) >= window:
                windows = frames.unfold(0, window, step).transpose(1, 2)
                yield row, windows, torch.arange(len(windows)) * step


def rounded(rows: Tensor, codec: BlockCodec) -> Tensor:
    """Sequences of vectors as a pack would hold them, ``(batch, n, width)`` -> the same shape.

    So that no network learns that what is rounded is background: what is not from the pack is rounded too, now and then.
    """
    batch, count, width = rows.shape
    padded = torch.cat([rows, rows[:, -1:].expand(-1, -count % BLOCK, -1)], dim=1)
    matrix, mean, steps = (
        torch.from_numpy(np.ascontiguousarray(one)) for one in (transform(), codec.mean, codec.steps)
    )
    blocks = (padded - mean).view(batch, -1, BLOCK, width)
    codes = torch.round(torch.einsum("ij,bnjw->bniw", matrix, blocks) / steps) * steps
    return (torch.einsum("ji,bnjw->bniw", matrix, codes) + mean).reshape(batch, -1, width)[:, :count]
