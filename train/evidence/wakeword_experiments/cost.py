"""What a DROCC-LF training run costs on this machine: the paper's 1,000 + 2,000 clips, by phase."""

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import torch
from torch import Tensor

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword_experiments.figures_report import markdown_table, write_results
from wakeword_experiments.one_class.random_search import search_shell
from wakeword_tools.kinds import Kind, Split
from wakeword_train.config import NetworkConfig, TrainConfig
from wakeword_train.data.batches import BatchSampler
from wakeword_train.data.clips import Clip
from wakeword_train.data.store import ClipStore
from wakeword_train.epochs import build_network
from wakeword_train.fitting import Trainer
from wakeword_train.methods.drocc import rejection_loss, sensitivity
from wakeword_train.methods.projection import Projection, metric_norm, project_to_shell
from wakeword_train.methods.registry import METHODS, LossSettings
from wakeword_train.model.network import WakeWordNetwork

CLIPS = {Kind.POSITIVE: 1_000, Kind.NEGATIVE: 2_000}
_SETTINGS = TrainConfig(keyword="x", network=NetworkConfig(hidden_size=192))
_REPEATS = 15
_STEPS = 40


def measure_cost(work: Path) -> list[dict[str, Any]]:
    """Seconds of each phase: ``phase``, ``unit``, ``milliseconds`` (median) and ``samples_per_second``."""
    config = _SETTINGS
    rows: list[dict[str, Any]] = []

    def add(phase: str, seconds: float, samples: int, unit: str) -> None:
        rate = samples / seconds
        rows.append({"phase": phase, "unit": unit, "milliseconds": 1e3 * seconds, "samples_per_second": rate})

    clips = _write_clips(work)
    started = time.perf_counter()
    stores = {kind: ClipStore([clip for clip in clips if clip.kind is kind]) for kind in CLIPS}
    add("read the clips", time.perf_counter() - started, len(clips), f"{len(clips)} clips")
    generator = torch.Generator().manual_seed(0)
    size = config.schedule.batch_size
    sampler = BatchSampler(
        stores,
        mix=config.mix,
        augmentation=config.augmentation,
        window=config.network.window,
        batch_size=size,
        generator=generator,
    )
    batch = sampler.next()
    network = build_network(config)
    network.set_normalisation(batch.frames.mean(dim=(0, 1)), batch.frames.std(dim=(0, 1)))
    inputs = network.normalise(batch.frames)
    size = len(inputs)
    add("augment and compute features", _median(sampler.next), size, f"batch of {size}")
    for method in ("bce", "drocc-lf"):
        add(
            f"training step, {method}",
            _median(_step(network, config, method, inputs, batch.labels)),
            size,
            f"batch of {size}",
        )
    positives = inputs[batch.labels > 0.5]
    for phase, seconds in _adversary_phases(network, config, positives).items():
        add(f"of it: {phase}", seconds, len(positives), f"{len(positives)} positives")
    started = time.perf_counter()
    trainer = Trainer(network, 1e-3, 1e-4, 0.99, generator)
    loss = METHODS["drocc-lf"].loss(LossSettings(config.adversary))
    drawn = (sampler.next() for _ in range(_STEPS))
    trainer.epoch(loss, ((network.normalise(one.frames), one.labels) for one in drawn))
    add(
        f"{_STEPS} steps, DROCC-LF, everything",
        time.perf_counter() - started,
        _STEPS * size,
        f"{_STEPS * size} windows",
    )
    return rows


def _step(
    network: WakeWordNetwork, config: TrainConfig, method: str, inputs: Tensor, labels: Tensor
) -> Callable[[], object]:
    loss = METHODS[method].loss(LossSettings(config.adversary))
    trainer = Trainer(network, 1e-5, 0.0, 0.99, torch.Generator().manual_seed(0))
    return lambda: trainer.epoch(loss, [(inputs, labels)])


def _adversary_phases(network: WakeWordNetwork, config: TrainConfig, positives: Tensor) -> dict[str, float]:
    """Seconds of the parts of one adversary's search."""
    adversary = config.adversary
    sigma = sensitivity(network, positives, floor=adversary.sigma_floor, smoothing=adversary.sigma_smoothing)
    direction = torch.randn(positives.shape, generator=torch.Generator().manual_seed(0))
    outside, inside = (
        direction * (factor * adversary.radius / metric_norm(direction, sigma))[:, None, None] for factor in (2.0, 0.7)
    )

    def ascent() -> Tensor:
        points = (positives + outside).requires_grad_(True)
        gradient: Tensor = torch.autograd.grad(rejection_loss(network(points)).sum(), points)[0]
        return gradient

    def project(projection: Projection, displacement: Tensor) -> Callable[[], Tensor]:
        return lambda: projection(displacement, sigma, radius=adversary.radius, gamma=adversary.gamma)

    return {
        "sensitivity": _median(lambda: sensitivity(network, positives, floor=0.1, smoothing=9)),
        "one gradient of the ascent": _median(ascent),
        "one projection, from outside": _median(project(project_to_shell, outside)),
        "one projection, from inside": _median(project(project_to_shell, inside)),
        "random search in its place, from inside": _median(project(search_shell, inside)),
    }


def _median(action: Callable[[], object]) -> float:
    """Seconds of one call."""
    action()
    times = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return float(np.median(times))


def _write_clips(work: Path) -> list[Clip]:
    """Clips of noise in the paper's numbers; their content does not affect the cost."""
    random = np.random.default_rng(0)
    work.mkdir(parents=True, exist_ok=True)
    clips = []
    for kind, count in CLIPS.items():
        for number in range(count):
            path = work / f"{kind.value}-{number}.flac"
            if not path.is_file():
                soundfile.write(path, 0.1 * random.standard_normal(SAMPLE_RATE), SAMPLE_RATE)
            clips.append(Clip(path, kind, kind.value, str(number), Split.TRAIN))
    return clips


def write_cost(out: Path, rows: list[dict[str, Any]], *, command: str) -> None:
    """The page, as ``cost`` in ``out``."""
    lines = [
        [row["phase"], row["unit"], f"{row['milliseconds']:.1f}", f"{row['samples_per_second']:.0f}"] for row in rows
    ]
    body = [
        f"Clips: {', '.join(f'{count} {kind.value}' for kind, count in CLIPS.items())}, 1 s each. Medians of {_REPEATS} on "
        f"{torch.get_num_threads()} threads; a network of {_SETTINGS.network.hidden_size} units, "
        "and batches and an adversary of the default configuration.",
        markdown_table(["phase", "for", "milliseconds", "samples per second"], lines),
    ]
    write_results(
        out,
        "cost",
        title="What a training run costs",
        command=command,
        settings={"config": dataclasses.asdict(_SETTINGS)},
        rows=rows,
        body=body,
    )
