"""The lessons of the recogniser: windows of speech, CTC, what a teacher hears, and the mean of the last weights."""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
import torch.nn.functional as nnf
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from scripts.ear.ear_network import Ear, LogMel
from scripts.ear.ear_windows import AlignedSpeech, Surroundings, Window, draw_window
from wakeword.base.errors import ConfigError
from wakeword.base.files import file_sha256, replacing
from wakeword.base.types import Array

_CHECKPOINT = 500
"""Steps between two states that are kept."""
_MASKS, _WIDEST_BAND, _LONGEST_GAP = 2, 12, 8
"""Masks of bands and of time in a window, and their most bands and log-mel frames (SpecAugment, Park et al., 2019)."""
_MASKED = 0.6
_COUNTS_AS = 12
"""Phonemes that a window without speech counts for."""
_TEACHER_COUNTS = 8.0
"""The weight of what the teacher hears: a window has 100 outputs and some twelve phonemes, so that its nats, a mean over
outputs, count as much as CTC's, a mean over phonemes."""
_MAKE = "make a teacher with --full-rate and give its .state file"
_LOADED = TypeVar("_LOADED")


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
    device: str = "cpu"
    """``cpu`` or ``cuda``: their sums differ in the last digits."""
    teacher: str = ""
    """SHA-256 of the teacher's state."""
    unlabelled: int = 0
    """Samples of speech without texts, which only the teacher judges."""


class EarLessons(Dataset[tuple[list[Window], np.random.Generator]]):
    """Step -> its windows, and its random numbers, of which some were drawn.

    Each step draws with a seed of its own, so that neither a break nor the number of processes changes what is drawn.
    """

    def __init__(
        self,
        speech: AlignedSpeech,
        surroundings: Surroundings,
        config: TeachingConfig,
        unlabelled: NDArray[np.float16] | None = None,
    ) -> None:
        self._given, self._unlabelled, self._config = (speech, surroundings), unlabelled, config

    def __getitem__(self, step: int) -> tuple[list[Window], np.random.Generator]:
        random = np.random.default_rng([self._config.seed, step])
        windows = [draw_window(*self._given, random, self._unlabelled) for _ in range(self._config.batch)]
        return windows, random


class Teaching:
    """A recogniser that is being taught; its state can be kept and resumed."""

    def __init__(self, ear: Ear, blank: int, config: TeachingConfig, teacher: Ear | None = None) -> None:
        """``teacher``: see ``read_teacher``; it hears the clean windows."""
        self.ear, self.config = ear.to(config.device), config
        self._blank, self._teacher = blank, None if teacher is None else teacher.to(config.device)
        self._log_mel = LogMel().to(config.device)
        groups: list[dict[str, Any]] = [
            {"params": ear.head_parameters(), "most": config.head_rate},
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
        *,
        unlabelled: NDArray[np.float16] | None = None,
        workers: int = 0,
    ) -> None:
        """Teach up to step ``until``. ``state`` is written now and then, and at the end.

        ``unlabelled``: see ``draw_window``; ``workers``: processes that draw windows, 0: this one does.
        """
        self.ear.train()
        lessons = EarLessons(speech, surroundings, self.config, unlabelled)
        steps = range(self.step, until)
        # No batches of torch's own: one entry is a step. Arrays go through pipes, as containers have little shared memory.
        for windows, random in DataLoader(
            lessons, batch_size=None, sampler=steps, num_workers=workers, collate_fn=_as_it_is
        ):
            torch.manual_seed(self.config.seed * 1_000_003 + self.step)
            loss = self._take_step(windows, random)
            progress(self.step, loss)
            if self.step % _CHECKPOINT == 0 or self.step == until:
                self.save(state)

    def _take_step(self, windows: Sequence[Window], random: np.random.Generator) -> float:
        learns = self.step >= self.config.head_steps
        for one in self.ear.encoder_parameters():
            one.requires_grad_(learns)
        for group in self._optimiser.param_groups:
            group["lr"] = group["most"] * self._share_of_rate()
        log_mel = self._energies([one.samples for one in windows])
        with torch.autocast(self.config.device, torch.bfloat16):
            said = self.ear(_masked(log_mel, random)).float()
        # On the CPU: what CTC sums on a GPU differs from run to run.
        loss = ctc_loss(said.cpu(), [one.told for one in windows], self._blank)
        if self._teacher is not None:
            with torch.no_grad(), torch.autocast(self.config.device, torch.bfloat16):
                heard = self._teacher(self._energies([one.clean for one in windows])).float()
            loss = loss + _TEACHER_COUNTS * cross_entropy(said, heard).cpu()
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.ear.parameters(), 5.0)
        self._optimiser.step()
        self.step += 1
        kept = min(self.config.kept, self.step / (self.step + 10))
        for name, one in self.ear.named_parameters():
            self._mean[name].mul_(kept).add_(one.detach(), alpha=1 - kept)
        return float(loss.detach())

    def _energies(self, samples: Sequence[Array]) -> Tensor:
        found: Tensor = self._log_mel(torch.from_numpy(np.stack(samples)).to(self.config.device))
        return found

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
                    "config": self._options(),
                    "ear": self.ear.state_dict(),
                    "mean": self._mean,
                    "optimiser": self._optimiser.state_dict(),
                },
                temporary,
            )

    def begin_from(self, path: Path) -> None:
        """Begin with the mean of the weights of another teaching, from its state. ``ConfigError`` if it cannot be read."""
        kept = _kept(path)
        _put(self.ear, {**kept["ear"], **kept["mean"]}, path)
        self._mean = {name: one.detach().clone() for name, one in self.ear.named_parameters()}

    def resume(self, path: Path) -> None:
        """Go on from a state. ``ConfigError`` if it is of another configuration or cannot be read."""
        kept = _kept(path)
        # Options that a state lacks are younger than it, and were not given.
        if {**vars(TeachingConfig()), **self.ear.form, **kept["config"]} != self._options():
            raise ConfigError(f"{path}: expected a state of the same options, got {kept['config']}; delete it")
        self.step = kept["step"]
        _put(self.ear, kept["ear"], path)
        self._mean = {name: one.to(self.config.device) for name, one in kept["mean"].items()}
        self._optimiser.load_state_dict(kept["optimiser"])

    def _options(self) -> dict[str, Any]:
        return {**vars(self.config), **self.ear.form}


