"""The training loop: warm-up, adversary, validation, best weights."""

import copy
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from wakeword.audio.features import FeatureConfig
from wakeword_tools.kinds import WORD_KINDS, Kind
from wakeword_tools.measure.thresholds import threshold_at_mean_fpr
from wakeword_train.config import TrainConfig
from wakeword_train.data.batches import BatchSampler
from wakeword_train.data.frontend import Frontend
from wakeword_train.data.packed import PackedStore
from wakeword_train.data.store import ClipStore, Stores
from wakeword_train.fitting import Trainer
from wakeword_train.methods.registry import LossSettings, method_named
from wakeword_train.model.network import WakeWordNetwork, begin_with_encoder, encoder_path
from wakeword_train.training_run import EpochReport, Phase, TrainingRun

_BATCH = 1_024
_MAX_LONG = 5_000
"""Windows of long recordings, at most."""


@dataclass(frozen=True)
class ValidationSet:
    """MFCC windows without augmentation, and the clip that each was cut from."""

    windows: Tensor
    """``(windows, window, n_mfcc)`` float32."""
    clip: Tensor
    """``(windows,)`` int64; a clip has the score of its best window."""
    kinds: list[Kind]
    """Kind of each clip; every window of background counts as a separate clip."""

    def clip_scores(self, window_scores: Tensor) -> Tensor:
        """``(windows,)`` -> ``(clips,)``."""
        scores = torch.full((len(self.kinds),), -torch.inf, dtype=window_scores.dtype)
        return scores.scatter_reduce(0, self.clip, window_scores, "amax")


