"""Does the adversary find what it looks for? Searches around recordings of the word, in finished models."""

import dataclasses
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from wakeword.audio.audio_listing import audio_files
from wakeword.base.errors import ConfigError
from wakeword.format.card import ModelCard
from wakeword_experiments.figures_report import distinct, markdown_table, select, write_results
from wakeword_tools.kinds import Kind, Split
from wakeword_train.data.clips import Clip
from wakeword_train.data.frontend import Frontend
from wakeword_train.data.store import ClipStore
from wakeword_train.methods.drocc import LogitFunction, find_adversaries, random_start, rejection_loss, sensitivity
from wakeword_train.methods.losses import AdversaryConfig
from wakeword_train.methods.projection import metric_norm, project_to_shell, usable_metric
from wakeword_train.model.from_onnx import TrainedModel, network_from
from wakeword_train.model.network import WakeWordNetwork

_WINDOWS = 9
"""Windows in which a recording's word is looked for, early to late; the best of them is kept."""
_EUCLIDEAN = ("drocc-oe", "drocc", "drocc-rand")
"""Methods whose shell is measured without a learned metric."""


@dataclass(frozen=True)
class Search:
    """One way to look for adversaries."""

    label: str
    steps: int
    step_size: float
    """As a share of the radius."""
    keeps_last: bool = False
    """Steps of one length whose last point counts: the search before the best was kept and steps were shortened."""


def searches(config: AdversaryConfig) -> list[Search]:
    """What is compared on a model trained with these settings."""
    steps, size = config.steps, config.step_size
    return [
        Search("fixed steps, last point", steps, size, keeps_last=True),
        Search("fixed steps a third as long, last point", 3 * steps, size / 3, keeps_last=True),
        Search("best point, shortened steps", steps, size),
        Search("the same, 4 times finer", 4 * steps, size / 4),
        Search("the same, 16 times finer", 16 * steps, size / 16),
    ]


def measure_health(
    models: Sequence[Path], audio: Path, *, recordings: int, seed: int, report: Callable[[str], None]
) -> list[dict[str, Any]]:
    """A row for each model and search: mean loss of the found points, and the share of them that it accepts.

    ``audio`` holds ``wake_words/WORD`` or
    ``speech_commands/WORD``, of which that many recordings are taken by a hash of their names. Raises ``ConfigError``
    without recordings of a model's word.
    """
    rows = []
    for path in models:
        model = network_from(path)
        rows += _rows_of_model(path.stem, model, audio, recordings, seed)
        report(f"{path.stem}: {rows[-1]['recordings']} recordings searched")
    return rows


def _rows_of_model(name: str, model: TrainedModel, audio: Path, recordings: int, seed: int) -> list[dict[str, Any]]:
    windows = model.network.normalise(best_windows(model, word_files(audio, model.card.phrase)[:recordings]))
    method, trained = str(model.card.training.get("method", "unknown")), trained_adversary(model.card)
    own = {"model": name, "method": method, "recordings": len(windows)}
    figures = _searched(model.network, windows, trained, method, torch.Generator().manual_seed(seed))
    return [own | found for found in figures]


def _searched(
    network: WakeWordNetwork, points: Tensor, config: AdversaryConfig, method: str, generator: torch.Generator
) -> list[dict[str, Any]]:
    """Figures of the recordings, of random points around them, and of each search."""
    radius = config.radius
    if method in _EUCLIDEAN:
        sigma = torch.ones_like(points)
    else:
        sigma = sensitivity(network, points, floor=config.sigma_floor, smoothing=config.sigma_smoothing)
        sigma = usable_metric(sigma.flatten(1)).reshape(sigma.shape)
    start = random_start(points, sigma, radius=radius, gamma=config.gamma, generator=generator)
    rows = [
        {"search": "the recordings themselves", "radius": radius} | _figures(network, points),
        {"search": "random points of the shell", "radius": radius} | _figures(network, points + start),
    ]
    for one in searches(config):
        found = _found(one, network, points, sigma, start, radius=radius, gamma=config.gamma)
        settings = {"search": one.label, "radius": radius, "steps": one.steps, "step_size": one.step_size}
        rows.append(settings | _figures(network, found))
    return rows


def _found(
    search: Search,
    function: LogitFunction,
    points: Tensor,
    sigma: Tensor,
    start: Tensor,
    *,
    radius: float,
    gamma: float,
) -> Tensor:
    """The points that one search finds, ``(batch, ...)``."""
    steps, step_size = search.steps, search.step_size
    if search.keeps_last:
        return climb_by_fixed_steps(
            function, points, sigma, start=start, radius=radius, gamma=gamma, steps=steps, step_size=step_size
        )
    adversaries, _ = find_adversaries(
        function, points, sigma, start=start, radius=radius, gamma=gamma, steps=steps, step_size=step_size
    )
    return adversaries


