"""Clips in memory, and windows cut out of them."""

import hashlib
import logging
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import INT16_STEP, SAMPLE_RATE
from wakeword.base.errors import AudioError, DataError
from wakeword.base.events import Events
from wakeword.base.text import counted
from wakeword.base.types import Array
from wakeword.takes.take import Fault, examine, is_clipped
from wakeword.takes.word_region import Region, locate_word
from wakeword_tools.kinds import Kind
from wakeword_train.data.augment import factors
from wakeword_train.data.clips import Clip

log = logging.getLogger(__name__)

_CUT_ROWS = 8
_FULL_SCALE = 32_767
"""Of the samples that are kept. Networks hear them a little quieter, in units of ``INT16_STEP``, as models were trained."""


class ClipStore:
    """All samples of a list of clips in one int16 array, and the position of each clip in it.

    Unreadable files are logged and left out: ``clips`` holds only those that were read.
    """

    def __init__(self, clips: Sequence[Clip]) -> None:
        # Parts of one long recording stand together, and it is decoded once for all of them.
        files = [list(of_file) for _, of_file in groupby(clips, key=lambda clip: clip.path)]
        with ThreadPoolExecutor(4) as pool:
            loaded = [read for of_file in pool.map(_read, files) for read in of_file]
        if clips and not loaded:
            raise DataError(
                f"none of the {counted(len(clips), f'{clips[0].kind.value} clip')} could be read; see the warnings above"
            )
        self.skipped = len(clips) - len(loaded)
        self.clips: list[Clip] = [read.clip for read in loaded]
        self.lengths = torch.tensor([len(read.samples) for read in loaded], dtype=torch.int64)
        self.starts = torch.cumsum(self.lengths, 0) - self.lengths
        self.word_starts = torch.tensor([read.word.start for read in loaded], dtype=torch.int64)
        self.word_ends = torch.tensor([read.word.end for read in loaded], dtype=torch.int64)
        self.floors = torch.tensor([read.floor for read in loaded], dtype=torch.float32)
        samples = [read.samples for read in loaded] or [np.zeros(1, np.int16)]
        self.samples = torch.from_numpy(np.concatenate(samples))

    def __len__(self) -> int:
        return len(self.clips)

    def recorded(self, row: int) -> Array:
        """The samples of a clip, ``(samples,)`` float32 of full scale 1."""
        return self._samples(row) / np.float32(_FULL_SCALE)

    def wave(self, row: int) -> Array:
        """The samples of a clip as networks hear them: ``(samples,)`` float32 of full scale 32,768 / 32,767."""
        return self._samples(row) * np.float32(INT16_STEP)

    def _samples(self, row: int) -> Array:
        """The samples of a clip as they are kept, whole numbers: ``(samples,)`` float32."""
        start, length = int(self.starts[row]), int(self.lengths[row])
        return self.samples[start : start + length].numpy().astype(np.float32)

    @property
    def hours(self) -> float:
        """Hours of audio held."""
        return float(self.lengths.sum()) / SAMPLE_RATE / 3600

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits of a hash of the samples, independent of where the files are."""
        return hashlib.sha256(self.samples.numpy().tobytes()).hexdigest()[:16]

    @property
    def record(self) -> dict[str, object]:
        """What a card says of it."""
        return {
            "clips": len(self),
            "synthetic": sum(clip.synthetic for clip in self.clips),
            "speakers": len({clip.speaker for clip in self.clips}),
            "hours": round(self.hours, 4),
            "fingerprint": self.fingerprint,
        }

    def cut(
        self,
        rows: Tensor,
        offsets: Tensor,
        samples: int,
        *,
        speed: Tensor | None = None,
        silent: Tensor | None = None,
        generator: torch.Generator,
    ) -> Tensor:
        """Windows of ``samples`` samples, one for each of ``rows``, beginning ``offsets`` samples into its clip.

        ``rows`` and ``offsets`` ``(batch,)`` int64; ``speed`` ``(batch,)``: samples of the clip per sample of the window
        -> ``(batch, samples)`` float32. Samples outside a clip are noise at that clip's floor, or digital silence in
        the rows that are ``silent`` ``(batch,)``. Speed and shift are one linear interpolation, because library
        resamplers take one ratio for a whole batch.
        """
        rate = torch.ones(len(rows)) if speed is None else speed
        floors = self.floors[rows] if silent is None else torch.where(silent, 0, self.floors[rows])
        # A few rows at a time stay in the processor's cache.
        pieces = torch.split(torch.arange(len(rows)), _CUT_ROWS)
        return torch.cat([self._cut(rows[r], offsets[r], rate[r], floors[r], samples, generator) for r in pieces])

    def _cut(
        self, rows: Tensor, offsets: Tensor, rate: Tensor, floors: Tensor, samples: int, generator: torch.Generator
    ) -> Tensor:
        # Steps and offsets are kept separate: one float32 would round a position more than 17 minutes into a recording.
        steps = torch.arange(samples, dtype=torch.float32)[None] * rate[:, None]
        fraction = steps - steps.floor()
        index = offsets[:, None] + steps.floor().long()
        last = self.lengths[rows][:, None] - 1
        inside = (index >= 0) & (index < last)
        index = self.starts[rows][:, None] + torch.minimum(index.clamp_min(0), (last - 1).clamp_min(0))
        wave = torch.lerp(self.samples[index].float(), self.samples[index + 1].float(), fraction) * INT16_STEP
        noise = torch.randn(wave.shape, generator=generator) * floors[:, None]
        return torch.where(inside, wave, noise)

    def word_offsets(self, rows: Tensor, samples: int, *, speed: Tensor, generator: torch.Generator) -> Tensor:
        """Random offsets at which a window holds the whole word, or is inside a longer word; ``(batch,)``."""
        span = (samples * speed).long()
        first, last = self.word_ends[rows] - span, self.word_starts[rows]
        low, high = torch.minimum(first, last), torch.maximum(first, last)
        return low + (torch.rand(len(rows), generator=generator) * (high - low + 1)).long()

    def any_offsets(self, rows: Tensor, samples: int, *, speed: Tensor, generator: torch.Generator) -> Tensor:
        """Random offsets of windows inside their clips, or around clips that are shorter; ``(batch,)``."""
        slack = self.lengths[rows] - (samples * speed).long()
        return (torch.rand(len(rows), generator=generator) * (slack.abs() + 1)).long() * slack.sign()

    def anywhere(
        self, count: int, size: int, *, weights: Tensor | None = None, change: float = 0.0, generator: torch.Generator
    ) -> Tensor:
        """Windows at random places of random clips, as often as their ``weights``, by default their lengths.

        Each is up to the share ``change`` faster or slower; no speed is drawn for 0. ``(count, size)`` float32.
        """
        weights = self.lengths.double() if weights is None else weights
        rows = torch.multinomial(weights, count, replacement=True, generator=generator)
        speed = factors(count, change, generator) if change else torch.ones(count)
        offsets = self.any_offsets(rows, size, speed=speed, generator=generator)
        return self.cut(rows, offsets, size, speed=speed, generator=generator)

    def fragment_offsets(self, rows: Tensor, samples: int, *, speed: Tensor, generator: torch.Generator) -> Tensor:
        """Offsets at which a window holds 25 to 60 % of the word, its beginning or its end; ``(batch,)``."""
        span = (samples * speed).long()
        length = (self.word_ends - self.word_starts)[rows]
        share = 0.25 + 0.35 * torch.rand(len(rows), generator=generator)
        beginning = torch.rand(len(rows), generator=generator) < 0.5
        kept = (share * length).long()
        return torch.where(beginning, self.word_starts[rows] + kept - span, self.word_ends[rows] - kept)


Stores = dict[Kind, ClipStore]
"""The clips of each kind."""


@dataclass(frozen=True)
class _Recording:
    clip: Clip
    samples: NDArray[np.int16]
    word: Region
    floor: float


def _read(clips: Sequence[Clip]) -> list[_Recording]:
    try:
        whole = read_audio(clips[0].path)
    except AudioError as error:
        log.warning("skipped: %s", error)
        return []
    recordings = []
    for clip in clips:
        samples = clip.cut(whole)
        if len(samples) < 2:
            # A part may begin after the end: the transcripts do not say how long the recording is.
            if clip.part is None:
                log.warning("skipped: %s: expected audio, found none", clip.path)
            continue
        word, floor = locate_word(samples)
        # As 16-bit integers: the 105,829 clips of Speech Commands then take 3.4 GB.
        pcm = np.round(samples * _FULL_SCALE).clip(-32_768, 32_767).astype(np.int16)
        recordings.append(_Recording(clip, pcm, word, floor))
    return recordings


_NAMED = 3
"""Recordings that are named; of more the number is told."""
_WHOLE = (Fault.SILENT, Fault.QUIET, Fault.CLIPPED)
"""The faults of a whole recording, which training can do nothing about."""


def note_faults(stores: Iterable[ClipStore], events: Events) -> None:
    """Name the recordings of the keyword in these stores that are silent, too quiet or clipped, a line for each fault."""
    found: dict[Fault, list[str]] = {}
    for store in stores:
        for row, clip in enumerate(store.clips):
            if clip.kind is Kind.POSITIVE and not clip.synthetic:
                samples = store.recorded(row)
                fault = examine(samples, clipped=is_clipped(samples)).fault
                if fault in _WHOLE:
                    found.setdefault(fault, []).append(clip.path.name)
    for fault, names in found.items():
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        recordings = counted(len(names), "recording")
        events.note(f"warning: {recordings} of the word ({', '.join(names[:_NAMED])}{more}): {fault}")
