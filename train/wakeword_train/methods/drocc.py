"""DROCC-LF's adversary: the sensitivity of a network, which is its metric, and the ascent within the shell.

Everything works on tensors ``(batch, ...)`` and any network that gives one logit per row, in float32 or float64, on any
device. Source: Goyal et al., "DROCC: Deep Robust One-Class Classification", ICML 2020 (below: the paper), section 4.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import torch
import torch.nn.functional as nnf
from torch import Tensor, nn

from wakeword_train.methods.projection import device_of, metric_norm, project_to_shell, unusable_rows, usable_metric

LogitFunction = Callable[[Tensor], Tensor]
"""Inputs ``(batch, ...)`` -> logits ``(batch,)``."""

_SHORTER = 0.25
"""Factor on the step of a row if its logit did not rise. Around 48 recordings in two trained networks four steps of 0.3
radii found a loss of 3.4 and 5.3 with it, 2.3 and 5.1 when halved; from 0.1 radii on both find the same."""


def sensitivity(logit_function: LogitFunction, inputs: Tensor, *, floor: float = 0.1, smoothing: int = 1) -> Tensor:
    """``sigma``: how strongly each coordinate of each row moves that row's logit, with mean 1 over the row.

    ``inputs`` ``(batch, ...)`` -> ``(batch, ...)``. The *logit's* gradient, not the loss's, which vanishes on rows that
    are classified with certainty; in evaluation mode (see ``evaluating``), because a single draw of dropout would
    make most coordinates look unused. ``floor`` in 0..1 mixes the uniform metric in, so that no coordinate is free.
    ``smoothing`` (odd) is the number of steps of axis 1, the time of a sequence, to average over. A row with a
    gradient of zero, or one that is not finite, is returned as zeros, which is not a metric: see ``find_adversaries``.
    """
    points = inputs.detach().requires_grad_(True)
    with torch.enable_grad(), evaluating(logit_function):
        (gradient,) = torch.autograd.grad(logit_function(points).sum(), points)
    sigma = gradient.abs()
    if smoothing > 1 and sigma.ndim == 3:
        # At the edges, for the first and last frames, it averages over the part of the window that exists.
        sigma = nnf.avg_pool1d(
            sigma.transpose(1, 2), smoothing, stride=1, padding=smoothing // 2, count_include_pad=False
        ).transpose(1, 2)
    per_row = (-1,) + (1,) * (sigma.ndim - 1)
    mean = sigma.flatten(1).mean(dim=1).reshape(per_row)
    usable = torch.isfinite(mean) & (mean > 0)
    return torch.where(usable, (1 - floor) * sigma / torch.where(usable, mean, 1) + floor, 0)


@contextmanager
def evaluating(function: LogitFunction) -> Iterator[None]:
    """Put the network that ``function`` is, or is a method of, into evaluation mode; its modes are restored afterwards.

    A recurrent layer without dropout of its own computes the same in either mode and is left to training mode, in which
    alone cuDNN can differentiate it; one with dropout is run without cuDNN. Another function is called as it is.
    """
    network = getattr(function, "__self__", function)
    if not isinstance(network, nn.Module):
        yield
        return
    modes = [(module, module.training) for module in network.modules()]
    recurrent = [module for module, _ in modes if isinstance(module, nn.RNNBase)]
    # Entered only where needed: it also resets cuDNN's other settings.
    without_cudnn = any(layer.dropout for layer in recurrent)
    try:
        network.eval()
        for layer in recurrent:
            layer.training = not layer.dropout
        with torch.backends.cudnn.flags(enabled=False) if without_cudnn else nullcontext():
            yield
    finally:
        for module, mode in modes:
            module.training = mode


@dataclass(frozen=True)
class AdversaryHealth:
    """What the adversary did in one batch, or its means over an epoch. Losses are means of the cross-entropy against
    "negative", in evaluation mode. If ``loss_after`` does not exceed ``loss_before``, the adversary is mere noise."""

    inside: float
    """Share of rows that a step took nearer than the radius and that were pushed out, averaged over the steps."""
    outside: float
    """Share of rows that a step took beyond ``gamma * radius`` and that were pulled in, averaged over the steps."""
    loss_before: float
    """Loss of the starting points on the shell."""
    loss_after: float
    """Loss of the points that the ascent found; never below ``loss_before``."""
    fallbacks: int
    """Rows with an unusable metric: the Euclidean one was used instead."""


def find_adversaries(
    logit_function: LogitFunction,
    inputs: Tensor,
    sigma: Tensor,
    *,
    radius: float,
    gamma: float = 2.0,
    steps: int = 5,
    step_size: float = 0.2,
    start: Tensor | None = None,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, AdversaryHealth]:
    """Points around the positives ``inputs`` that the network should reject and does not (the paper's algorithm 2).

    ``inputs`` and ``sigma`` are ``(batch, ...)``; so are the adversaries, without gradient. From a random point in the
    shell, ``steps`` times: ``step_size * radius`` uphill on the logit, then the projection. A row with a logit that did not
    rise returns to where it was, the best point of its path, and goes a quarter as far from then on: a step that is
    too long costs one try and never an easier point. The network is in evaluation mode (see ``evaluating``).

    The paper starts from ``N(0, I)``, with a metric norm of about ``sqrt(D)`` whatever the ``radius``, takes
    steps of 0.01, which hardly move a point, and keeps the last one; start and steps are scaled to ``radius`` here. It
    climbs the cross-entropy against "negative": that has the direction of the logit, but a gradient that vanishes where
    the network is certain. ``start`` ``(batch, ...)``, displacements given by the caller, replaces the random points. Rows
    with a ``sigma`` that is no metric are searched in the Euclidean one, and counted.
    """
    fallbacks = int(unusable_rows(sigma).sum())
    sigma = usable_metric(sigma.flatten(1)).reshape(sigma.shape)
    per_row = (-1,) + (1,) * (inputs.ndim - 1)
    if start is None:
        start = random_start(inputs, sigma, radius=radius, gamma=gamma, generator=generator)
    inputs = inputs.detach()
    best = project_to_shell(start.detach(), sigma, radius=radius, gamma=gamma, generator=generator)
    inside = outside = 0.0
    with evaluating(logit_function):
        first, uphill = _logits_and_uphill(logit_function, inputs + best, wanted=steps > 0)
        logits, length = first, torch.full_like(first, step_size * radius)
        for step in range(steps):
            moved = best + length.reshape(per_row) * uphill
            norm = metric_norm(moved, sigma)
            inside += float((norm < radius).float().mean()) / steps
            outside += float((norm > gamma * radius).float().mean()) / steps
            moved = project_to_shell(moved, sigma, radius=radius, gamma=gamma, generator=generator)
            reached, direction = _logits_and_uphill(logit_function, inputs + moved, wanted=step < steps - 1)
            rose = reached > logits
            logits = torch.where(rose, reached, logits)
            length = torch.where(rose, length, _SHORTER * length)
            best = torch.where(rose.reshape(per_row), moved, best)
            uphill = torch.where(rose.reshape(per_row), direction, uphill)
    before, after = (float(rejection_loss(of_rows).mean()) for of_rows in (first, logits))
    return inputs + best, AdversaryHealth(inside, outside, before, after, fallbacks)


def _logits_and_uphill(logit_function: LogitFunction, points: Tensor, *, wanted: bool) -> tuple[Tensor, Tensor]:
    """Logits ``(batch,)`` and, if ``wanted``, their directions of steepest ascent, of length 1 or, where there is none, 0.

    Otherwise the second is zeros. ``points`` ``(batch, ...)`` like the directions.
    """
    if not wanted:
        with torch.no_grad():
            return logit_function(points), torch.zeros_like(points)
    points = points.detach().requires_grad_(True)
    with torch.enable_grad():
        logits = logit_function(points)
        (gradient,) = torch.autograd.grad(logits.sum(), points)
    # Twice, as the square of a small gradient is zero.
    largest = gradient.flatten(1).abs().amax(dim=1)
    usable = (torch.isfinite(largest) & (largest > 0)).reshape((-1,) + (1,) * (points.ndim - 1))
    gradient = torch.where(usable, gradient, 0) / torch.where(usable, largest.reshape(usable.shape), 1)
    norm = gradient.flatten(1).norm(dim=1).reshape(usable.shape)
    return logits.detach(), gradient / torch.where(usable, norm, 1)


def random_start(
    inputs: Tensor, sigma: Tensor, *, radius: float, gamma: float, generator: torch.Generator | None = None
) -> Tensor:
    """Normal directions at distances between ``radius`` and ``gamma * radius``: ``(batch, ...)`` twice -> the same."""
    device = device_of(generator, inputs)
    h = torch.randn(inputs.shape, generator=generator, device=device, dtype=inputs.dtype).to(inputs.device)
    distance = radius * (1 + (gamma - 1) * torch.rand(len(h), generator=generator, device=device)).to(h.device)
    return h * (distance / metric_norm(h, sigma).clamp_min(1e-12)).reshape((-1,) + (1,) * (inputs.ndim - 1))


def rejection_loss(logits: Tensor) -> Tensor:
    """Cross-entropy of each row against "negative", ``(batch,)`` -> ``(batch,)``: high where the network is fooled."""
    return nnf.softplus(logits)