def climb_by_fixed_steps(
    function: LogitFunction,
    points: Tensor,
    sigma: Tensor,
    *,
    start: Tensor,
    radius: float,
    gamma: float,
    steps: int,
    step_size: float,
) -> Tensor:
    """The ascent of the paper's algorithm 2 and of earlier versions: all steps have one length and the last point counts.

    Shapes as for ``find_adversaries``.
    """
    h = project_to_shell(start, sigma, radius=radius, gamma=gamma)
    for _ in range(steps):
        at = (points + h).detach().requires_grad_(True)
        (gradient,) = torch.autograd.grad(rejection_loss(function(at)).sum(), at)
        length = metric_norm(gradient, torch.ones_like(gradient)).clamp_min(torch.finfo(gradient.dtype).tiny)
        h = h + step_size * radius * gradient / length.reshape((-1,) + (1,) * (h.ndim - 1))
        h = project_to_shell(h, sigma, radius=radius, gamma=gamma)
    return points + h


@torch.no_grad()
def _figures(function: LogitFunction, points: Tensor) -> dict[str, float]:
    logits = function(points)
    return {"loss": float(rejection_loss(logits).mean()), "accepted": 100 * float((logits >= 0).float().mean())}


def trained_adversary(card: ModelCard) -> AdversaryConfig:
    """The adversary's settings in a card; those that it lacks are the defaults.

    Raises ``ConfigError`` for one that searched among the network's states, which no version does any more.
    """
    config = card.training.get("config", {}).get("adversary", {})
    if config.get("space", "input") != "input":
        raise ConfigError(f"expected a model whose adversaries were features, got one of {card.phrase!r} among states")
    known = {field.name for field in dataclasses.fields(AdversaryConfig)}
    return AdversaryConfig(**{name: value for name, value in config.items() if name in known})


def word_files(audio: Path, phrase: str) -> list[Path]:
    """Recordings of a word, ordered by a hash of their names. Raises ``ConfigError`` if there are none."""
    for folder in (audio / "wake_words" / phrase, audio / "speech_commands" / phrase):
        if files := _by_hash(folder):
            return files
    raise ConfigError(f"{audio}: expected recordings in wake_words/{phrase} or speech_commands/{phrase}, found none")


def _by_hash(folder: Path) -> list[Path]:
    files = audio_files(folder, required=False) if folder.is_dir() else []
    return sorted(files, key=lambda path: hashlib.sha256(path.name.encode()).hexdigest())


@torch.no_grad()
def best_windows(model: TrainedModel, files: Sequence[Path]) -> Tensor:
    """The window of each recording that the model scores highest, ``(recordings, window, n_mfcc)``, not normalised."""
    network: WakeWordNetwork = model.network
    store = ClipStore([Clip(path, Kind.POSITIVE, model.card.phrase, path.stem, Split.TEST) for path in files])
    frontend = Frontend(model.card.features)
    samples = model.card.features.samples_in(model.card.window)
    first, last = store.word_ends - samples, store.word_starts
    generator = torch.Generator().manual_seed(0)
    places = [first + (last - first) * part // (_WINDOWS - 1) for part in range(_WINDOWS)]
    windows = torch.stack(
        [frontend(store.cut(torch.arange(len(store)), place, samples, generator=generator)) for place in places], dim=1
    )
    scores = network(network.normalise(windows.flatten(0, 1))).reshape(len(store), _WINDOWS)
    return windows[torch.arange(len(store)), scores.argmax(dim=1)]


def write_health(out: Path, rows: Sequence[dict[str, Any]], *, recordings: int, seed: int, command: str) -> None:
    """The page, as ``adversary-health`` in ``out``."""
    models = distinct(rows, "model")
    body = [
        "Mean cross-entropy against *negative* of the points that a search finds around at most "
        f"{recordings} recordings of each model's word, and in brackets how many of them the model gives a score of 0.5 or "
        "more. All searches of a model begin at the same random points of the shell; one that ends below them makes points "
        "easier, and one far below a finer one jumps over what it looks for. *Fixed steps, last point* is the search of "
        "the paper's algorithm, and of earlier versions; the others are `find_adversaries`.",
        "With the settings in each model's card:",
        _table(rows),
        "A model of another method than the DROCC family was not trained against any of these points. Recordings are not "
        "augmented, and some of their speakers were trained on; training searches around augmented ones.",
    ]
    write_results(
        out,
        "adversary-health",
        title="What the adversary finds",
        command=command,
        settings={"recordings": recordings, "seed": seed, "models": models},
        rows=rows,
        body=body,
    )


def _table(rows: Sequence[dict[str, Any]]) -> str:
    """A line for each search and a column for each model."""
    methods = {row["model"]: row["method"] for row in rows}
    lines = []
    for search in distinct(rows, "search"):
        of_search = {row["model"]: row for row in select(rows, search=search)}
        lines.append([search, *(f"{row['loss']:.3f} ({row['accepted']:.0f} %)" for row in of_search.values())])
    return markdown_table(["", *(f"{model}, {method}" for model, method in methods.items())], lines)