def read_teacher(path: Path, weights: Mapping[str, Array], tokens: int) -> tuple[Ear, str]:
    """The network of a teaching at full rate with the mean of its last weights, and the digest of its state.

    ``weights``: what it began with. ``ConfigError`` if it cannot be read, or is of half rate, other weights or tokens.
    """
    try:
        kept = _kept(path)
    except ConfigError:
        raise ConfigError(
            f"{path}: expected the state of a making with --full-rate, could not read it; {_MAKE}"
        ) from None
    form = {"width": 160, "full_rate": False, **kept["config"]}
    if not form["full_rate"]:
        raise ConfigError(f"{path}: expected the state of a making with --full-rate, got one of half rate; {_MAKE}")
    teacher = Ear(weights, tokens, width=form["width"], full_rate=True)
    _put(teacher, {**kept["ear"], **kept["mean"]}, path)
    return teacher.requires_grad_(False).eval(), file_sha256(path)


def _put(ear: Ear, weights: Mapping[str, Tensor], path: Path) -> None:
    try:
        ear.load_state_dict(weights)
    except RuntimeError as error:
        raise ConfigError(
            f"{path}: expected the weights of a network of the form {ear.form}, got others; give the --weights, --width "
            "and --full-rate that it was made with"
        ) from error


def _as_it_is(drawn: _LOADED) -> _LOADED:
    return drawn


def _kept(path: Path) -> dict[str, Any]:
    try:
        kept: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        if not {"step", "config", "ear", "mean", "optimiser"} <= set(kept):
            raise ValueError(list(kept))
    except Exception as error:  # torch raises many kinds for a damaged file
        raise ConfigError(f"{path}: expected the state of a recogniser, could not read it; delete it") from error
    return kept


def cross_entropy(said: Tensor, heard: Tensor) -> Tensor:
    """In nats an output, of what the teacher ``heard``; both ``(batch, outputs, tokens)`` logarithms."""
    return -(heard.exp() * said).sum(-1).mean()


def ctc_loss(said: Tensor, told: Sequence[Sequence[int] | None], blank: int) -> Tensor:
    """The mean over windows of CTC's loss by phoneme, 0 for one without a text; ``said`` ``(batch, outputs, tokens)``
    logarithms."""
    lengths = torch.tensor([len(one or ()) for one in told])
    targets = torch.tensor([token for one in told for token in one or ()], dtype=torch.long)
    outputs = torch.full((len(said),), said.shape[1])
    losses = nnf.ctc_loss(
        said.transpose(0, 1), targets, outputs, lengths, blank=blank, reduction="none", zero_infinity=True
    )
    phonemes = [math.inf if one is None else len(one) or _COUNTS_AS for one in told]
    return (losses / torch.tensor(phonemes)).mean()


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
