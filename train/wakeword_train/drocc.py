"""DROCC-LF's adversary: the metric, the exact projection onto its shell, and the ascent.

Everything works on tensors ``(batch, ...)`` and any network that gives one logit a row, in float32 or float64, on any
device. Source: Goyal et al., "DROCC: Deep Robust One-Class Classification", ICML 2020 (below: the paper), section 4.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as nnf
from torch import Tensor

_NEWTON_STEPS = 12
"""Upper bound; 4 to 8 are enough for random problems, and the iteration stops when no row moves."""

LogitFunction = Callable[[Tensor], Tensor]
"""Inputs ``(batch, ...)`` -> logits ``(batch,)``."""


def metric_norm(displacement: Tensor, sigma: Tensor) -> Tensor:
    """``||v||_Sigma = sqrt(sum_j sigma_j v_j^2)`` of each row; ``(batch, ...)`` twice -> ``(batch,)``."""
    return (sigma * displacement.square()).flatten(1).sum(dim=1).sqrt()


def project_to_shell(
    displacement: Tensor,
    sigma: Tensor,
    *,
    radius: float,
    gamma: float,
    generator: torch.Generator | None = None,
) -> Tensor:
    """The nearest point to each row of ``displacement`` with ``radius <= ||y||_Sigma <= gamma * radius``.

    Nearest in the Euclidean sense, as gradient projection needs. Shape: ``displacement`` and ``sigma`` (not negative)
    both ``(batch, ...)`` -> ``(batch, ...)``. Rows inside the shell come back as they are; a row whose ``sigma`` is
    all zero, or not finite, is projected in the plain Euclidean norm. ``generator`` draws the direction for rows
    at the very centre, from which every direction is as near.

    Only one bound can be active, and Lagrange's condition gives ``y_j = d_j / (1 + tau sigma_j)`` with
    ``phi(tau) = sum_j sigma_j d_j^2 / (1 + tau sigma_j)^2 = rho^2`` for the bound ``rho``. With ``w = sigma / max
    sigma`` and ``u = 1 + tau max sigma``, ``1/sqrt(phi) - 1/rho`` is concave and increasing in ``u`` on the bracket that
    holds the root, so Newton's method from the bracket's left end climbs to it monotonically and quadratically.
    """
    shape = displacement.shape
    d = displacement.flatten(1)
    s = _usable_metric(sigma.flatten(1))
    norm = (s * d.square()).sum(dim=1).sqrt()
    outer = norm > gamma * radius
    moved = outer | (norm < radius)
    if not bool(moved.any()):
        return displacement
    d, s, outer = d[moved], s[moved], outer[moved]
    s_max = s.amax(dim=1, keepdim=True)
    w = s / s_max
    target = torch.where(outer, d.new_tensor(gamma * radius), d.new_tensor(radius))[:, None]
    y = _project_rows(d, w, target / s_max.sqrt(), outer[:, None], generator)
    result = displacement.flatten(1).clone()
    result[moved] = y
    return result.reshape(shape)


def _usable_metric(sigma: Tensor) -> Tensor:
    """``(batch, n)`` with rows that are all zero, negative somewhere or not finite replaced by ones."""
    unusable = unusable_rows(sigma)
    return torch.where(unusable[:, None], torch.ones_like(sigma), sigma)


def unusable_rows(sigma: Tensor) -> Tensor:
    """Which rows of ``sigma``, ``(batch, ...)``, are no metric: all zero, negative somewhere, or not finite."""
    flat = sigma.flatten(1)
    return ~torch.isfinite(flat).all(dim=1) | (flat < 0).any(dim=1) | (flat.amax(dim=1) <= 0)


def _project_rows(d: Tensor, w: Tensor, rho: Tensor, outer: Tensor, generator: torch.Generator | None) -> Tensor:
    """Rows that must move onto ``||y||_w = rho``; ``d``, ``w`` are ``(rows, n)``, ``rho`` and ``outer`` ``(rows, 1)``.

    ``w`` has the maximum 1 in every row.
    """
    e = w * d.square()
    heaviest = w == 1
    q = e.sum(dim=1, keepdim=True)
    c = torch.where(heaviest, e, 0).sum(dim=1, keepdim=True)
    # Left ends of the brackets. Outside u >= 1, so phi >= q / u^2; inside the heaviest terms alone give phi >= c / u^2.
    u = torch.where(outer, q, c).sqrt() / rho
    # phi(0+) is finite only if c = 0. If even that limit is below rho^2, no root exists: the hard case, u = 0.
    rest = torch.where(heaviest, 0, e / (1 - w).square().clamp_min(torch.finfo(d.dtype).tiny)).sum(dim=1, keepdim=True)
    hard = ~outer & (c == 0) & (rest < rho.square())
    for _ in range(_NEWTON_STEPS):
        den = (1 - w) + u * w
        ratio = torch.where(den > 0, e / den.square(), 0)
        phi = ratio.sum(dim=1, keepdim=True)
        slope = -2 * torch.where(den > 0, ratio * w / den, 0).sum(dim=1, keepdim=True)
        step = 2 * phi * (1 - phi.sqrt() / rho) / slope
        step = torch.where(torch.isfinite(step) & ~hard, step, 0)
        u = u + step
        if bool((step.abs() <= 4 * torch.finfo(d.dtype).eps * u).all()):
            break
    den = (1 - w) + u * w
    y = torch.where(den > 0, d / den, 0)
    y = torch.where(hard, _fill_heaviest(y, w, heaviest, rho, generator), y)
    # Newton leaves the last few units in the last place; scaling them away costs less than another step.
    length = (w * y.square()).sum(dim=1, keepdim=True).sqrt()
    return y * torch.where(length > 0, rho / length, 1)


def _fill_heaviest(y: Tensor, w: Tensor, heaviest: Tensor, rho: Tensor, generator: torch.Generator | None) -> Tensor:
    """Rows with nothing on their heaviest coordinates: what is missing to ``rho`` goes onto one of those."""
    y = torch.where(heaviest, 0, y)
    missing = (rho.square() - (w * y.square()).sum(dim=1, keepdim=True)).clamp_min(0).sqrt()
    # The generator may live on the CPU while the tensors do not.
    draw = torch.rand(y.shape, generator=generator, dtype=torch.float32, device=_device_of(generator, y)).to(y.device)
    chosen = torch.where(heaviest, draw, -1.0).argmax(dim=1, keepdim=True)
    side = torch.rand((len(y), 1), generator=generator, device=_device_of(generator, y)).to(y.device)
    sign = torch.where(side < 0.5, -1.0, 1.0).to(y.dtype)
    return y.scatter(1, chosen, sign * missing)


def _device_of(generator: torch.Generator | None, like: Tensor) -> torch.device:
    return like.device if generator is None else generator.device


def sensitivity(logit_function: LogitFunction, inputs: Tensor, *, floor: float = 0.1, smoothing: int = 1) -> Tensor:
    """``sigma``: how strongly each coordinate of each row moves that row's logit, with mean 1 over the row.

    ``inputs`` ``(batch, ...)`` -> ``(batch, ...)``. The *logit's* gradient, not the loss's, which vanishes on rows that
    are classified with certainty. ``floor`` in 0..1 mixes the uniform metric in, so that no coordinate is free.
    ``smoothing`` (odd) averages over so many steps of axis 1, the time of a sequence. A row whose gradient is zero or not
    finite comes back as zeros, which is no metric: see ``find_adversaries``.
    """
    points = inputs.detach().requires_grad_(True)
    with torch.enable_grad():
        (gradient,) = torch.autograd.grad(logit_function(points).sum(), points)
    sigma = gradient.abs()
    if smoothing > 1 and sigma.ndim == 3:
        # Averages over the window's existing part at the edges, as the first and last frames need.
        sigma = nnf.avg_pool1d(
            sigma.transpose(1, 2), smoothing, stride=1, padding=smoothing // 2, count_include_pad=False
        ).transpose(1, 2)
    per_row = (-1,) + (1,) * (sigma.ndim - 1)
    mean = sigma.flatten(1).mean(dim=1).reshape(per_row)
    usable = torch.isfinite(mean) & (mean > 0)
    return torch.where(usable, (1 - floor) * sigma / torch.where(usable, mean, 1) + floor, 0)


@dataclass(frozen=True)
class AdversaryHealth:
    """What the adversary did in one batch. If ``loss_after`` does not exceed ``loss_before``, one trains on noise."""

    inside: float
    """Share of rows that ended nearer than the radius and were pushed out, averaged over the steps."""
    outside: float
    """Share of rows that ended beyond ``gamma * radius`` and were pulled in, averaged over the steps."""
    loss_before: float
    """Mean cross-entropy against "negative" of the random starting points on the shell."""
    loss_after: float
    """The same of the points that the ascent found."""
    fallbacks: int
    """Rows whose metric was unusable, so that the Euclidean one stood in."""


def find_adversaries(
    logit_function: LogitFunction,
    inputs: Tensor,
    sigma: Tensor,
    *,
    radius: float,
    gamma: float = 2.0,
    steps: int = 5,
    step_size: float = 0.2,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, AdversaryHealth]:
    """Points around the positives ``inputs`` that the network should reject and does not (the paper's algorithm 2).

    ``inputs`` and ``sigma`` are ``(batch, ...)``; so are the adversaries, without gradient. From a random point in the
    shell, ``steps`` times: ``step_size * radius`` uphill on the cross-entropy against "negative", then the projection.
    The paper starts from ``N(0, I)``, whose metric norm of about ``sqrt(D)`` has nothing to do with ``radius``, and takes
    steps of 0.01, which move nothing; both are scaled to ``radius`` here. Rows whose ``sigma`` is no metric are searched
    in the Euclidean one, and counted.
    """
    fallbacks = int(unusable_rows(sigma).sum())
    sigma = _usable_metric(sigma.flatten(1)).reshape(sigma.shape)
    noise = torch.randn(inputs.shape, generator=generator, device=_device_of(generator, inputs), dtype=inputs.dtype)
    h = noise.to(inputs.device)
    per_row = (-1,) + (1,) * (inputs.ndim - 1)
    start = radius * (1 + (gamma - 1) * torch.rand(len(h), generator=generator, device=noise.device)).to(h.device)
    h = h * (start / metric_norm(h, sigma).clamp_min(1e-12)).reshape(per_row)
    h = project_to_shell(h, sigma, radius=radius, gamma=gamma, generator=generator)
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
        h = project_to_shell(h, sigma, radius=radius, gamma=gamma, generator=generator)
    adversaries = (inputs + h).detach()
    with torch.no_grad():
        loss_after = float(rejection_loss(logit_function(adversaries)).mean())
    return adversaries, AdversaryHealth(inside, outside, loss_before if steps else loss_after, loss_after, fallbacks)


def rejection_loss(logits: Tensor) -> Tensor:
    """Cross-entropy of each row against "negative", ``(batch,)`` -> ``(batch,)``: high where the network is fooled."""
    return nnf.softplus(logits)
