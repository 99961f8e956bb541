"""The training loop: warm-up, adversary, validation, best weights, resume."""

import copy
import dataclasses
import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from wakeword.errors import DataError
from wakeword.files import replacing
from wakeword_train.batches import BatchSampler
from wakeword_train.config import TrainConfig
from wakeword_train.drocc import AdversaryHealth
from wakeword_train.losses import make_loss
from wakeword_train.network import Pooling, WakeWordNetwork
from wakeword_train.validation import ValidationSet, score_windows, validate

log = logging.getLogger(__name__)

_NORMALISATION_BATCHES = 8


@dataclass(frozen=True)
class EpochReport:
    """What one epoch did."""

    epoch: int
    phase: str
    """``warm-up`` (cross-entropy alone) or the method."""
    loss: float
    recall: dict[str, float]
    """Validation recall at 3 % false positives over words and close words together, over each alone where there is any,
    and at 0.3 % of the windows of background."""
    score: float
    """What epochs are chosen by: the mean of the first and the last of these."""
    health: AdversaryHealth | None
    seconds: float


Progress = Callable[[EpochReport], None]


def fit(
    config: TrainConfig,
    sampler: BatchSampler,
    validation: ValidationSet,
    *,
    device: str = "cpu",
    checkpoint: Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
) -> tuple[WakeWordNetwork, list[EpochReport]]:
    """Train a network; the best of its epochs on ``validation``, in ``eval`` mode on the CPU, and all reports.

    ``checkpoint`` is written after each epoch; with ``resume`` the run goes on from it as if it had never stopped. On the
    CPU the same configuration and data give the same weights.
    """
    torch.manual_seed(config.seed)
    network = build_network(config).to(device)
    network.set_normalisation(*_feature_statistics(sampler))
    decay = get_ema_multi_avg_fn(config.schedule.averaging)  # type: ignore[no-untyped-call]
    average = AveragedModel(network, multi_avg_fn=decay)
    optimiser = torch.optim.AdamW(
        network.parameters(),
        lr=config.schedule.learning_rate,
        weight_decay=config.schedule.weight_decay,
    )
    run = _Run(network, average, optimiser, sampler)
    if resume and checkpoint is not None and checkpoint.is_file():
        run.load(checkpoint, config)
    for epoch in range(len(run.reports), config.schedule.epochs):
        if epoch == config.schedule.warmup_epochs:
            sampler.relocate_words(lambda frames: score_windows(run.averaged, frames, device=device))
        if run.epochs_since_best() >= config.schedule.patience:
            break
        _set_learning_rate(optimiser, config, epoch)
        report = _train_epoch(run, config, epoch, validation, device)
        run.reports.append(report)
        if report is best_epoch(run.reports):
            run.best = copy.deepcopy(run.averaged.state_dict())
        if checkpoint is not None:
            run.save(checkpoint, config)
        if progress is not None:
            progress(report)
    network.load_state_dict(run.best)
    return network.cpu().eval(), run.reports


def best_epoch(reports: list[EpochReport]) -> EpochReport:
    """The epoch of the newest phase with the best score, the later of two that are alike.

    A method's own epochs only: the warm-up's weights are those of another method.
    """
    return max((r for r in reports if r.phase == reports[-1].phase), key=lambda r: (r.score, r.epoch))


def build_network(config: TrainConfig, n_features: int = 32) -> WakeWordNetwork:
    """A fresh network of the configured shape."""
    pooling: Pooling = config.network.pooling  # type: ignore[assignment]
    return WakeWordNetwork(
        n_features=n_features,
        hidden_size=config.network.hidden_size,
        pooling=pooling,
        stack=config.network.stack,
        dropout=config.network.dropout,
    )


