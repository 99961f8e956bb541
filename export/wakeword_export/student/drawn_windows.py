"""Batches of windows for a student: where a word ends, around close words, and anywhere in other sound."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import torch
from torch import Tensor

from wakeword_export.micro.mixed_net import MICRO_WINDOW, STRIDE
from wakeword_export.student.scenes import Scenes
from wakeword_export.student.separable_network import FEATURES, NetShape, StudentNetwork, scaled
from wakeword_export.student.variation import restyled, varied
from wakeword_train.pack.starter import hours_of
from wakeword_train.synthesis_config import StudentConfig

_AFTER_WORD = (1, 10)
"""Frames from the end of a word to the first output that is to know it."""
_AROUND = (-20, 28)
"""The same for a close word and the last output: all outputs are to deny it."""
_SHARES = {"near": 0.22, "talk": 0.12, "noise": 0.03, "mined": 0.25, "speech": 0.14}
"""Shares of a batch; the rest is of the word. Before anything is mined, its share is speech."""
RESTYLED = 0.7
"""Share of windows with the sound of another one."""
_BATCH, _FRAMES = 200, 20_000
"""Scenes, and frames of parts of speech, that are heard at once."""


class MicroSpeech(NamedTuple):
    """The background's features, or what another network gives for them."""

    frames: Tensor
    """``(frames, 40)`` uint8, or as wide as the other network."""
    starts: Tensor
    """The first frame of each part that is used, ``(parts,)``."""
    lengths: Tensor
    """Its frames."""

    def joined(self, others: "MicroSpeech") -> "MicroSpeech":
        """These parts and others."""
        starts = torch.cat([self.starts, others.starts + len(self.frames)])
        return MicroSpeech(torch.cat([self.frames, others.frames]), starts, torch.cat([self.lengths, others.lengths]))

    @property
    def hours(self) -> float:
        """Hours in the parts."""
        return hours_of(float(self.lengths.sum()))

    def parts(self) -> Iterator[tuple[Tensor, Tensor]]:
        """The first frames of parts of one length that follow each other, and their features ``(parts, frames, 40)``."""
        for length, parts in groupby(zip(self.starts.tolist(), self.lengths.tolist(), strict=True), key=itemgetter(1)):
            for starts in torch.split(torch.tensor([start for start, _ in parts]), max(1, _FRAMES // length)):
                yield starts, self.frames[starts[:, None] + torch.arange(length)]


@dataclass(frozen=True)
class StudentScenes:
    """Everything that a student hears in training."""

    words: Scenes
    near: Scenes
    talk: Scenes
    noise: Scenes
    speech: MicroSpeech


class StudentBatch(NamedTuple):
    """Windows, and what is known of them."""

    windows: Tensor
    """``(batch, window, channels)``, from 0 on."""
    targets: Tensor
    """What is to be said of each."""
    synthetic: slice
    """Which are other words of synthetic voices."""
    people: slice
    """Which are of people, with the noise that was mistaken for the word."""


class StudentBatches:
    """Draws batches for a network of some shape; ``mine`` finds the windows that are mistaken for the word."""

    def __init__(
        self, scenes: StudentScenes, config: StudentConfig, generator: torch.Generator, shape: NetShape = FEATURES
    ) -> None:
        self._scenes, self._config, self._generator, self._shape = scenes, config, generator, shape
        self._frames = {
            name: torch.from_numpy(getattr(scenes, name).frames) for name in ("words", "near", "talk", "noise")
        }
        self._ends = {name: torch.from_numpy(getattr(scenes, name).ends) for name in ("words", "near")}
        self._mined: Tensor | None = None
        self._counts = {name: round(share * config.batch_size) for name, share in _SHARES.items()}

    def next(self) -> StudentBatch:
        """Draw a batch."""
        counts = self._counts
        mined = counts["mined"] if self._mined is not None else 0
        words = self._any("words", self._config.batch_size - sum(counts.values()))
        near = self._any("near", counts["near"])
        around = self._ends["near"][near] + self._inputs(len(near), *_AROUND)
        parts = [self._of_word(words), self._cut("near", near, around)]
        for name in ("talk", "noise"):
            rows, frames = self._any(name, counts[name]), self._frames[name].shape[1]
            ends = torch.randint(self._shape.window, frames + 1, (len(rows),), generator=self._generator)
            parts.append(self._cut(name, rows, ends))
        parts.append(self._speech(counts["speech"] + counts["mined"] - mined))
        if self._mined is not None:
            parts.append(self._mined[torch.randint(len(self._mined), (mined,), generator=self._generator)])
        windows = scaled(torch.cat(parts), self._shape.values)
        targets = torch.zeros(len(windows))
        targets[: len(words)] = 1
        if not self._shape.is_heard:
            windows = restyled(varied(windows, self._generator), RESTYLED, self._generator)
        others = len(words) + len(near) + counts["talk"]
        return StudentBatch(windows, targets, slice(len(words), others), slice(others + counts["noise"], None))

    def clean(self, count: int) -> Tensor:
        """Windows as they are, ``(count, window, channels)`` uint8: half of words, half of speech."""
        words = self._any("words", count // 2)
        return torch.cat([self._of_word(words), self._speech(count - len(words))])

    @torch.no_grad()
    def mine(self, network: StudentNetwork) -> None:
        """Keep the windows of other sound that the network takes for the word most."""
        network.eval()
        shape, found, places = self._shape, [], []
        for starts, parts in self._scenes.speech.parts():
            if parts.shape[1] >= shape.window:
                means = self._means(network, parts)[:, ::2]
                found.append(means.flatten())
                places.append((starts[:, None] + 2 * shape.stride * torch.arange(means.shape[1])).flatten())
        best = torch.cat(found).topk(min(self._config.mined, sum(map(len, found)))).indices
        kept = [self._scenes.speech.frames[torch.cat(places)[best][:, None] + torch.arange(shape.window)]]
        for name, share in (("talk", 4), ("noise", 8)):
            means = torch.cat([self._means(network, batch) for batch in torch.split(self._frames[name], _BATCH)])
            best = means.flatten().topk(min(self._config.mined // share, means.numel())).indices
            rows, first = best // means.shape[1], best % means.shape[1] * shape.stride
            kept.append(self._cut(name, rows, first + shape.window))
        self._mined = torch.cat(kept)
        network.train()

    def _means(self, network: StudentNetwork, inputs: Tensor) -> Tensor:
        """What a device compares with its cutoff, of the logits: ``(batch, windows)``."""
        logits: Tensor = network(scaled(inputs, self._shape.values))
        return logits.unfold(1, MICRO_WINDOW, 1).mean(dim=2)

    def _any(self, name: str, count: int) -> Tensor:
        return torch.randint(len(self._frames[name]), (count,), generator=self._generator)

    def _inputs(self, count: int, *frames: int) -> Tensor:
        """Numbers of inputs in a range of frames."""
        low, high = (round(frame * self._shape.stride / STRIDE) for frame in frames)
        return torch.randint(low, high + 1, (count,), generator=self._generator)

    def _of_word(self, rows: Tensor) -> Tensor:
        """Windows in which all outputs are to know the word."""
        later = self._shape.window - self._shape.receptive
        return self._cut("words", rows, self._ends["words"][rows] + self._inputs(len(rows), *_AFTER_WORD) + later)

    def _cut(self, name: str, rows: Tensor, ends: Tensor) -> Tensor:
        window, frames = self._shape.window, self._frames[name]
        first = ends.clamp(window, frames.shape[1]) - window
        return frames[rows[:, None], first[:, None] + torch.arange(window)]

    def _speech(self, count: int) -> Tensor:
        (frames, starts, lengths), window = self._scenes.speech, self._shape.window
        rows = torch.multinomial(lengths.double(), count, replacement=True, generator=self._generator)
        within = torch.rand(count, generator=self._generator) * ((lengths[rows] - window).clamp_min(0) + 1)
        first = starts[rows] + within.long()
        return frames[(first[:, None] + torch.arange(window)).clamp_max(len(frames) - 1)]
