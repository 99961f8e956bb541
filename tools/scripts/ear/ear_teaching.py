"""The lessons of the recogniser: windows of speech, CTC, and the mean of the last weights."""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as nnf
from torch import Tensor

from scripts.ear.ear_network import Ear, LogMel
from scripts.ear.ear_windows import AlignedSpeech, Surroundings, draw_window
from wakeword.base.errors import ConfigError
from wakeword.base.files import replacing
from wakeword.base.types import Array

_CHECKPOINT = 500
"""Steps between two states that are kept."""
_MASKS, _WIDEST_BAND, _LONGEST_GAP = 2, 12, 8
"""Masks of bands and of time in a window, and their most bands and log-mel frames (SpecAugment, Park et al., 2019)."""
_MASKED = 0.6
_COUNTS_AS = 12
"""Phonemes that a window without speech counts for."""


@dataclass(frozen=True)
class TeachingConfig:
    """How the recogniser is taught."""

    steps: int = 9_000
    head_steps: int = 300
    """First steps, in which only the head learns."""
    batch: int = 16
    rate: float = 2e-4
    """Of the encoder."""
    head_rate: float = 1e-3
    warm_up: int = 200
    last: float = 0.01
    """Share of the rates that is left at the end of the cosine."""
    kept: float = 0.998
    """Share of the mean of the weights that a step keeps."""
    seed: int = 0


class Teaching:
    """A recogniser that is being taught; its state can be kept and resumed."""

    def __init__(self, ear: Ear, blank: int, config: TeachingConfig) -> None:
        self.ear, self.config = ear, config
        self._blank = blank
        self._log_mel = LogMel()
        groups: list[dict[str, Any]] = [
            {"params": list(ear.head.parameters()), "most": config.head_rate},
            {"params": ear.encoder_parameters(), "most": config.rate},
        ]
        self._optimiser = torch.optim.AdamW(groups, lr=config.rate, betas=(0.9, 0.98), weight_decay=0.01)
        self._mean = {name: one.detach().clone() for name, one in ear.named_parameters()}
        self.step = 0

    def run(
        self,
        speech: AlignedSpeech,
        surroundings: Surroundings,
        until: int,
        state: Path,
        progress: Callable[[int, float], None],
    ) -> None:
        """Teach up to step ``until``. ``state`` is written now and then, and at the end.

        Each step draws with a seed of its own, so that a resumed run does what one without a break does.
        """
        self.ear.train()
        while self.step < until:
            random = np.random.default_rng([self.config.seed, self.step])
            torch.manual_seed(self.config.seed * 1_000_003 + self.step)
            windows = [draw_window(speech, surroundings, random) for _ in range(self.config.batch)]
            loss = self._take_step(windows, random)
            progress(self.step, loss)
            if self.step % _CHECKPOINT == 0 or self.step == until:
                self.save(state)

    def _take_step(self, windows: Sequence[tuple[Array, list[int]]], random: np.random.Generator) -> float:
        learns = self.step >= self.config.head_steps
        for one in self.ear.encoder_parameters():
            one.requires_grad_(learns)
        for group in self._optimiser.param_groups:
            group["lr"] = group["most"] * self._share_of_rate()
        log_mel = self._log_mel(torch.from_numpy(np.stack([samples for samples, _ in windows])))
        with torch.autocast("cpu", torch.bfloat16):
            said = self.ear(_masked(log_mel, random))
        loss = ctc_loss(said.float(), [told for _, told in windows], self._blank)
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.ear.parameters(), 5.0)
        self._optimiser.step()
        self.step += 1
        kept = min(self.config.kept, self.step / (self.step + 10))
        for name, one in self.ear.named_parameters():
            self._mean[name].mul_(kept).add_(one.detach(), alpha=1 - kept)
        return float(loss.detach())

    def _share_of_rate(self) -> float:
        config = self.config
        begun = min(1.0, (self.step + 1) / config.warm_up)
        if self.step >= config.head_steps:
            begun = min(1.0, (self.step - config.head_steps + 1) / config.warm_up)
        fallen = 0.5 * (1 + math.cos(math.pi * self.step / config.steps))
        return begun * (config.last + (1 - config.last) * fallen)

    def averaged(self) -> Ear:
        """The same network with the mean of its last weights, for use."""
        found = copy.deepcopy(self.ear)
        found.load_state_dict(self._mean, strict=False)
        return found.eval()

    def save(self, path: Path) -> None:
        """Write the state under a temporary name, and rename it."""
        with replacing(path) as temporary:
            torch.save(
                {
                    "step": self.step,
                    "config": vars(self.config),
                    "ear": self.ear.state_dict(),
                    "mean": self._mean,
                    "optimiser": self._optimiser.state_dict(),
                },
                temporary,
            )

    def begin_from(self, path: Path) -> None:
        """Begin with the mean of the weights of another teaching, from its state. ``ConfigError`` if it cannot be read."""
        kept = _kept(path)
        self.ear.load_state_dict({**kept["ear"], **kept["mean"]})
        self._mean = {name: one.detach().clone() for name, one in self.ear.named_parameters()}

    def resume(self, path: Path) -> None:
        """Go on from a state. ``ConfigError`` if it is of another configuration or cannot be read."""
        kept = _kept(path)
        if kept["config"] != vars(self.config):
            raise ConfigError(f"{path}: expected a state of the same options, got {kept['config']}; delete it")
        self.step = kept["step"]
        self.ear.load_state_dict(kept["ear"])
        self._mean = kept["mean"]
        self._optimiser.load_state_dict(kept["optimiser"])


def _kept(path: Path) -> dict[str, Any]:
    try:
        kept: dict[str, Any] = torch.load(path, weights_only=True)
        if not {"step", "config", "ear", "mean", "optimiser"} <= set(kept):
            raise ValueError(list(kept))
    except Exception as error:  # torch raises many kinds for a damaged file
        raise ConfigError(f"{path}: expected the state of a recogniser, could not read it; delete it") from error
    return kept


def ctc_loss(said: Tensor, told: Sequence[Sequence[int]], blank: int) -> Tensor:
    """The mean over windows of CTC's loss by phoneme; ``said`` ``(batch, outputs, tokens)`` logarithms."""
    lengths = torch.tensor([len(one) for one in told])
    targets = torch.tensor([token for one in told for token in one], dtype=torch.long)
    outputs = torch.full((len(said),), said.shape[1])
    losses = nnf.ctc_loss(
        said.transpose(0, 1), targets, outputs, lengths, blank=blank, reduction="none", zero_infinity=True
    )
    return (losses / torch.where(lengths > 0, lengths, _COUNTS_AS)).mean()


def _masked(log_mel: Tensor, random: np.random.Generator) -> Tensor:
    """Some windows with a few bands and moments at their mean."""
    for window in log_mel:
        if random.random() > _MASKED:
            continue
        mean = window.mean()
        for _ in range(int(random.integers(1, _MASKS + 1))):
            first = int(random.integers(window.shape[0]))
            window[first : first + int(random.integers(1, _WIDEST_BAND + 1))] = mean
            first = int(random.integers(window.shape[1]))
            window[:, first : first + int(random.integers(1, _LONGEST_GAP + 1))] = mean
    return log_mel
