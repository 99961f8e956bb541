"""Batches of windows for a student: where a word ends, around close words, and anywhere in other sound."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from wakeword_export.micro.mixed_net import MICRO_WINDOW, STRIDE
from wakeword_export.student.scenes import SCENE_FRAMES, Scenes
from wakeword_export.student.separable_network import RECEPTIVE_FRAMES, StudentNetwork, scaled
from wakeword_export.student.variation import restyled, varied
from wakeword_train.pack.starter import hours_of
from wakeword_train.synthesis_config import StudentConfig

_LATER = STRIDE * (MICRO_WINDOW - 1)
MICRO_FRAMES = RECEPTIVE_FRAMES + _LATER
"""Frames of a training window: for as many outputs as a device takes the mean of."""
_AFTER_WORD = (1, 10)
"""Frames from the end of a word to the first output that is to know it."""
_AROUND = (-20, 28)
"""The same for a close word and the last output: all outputs are to deny it."""
_SHARES = {"near": 0.22, "talk": 0.12, "noise": 0.03, "mined": 0.25, "speech": 0.14}
"""Shares of a batch; the rest is of the word. Before anything is mined, its share is speech."""
_RESTYLED = 0.7
"""Share of windows with the sound of another one."""


class MicroSpeech(NamedTuple):
    """The background's features."""

    frames: Tensor
    """``(frames, 40)`` uint8."""
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

    def parts(self) -> Iterator[tuple[int, Tensor]]:
        """The first frame of each part, and its features ``(frames, 40)``."""
        for start, length in zip(self.starts.tolist(), self.lengths.tolist(), strict=True):
            yield start, self.frames[start : start + length]


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
    """``(batch, MICRO_FRAMES, 40)`` in 0..26."""
    targets: Tensor
    """What is to be said of each."""
    synthetic: slice
    """Which are other words of synthetic voices."""
    people: slice
    """Which are of people, with the noise that was mistaken for the word."""


class StudentBatches:
    """Draws batches; ``mine`` finds the windows that are mistaken for the word."""

    def __init__(self, scenes: StudentScenes, config: StudentConfig, generator: torch.Generator) -> None:
        self._scenes, self._config, self._generator = scenes, config, generator
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
        ends = self._ends["words"][words] + self._whole(len(words), *_AFTER_WORD) + _LATER
        around = self._ends["near"][near] + self._whole(len(near), *_AROUND)
        parts = [self._cut("words", words, ends), self._cut("near", near, around)]
        for name in ("talk", "noise"):
            rows = self._any(name, counts[name])
            parts.append(self._cut(name, rows, self._whole(len(rows), MICRO_FRAMES, SCENE_FRAMES)))
        parts.append(self._speech(counts["speech"] + counts["mined"] - mined))
        if self._mined is not None:
            parts.append(self._mined[torch.randint(len(self._mined), (mined,), generator=self._generator)])
        windows = torch.cat(parts)
        targets = torch.zeros(len(windows))
        targets[: len(words)] = 1
        windows = restyled(varied(scaled(windows), self._generator), _RESTYLED, self._generator)
        others = len(words) + len(near) + counts["talk"]
        return StudentBatch(windows, targets, slice(len(words), others), slice(others + counts["noise"], None))

    def clean(self, count: int) -> Tensor:
        """Windows as they are, ``(count, MICRO_FRAMES, 40)`` uint8: half of words, half of speech."""
        words = self._any("words", count // 2)
        ends = self._ends["words"][words] + self._whole(len(words), *_AFTER_WORD) + _LATER
        return torch.cat([self._cut("words", words, ends), self._speech(count - len(words))])

    @torch.no_grad()
    def mine(self, network: StudentNetwork) -> None:
        """Keep the windows of other sound that the network takes for the word most."""
        network.eval()
        frames, scores, places = self._scenes.speech.frames, [], []
        for start, part in self._scenes.speech.parts():
            if len(part) >= MICRO_FRAMES:
                means = _means(network(scaled(part)[None]))[0, ::2]
                scores.append(means)
                places.append(start + 2 * STRIDE * torch.arange(len(means)))
        best = torch.cat(scores).topk(min(self._config.mined, sum(map(len, scores)))).indices
        kept = [frames[torch.cat(places)[best][:, None] + torch.arange(MICRO_FRAMES)]]
        for name, share in (("talk", 4), ("noise", 8)):
            of_scenes = self._frames[name]
            means = torch.cat([_means(network(scaled(batch))) for batch in torch.split(of_scenes, 200)])
            best = means.flatten().topk(min(self._config.mined // share, means.numel())).indices
            rows, first = best // means.shape[1], best % means.shape[1] * STRIDE
            kept.append(self._cut(name, rows, first + MICRO_FRAMES))
        self._mined = torch.cat(kept)
        network.train()

    def _any(self, name: str, count: int) -> Tensor:
        return torch.randint(len(self._frames[name]), (count,), generator=self._generator)

    def _whole(self, count: int, low: int, high: int) -> Tensor:
        return torch.randint(low, high + 1, (count,), generator=self._generator)

    def _cut(self, name: str, rows: Tensor, ends: Tensor) -> Tensor:
        first = ends.clamp(MICRO_FRAMES, SCENE_FRAMES) - MICRO_FRAMES
        return self._frames[name][rows[:, None], first[:, None] + torch.arange(MICRO_FRAMES)]

    def _speech(self, count: int) -> Tensor:
        frames, starts, lengths = self._scenes.speech
        rows = torch.multinomial(lengths.double(), count, replacement=True, generator=self._generator)
        within = torch.rand(count, generator=self._generator) * ((lengths[rows] - MICRO_FRAMES).clamp_min(0) + 1)
        first = starts[rows] + within.long()
        return frames[(first[:, None] + torch.arange(MICRO_FRAMES)).clamp_max(len(frames) - 1)]


def _means(logits: Tensor) -> Tensor:
    return logits.unfold(1, MICRO_WINDOW, 1).mean(dim=2)
