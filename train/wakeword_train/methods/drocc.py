"""DROCC-LF's adversary: the sensitivity of a network, which is its metric, and the ascent within the shell.

Everything works on tensors ``(batch, ...)`` and any network that gives one logit per row, in float32 or float64, on any
device. Source: Goyal et al., "DROCC: Deep Robust One-Class Classification", ICML 2020 (below: the paper), section 4.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as nnf
from torch import Tensor

from wakeword_train.methods.projection import (
    Projection,
    device_of,
    metric_norm,
    project_to_shell,
    unusable_rows,
    usable_metric,
)

LogitFunction = Callable[[Tensor], Tensor]
"""Inputs ``(batch, ...)`` -> logits ``(batch,)``."""


def sensitivity(logit_function: LogitFunction, inputs: Tensor, *, floor: float = 0.1, smoothing: int = 1) -> Tensor:
    """``sigma``: how strongly each coordinate of each row moves that row's logit, with mean 1 over the row.

    ``inputs`` ``(batch, ...)`` -> ``(batch, ...)``. The *logit's* gradient, not the loss's, which vanishes on rows that
    are classified with certainty. ``floor`` in 0..1 mixes the uniform metric in, so that no coordinate is free.
    ``smoothing`` (odd) is the number of steps of axis 1, the time of a sequence, to average over. A row whose gradient is
    zero or not finite is returned as zeros, which is not a metric: see ``find_adversaries``.
    """
    points = inputs.detach().requires_grad_(True)
    with torch.enable_grad():
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


def shared_sensitivity(
    logit_function: LogitFunction, positives: Tensor, *, floor: float = 0.1, smoothing: int = 1
) -> Tensor | None:
    """One metric for all rows: the mean of theirs, of the shape of one row; ``None`` if no row has a usable gradient."""
    sigma = sensitivity(logit_function, positives, floor=floor, smoothing=smoothing)
    usable = sigma[~unusable_rows(sigma)]
    return usable.mean(dim=0) if len(usable) else None


@dataclass(frozen=True)
class AdversaryHealth:
    """What the adversary did in one batch. If ``loss_after`` does not exceed ``loss_before``, training sees mere noise."""

    inside: float
    """Share of rows that ended nearer than the radius and were pushed out, averaged over the steps."""
    outside: float
    """Share of rows that ended beyond ``gamma * radius`` and were pulled in, averaged over the steps."""
    loss_before: float
    """Mean cross-entropy against "negative" of the random starting points on the shell."""
    loss_after: float
    """The same for the points that the ascent found."""
    fallbacks: int
    """Rows whose metric was unusable, so that the Euclidean one was used instead."""


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
    projection: Projection | None = None,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, AdversaryHealth]:
    """Points around the positives ``inputs`` that the network should reject and does not (the paper's algorithm 2).

    ``inputs`` and ``sigma`` are ``(batch, ...)``; so are the adversaries, without gradient. From a random point in the
    shell, ``steps`` times: ``step_size * radius`` uphill on the cross-entropy against "negative", then the projection.
    The paper starts from ``N(0, I)``, whose metric norm of about ``sqrt(D)`` has nothing to do with ``radius``, and takes
    steps of 0.01, which hardly move a point; both are scaled to ``radius`` here. ``start`` ``(batch, ...)``, displacements
    given by the caller, replaces the random points, and ``projection`` replaces ``project_to_shell``. Rows whose ``sigma``
    is not a metric are searched in the Euclidean one, and counted.
    """
    fallbacks = int(unusable_rows(sigma).sum())
    sigma = usable_metric(sigma.flatten(1)).reshape(sigma.shape)
    per_row = (-1,) + (1,) * (inputs.ndim - 1)
    h = _random_start(inputs, sigma, radius, gamma, generator) if start is None else start
    project = projection or project_to_shell
    h = project(h, sigma, radius=radius, gamma=gamma, generator=generator)
    inside = outside = 0.0
    loss_before = 0.0
    for step in range(steps):
        points = (inputs + h).detach().requires_grad_(True)
        with torch.enable_grad():
            losses = rejection_loss(logit_function(points))
            (gradient,) = torch.autograd.grad(losses.sum(), points)
        if step == 0:
            loss_before = float(losses.detach().mean())
        length = gradient.flatten(1).norm(dim=1).clamp_min(torch.finfo(gradient.dtype).tiny).reshape(per_row)
        h = h + step_size * radius * gradient / length
        norm = metric_norm(h, sigma)
        inside += float((norm < radius).float().mean()) / steps
        outside += float((norm > gamma * radius).float().mean()) / steps
        h = project(h, sigma, radius=radius, gamma=gamma, generator=generator)
    adversaries = (inputs + h).detach()
    with torch.no_grad():
        loss_after = float(rejection_loss(logit_function(adversaries)).mean())
    return adversaries, AdversaryHealth(inside, outside, loss_before if steps else loss_after, loss_after, fallbacks)


def _random_start(
    inputs: Tensor, sigma: Tensor, radius: float, gamma: float, generator: torch.Generator | None
) -> Tensor:
    """Normal directions at distances between ``radius`` and ``gamma * radius``; the shape of ``inputs``."""
    device = device_of(generator, inputs)
    h = torch.randn(inputs.shape, generator=generator, device=device, dtype=inputs.dtype).to(inputs.device)
    distance = radius * (1 + (gamma - 1) * torch.rand(len(h), generator=generator, device=device)).to(h.device)
    return h * (distance / metric_norm(h, sigma).clamp_min(1e-12)).reshape((-1,) + (1,) * (inputs.ndim - 1))


def splice_start(positives: Tensor, negatives: Tensor, *, generator: torch.Generator | None = None) -> Tensor:
    """Displacements that put a stretch of a random negative into each positive; ``(batch, ...)`` as ``positives``.

    The stretch is 25 to 60 % of axis 1, at any position: the beginning, the middle or the end of a word is replaced by that
    of another, as in words that sound alike. Noise of the same size does not resemble speech, and a network rejects it
    without learning where the keyword ends.
    """
    device = device_of(generator, positives)
    batch, length = positives.shape[:2]
    rows = torch.randint(len(negatives), (batch,), generator=generator, device=device).to(positives.device)
    share, place = torch.rand(2, batch, generator=generator, device=device).to(positives.device)
    width = ((0.25 + 0.35 * share) * length).ceil()
    begin = (place * (length - width + 1)).floor()
    index = torch.arange(length, device=positives.device)
    mask = (index >= begin[:, None]) & (index < (begin + width)[:, None])
    start: Tensor = (negatives[rows] - positives) * mask.reshape(batch, length, *[1] * (positives.ndim - 2))
    return start


def rejection_loss(logits: Tensor) -> Tensor:
    """Cross-entropy of each row against "negative", ``(batch,)`` -> ``(batch,)``: high where the network is fooled."""
    return nnf.softplus(logits)