def validation_set(stores: Stores, window: int, packed: PackedStore | None = None) -> ValidationSet:
    """Windows of every validation clip: the word early, in the middle and late; of long recordings, one every 0.5 s.

    ``packed``: background as features, in addition to that in ``stores``.
    """
    frontend = Frontend()
    samples = frontend.config.samples_in(window)
    generator = torch.Generator().manual_seed(0)
    windows: list[Tensor] = []
    owners: list[Tensor] = []
    kinds: list[Kind] = []
    for kind, store in stores.items():
        rows, offsets = _validation_places(store, kind, samples)
        for batch in torch.split(torch.arange(len(rows)), 256):
            windows.append(frontend(store.cut(rows[batch], offsets[batch], samples, generator=generator)))
        owner = rows if kind in WORD_KINDS else torch.arange(len(rows))
        owners.append(len(kinds) + owner)
        kinds += [kind] * (len(store) if kind in WORD_KINDS else len(rows))
    if packed is not None:
        step = max(50, int(packed.lengths.sum()) // _MAX_LONG)
        for _, hops, _ in packed.hops(window, step=step):
            windows.append(hops)
            owners.append(len(kinds) + torch.arange(len(hops)))
            kinds += [Kind.BACKGROUND] * len(hops)
    return ValidationSet(torch.cat(windows), torch.cat(owners), kinds)


def _validation_places(store: ClipStore, kind: Kind, samples: int) -> tuple[Tensor, Tensor]:
    """Clips and the offsets of their validation windows, each ``(windows,)``."""
    if kind in WORD_KINDS:
        first, last = store.word_ends - samples, store.word_starts
        offsets = torch.stack([first + (last - first) * part // 4 for part in (1, 2, 3)], dim=1)
        return torch.arange(len(store)).repeat_interleave(3), offsets.flatten()
    # Half a second apart, or further in many hours: epochs are compared, and nothing is promised by this.
    step = max(8_000, int(store.lengths.sum()) // _MAX_LONG)
    steps = [torch.arange(0, max(1, length - samples), step) for length in store.lengths.tolist()]
    counts = torch.tensor([len(step) for step in steps])
    return torch.arange(len(store)).repeat_interleave(counts), torch.cat(steps)


def score_windows(network: WakeWordNetwork, windows: Tensor, *, device: str = "cpu") -> Tensor:
    """Logits of MFCC windows, ``(windows, window, n_mfcc)`` -> ``(windows,)``, without gradient or dropout."""
    network.eval()
    with torch.no_grad():
        pieces = [network(network.normalise(piece.to(device))).cpu() for piece in torch.split(windows, _BATCH)]
    return torch.cat(pieces)


def validate(network: WakeWordNetwork, validation: ValidationSet, *, device: str = "cpu") -> dict[str, float]:
    """Recall at the false positive rates that ``EpochReport`` names, by group of negatives."""
    # In float64, in which thresholds are exact.
    scores = validation.clip_scores(score_windows(network, validation.windows, device=device)).double().numpy()
    kinds = np.array([kind.value for kind in validation.kinds])
    of_kind = {kind: scores[kinds == kind.value] for kind in Kind}
    near, negative = of_kind[Kind.NEAR_NEGATIVE], of_kind[Kind.NEGATIVE]
    long = np.concatenate([of_kind[Kind.BACKGROUND], of_kind[Kind.NOISE]])
    groups = {
        "words": ([negative, near], 0.03),
        "near_negative": ([near], 0.03),
        "negative": ([negative], 0.03),
        "background": ([long], 0.003),
    }
    recall = {
        name: float((of_kind[Kind.POSITIVE] >= threshold_at_mean_fpr(filled, fpr)).mean())
        for name, (parts, fpr) in groups.items()
        if (filled := [group for group in parts if len(group)])
    }
    recall.setdefault("words", recall.get("background", 0.0))
    return recall


_NORMALISATION_BATCHES = 8


def fit(
    run: TrainingRun, sampler: BatchSampler, validation: ValidationSet, *, trained: int = 0
) -> tuple[WakeWordNetwork, list[EpochReport]]:
    """Train a network; the best of its settled epochs on ``validation``, in ``eval`` mode on the CPU, and all reports.

    On the CPU the same configuration and data give the same weights. ``trained``: first stages of this run before it.
    """
    config, device = run.config, run.device
    method = method_named(config.method)
    torch.manual_seed(config.seed)
    network = build_network(config)
    if config.encoder:
        begin_with_encoder(network, encoder_path(config.encoder))
    else:
        frames = torch.cat([sampler.next().frames.flatten(0, 1) for _ in range(_NORMALISATION_BATCHES)])
        network.set_normalisation(frames.mean(dim=0), frames.std(dim=0))
    network = network.to(device)
    schedule = config.schedule
    trainer = Trainer(network, schedule.learning_rate, schedule.weight_decay, schedule.averaging, sampler.generator)
    reports: list[EpochReport] = []
    best = copy.deepcopy(network.state_dict())
    if method.pretrain is not None:
        method.pretrain(network, _batches(network, sampler, device, schedule.warmup_epochs * schedule.steps_per_epoch))
        trainer.restart_average()
    mining_epochs = config.mining.epochs(schedule.warmup_epochs, schedule.epochs)
    for epoch in range(schedule.epochs):
        if epoch == schedule.warmup_epochs:
            sampler.relocate_words(partial(score_windows, trainer.averaged, device=device))
        if epoch in mining_epochs:
            sampler.mine(partial(score_windows, trainer.averaged, device=device))
        newest = reports[-1] if reports else None
        if newest and newest.settled and newest.epoch - best_epoch(reports).epoch >= schedule.patience:
            break
        report = _train_epoch(run, trainer, sampler, epoch, validation)
        reports.append(report)
        if report is best_epoch(reports):
            best = copy.deepcopy(trainer.averaged.state_dict())
        run.events.phase(Phase.FIRST, (trained + report.epoch / schedule.epochs) / config.first_stages)
        run.events.epoch(report)
    network.load_state_dict(best)
    return network.cpu().eval(), reports


def best_epoch(reports: list[EpochReport]) -> EpochReport:
    """The epoch with the best score in the newest phase, of the settled ones if there are any; of equals the latest.

    Only the method's own epochs count once there are any: the warm-up belongs to another method.
    """
    newest = reports[-1]
    alike = (r for r in reports if r.phase == newest.phase and r.settled == newest.settled)
    return max(alike, key=lambda r: (r.score, r.epoch))


def build_network(config: TrainConfig) -> WakeWordNetwork:
    """A new network of the configured shape."""
    return WakeWordNetwork(
        n_features=FeatureConfig().n_mfcc,
        hidden_size=config.network.hidden_size,
        pooling=config.network.pooling,
        stack=config.network.stack,
        stem=config.network.stem,
        dropout=config.network.dropout,
        head=method_named(config.method).head_maker(config.own),
    )


def _train_epoch(
    run: TrainingRun, trainer: Trainer[WakeWordNetwork], sampler: BatchSampler, epoch: int, validation: ValidationSet
) -> EpochReport:
    started, config = time.monotonic(), run.config
    schedule, method = config.schedule, method_named(config.method)
    warmup = method.warmup if epoch < schedule.warmup_epochs else None
    trainer.set_rate(epoch / max(1, schedule.epochs - 1))
    loss_function = warmup or method.loss(LossSettings(config.adversary, method.own_settings(config.own)))
    batches = _batches(trainer.network, sampler, run.device, schedule.steps_per_epoch)
    loss, health = trainer.epoch(loss_function, batches)
    recall = validate(trainer.averaged, validation, device=run.device)
    return EpochReport(
        epoch=epoch + 1,
        phase="warm-up" if warmup is not None else config.method,
        loss=loss,
        recall=recall,
        score=(recall["words"] + recall.get("background", recall["words"])) / 2,
        health=health,
        seconds=time.monotonic() - started,
        settled=epoch + 1 > schedule.choose_after * schedule.epochs,
    )


def _batches(
    network: WakeWordNetwork, sampler: BatchSampler, device: str, count: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """``count`` augmented batches: normalised frames ``(batch, window, n_mfcc)`` and labels ``(batch,)``."""
    sampler.restart()
    for _ in range(count):
        batch = sampler.next()
        yield network.normalise(batch.frames.to(device)), batch.labels.to(device)