def _train_epoch(run: "_Run", config: TrainConfig, epoch: int, validation: ValidationSet, device: str) -> EpochReport:
    started = time.monotonic()
    warming_up = epoch < config.schedule.warmup_epochs or config.method == "bce"
    loss_function = make_loss("bce" if warming_up else config.method, config.adversary)
    network = run.network.train()
    losses: list[float] = []
    health: list[AdversaryHealth] = []
    for _ in range(config.schedule.steps_per_epoch):
        batch = run.sampler.next()
        inputs = network.normalise(batch.frames.to(device))
        loss, of_batch = loss_function(network, inputs, batch.labels.to(device), run.sampler.generator)
        if not bool(torch.isfinite(loss)):
            raise DataError(f"the loss became {float(loss)} in epoch {epoch + 1}; lower the learning rate")
        run.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        run.optimiser.step()
        run.average.update_parameters(network)
        losses.append(float(loss.detach()))
        if of_batch is not None:
            health.append(of_batch)
    recall = validate(run.averaged, validation, device=device)
    return EpochReport(
        epoch=epoch + 1,
        phase="bce" if config.method == "bce" else "warm-up" if warming_up else config.method,
        loss=float(np.mean(losses)),
        recall=recall,
        score=(recall["words"] + recall.get("background", recall["words"])) / 2,
        health=_mean_health(health),
        seconds=time.monotonic() - started,
    )


def _set_learning_rate(optimiser: torch.optim.Optimizer, config: TrainConfig, epoch: int) -> None:
    """A cosine from the configured rate down to a twentieth of it, a function of the epoch alone so that runs resume."""
    share = epoch / max(1, config.schedule.epochs - 1)
    factor = 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * share))
    for group in optimiser.param_groups:
        group["lr"] = config.schedule.learning_rate * factor


def _feature_statistics(sampler: BatchSampler) -> tuple[Tensor, Tensor]:
    """Mean and deviation of each coefficient, ``(n_mfcc,)``, over some augmented batches."""
    frames = torch.cat([sampler.next().frames.flatten(0, 1) for _ in range(_NORMALISATION_BATCHES)])
    return frames.mean(dim=0), frames.std(dim=0)


def _mean_health(health: list[AdversaryHealth]) -> AdversaryHealth | None:
    if not health:
        return None
    means = {f.name: float(np.mean([getattr(h, f.name) for h in health])) for f in dataclasses.fields(AdversaryHealth)}
    return AdversaryHealth(**{**means, "fallbacks": sum(h.fallbacks for h in health)})  # type: ignore[arg-type]


class _Run:
    """All that changes while training, and its checkpoint."""

    def __init__(
        self,
        network: WakeWordNetwork,
        average: AveragedModel,
        optimiser: torch.optim.Optimizer,
        sampler: BatchSampler,
    ) -> None:
        self.network = network
        self.average = average
        self.optimiser = optimiser
        self.sampler = sampler
        self.reports: list[EpochReport] = []
        self.best: dict[str, Any] = copy.deepcopy(network.state_dict())

    @property
    def averaged(self) -> WakeWordNetwork:
        network: WakeWordNetwork = self.average.module  # type: ignore[assignment]
        return network

    def epochs_since_best(self) -> int:
        if not self.reports:
            return 0
        return self.reports[-1].epoch - best_epoch(self.reports).epoch

    def save(self, path: Path, config: TrainConfig) -> None:
        content = {
            "config": repr(config),
            "data": self.sampler.fingerprint,
            "network": self.network.state_dict(),
            "average": self.average.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "best": self.best,
            "sampler": self.sampler.state(),
            # Dropout draws from torch's own generator.
            "torch": torch.get_rng_state(),
            "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
            "reports": [dataclasses.asdict(report) for report in self.reports],
        }
        with replacing(path) as temporary:
            torch.save(content, temporary)

    def load(self, path: Path, config: TrainConfig) -> None:
        try:
            content = torch.load(path, weights_only=True, map_location="cpu")
            if content["config"] != repr(config):
                raise DataError(
                    f"{path}: this checkpoint is of another configuration; remove it or train without resume"
                )
            if content["data"] != self.sampler.fingerprint:
                raise DataError(f"{path}: this checkpoint is of a run on other recordings; train without resume")
            self.network.load_state_dict(content["network"])
            self.average.load_state_dict(content["average"])
            self.optimiser.load_state_dict(content["optimiser"])
        except DataError:
            raise
        except Exception as error:  # torch.load raises whatever its parts raise
            raise DataError(f"{path}: expected a checkpoint of a training run, could not read it: {error}") from error
        self.best = content["best"]
        self.sampler.restore(content["sampler"])
        torch.set_rng_state(content["torch"])
        if torch.cuda.is_available() and content["cuda"]:
            torch.cuda.set_rng_state_all(content["cuda"])
        self.reports = [
            EpochReport(**{**report, "health": report["health"] and AdversaryHealth(**report["health"])})
            for report in content["reports"]
        ]
