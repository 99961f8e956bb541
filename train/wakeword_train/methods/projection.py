"""The metric of a shell around a point, and the exact projection onto it.

Everything works on tensors ``(batch, ...)`` in float32 or float64, on any device. Source: Goyal et al., "DROCC: Deep
Robust One-Class Classification", ICML 2020, section 4.
"""

import torch
from torch import Tensor

_NEWTON_STEPS = 12
"""Upper bound; 4 to 8 are enough for random problems, and the iteration stops when no row moves."""

_COARSE_FROM = 512
"""Number of coordinates from which a first estimate on a part of them saves time."""


def metric_norm(displacement: Tensor, sigma: Tensor) -> Tensor:
    """``||v||_Sigma = sqrt(sum_j sigma_j v_j^2)`` of each row; ``(batch, ...)`` twice -> ``(batch,)``."""
    return (sigma * displacement.square()).flatten(1).sum(dim=1).sqrt()


def project_to_shell(
    displacement: Tensor, sigma: Tensor, *, radius: float, gamma: float, generator: torch.Generator | None = None
) -> Tensor:
    """The nearest point to each row of ``displacement`` with ``radius <= ||y||_Sigma <= gamma * radius``.

    Nearest in the Euclidean sense, as gradient projection needs. Shape: ``displacement`` and ``sigma`` (not negative)
    both ``(batch, ...)`` -> ``(batch, ...)``. Rows inside the shell are returned unchanged; a row with a ``sigma`` that is
    all zero, or not finite, is projected in the plain Euclidean norm. ``generator`` draws the direction for rows
    exactly at the centre, from which all directions are equally near.

    Only one bound can be active, and Lagrange's condition gives ``y_j = d_j / (1 + tau sigma_j)`` with
    ``phi(tau) = sum_j sigma_j d_j^2 / (1 + tau sigma_j)^2 = rho^2`` for the bound ``rho``. With ``w = sigma / max
    sigma`` and ``u = 1 + tau max sigma``, ``1/sqrt(phi) - 1/rho`` is concave and increasing in ``u`` on the bracket that
    holds the root, so Newton's method from the bracket's left end climbs to it monotonically and quadratically.
    """
    shape = displacement.shape
    d = displacement.flatten(1)
    s = usable_metric(sigma.flatten(1))
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


def usable_metric(sigma: Tensor) -> Tensor:
    """``(batch, n)`` with rows that are all zero, negative somewhere or not finite replaced by ones."""
    unusable = unusable_rows(sigma)
    return torch.where(unusable[:, None], torch.ones_like(sigma), sigma)


def unusable_rows(sigma: Tensor) -> Tensor:
    """Which rows of ``sigma``, ``(batch, ...)``, are not a metric: all zero, negative somewhere, or not finite."""
    flat = sigma.flatten(1)
    return ~torch.isfinite(flat).all(dim=1) | (flat < 0).any(dim=1) | (flat.amax(dim=1) <= 0)


def _project_rows(d: Tensor, w: Tensor, rho: Tensor, outer: Tensor, generator: torch.Generator | None) -> Tensor:
    """Rows that must move onto ``||y||_w = rho``; ``d``, ``w`` are ``(rows, n)``, ``rho`` and ``outer`` ``(rows, 1)``.

    ``w`` has the maximum 1 in every row.
    """
    e = w * d * d
    # Left ends of the brackets. Outside u >= 1, so phi >= q / u^2; inside the heaviest terms alone give phi >= c / u^2.
    left = e.sum(dim=1, keepdim=True)
    hard = torch.zeros_like(outer)
    if not bool(outer.all()):
        heaviest = w == 1
        c = torch.where(heaviest, e, 0).sum(dim=1, keepdim=True)
        left = torch.where(outer, left, c)
        hard = ~outer & (c == 0)
        if bool(hard.any()):
            # phi(0+) is finite only if c = 0. Below rho^2 even there, no root exists: the hard case, u = 0.
            limit = torch.where(heaviest, 0, e / (1 - w).square().clamp_min(torch.finfo(d.dtype).tiny))
            hard = hard & (limit.sum(dim=1, keepdim=True) < rho.square())
    u = _newton_root(e, w, rho, torch.where(hard, 1.0, left.sqrt() / rho))
    den = torch.addcmul(1 - w, u, w)
    y = torch.where(den > 0, d / den, 0)
    if bool(hard.any()):
        in_the_limit = torch.where(w < 1, d / (1 - w), 0)
        y = torch.where(hard, _fill_heaviest(in_the_limit, w, w == 1, rho, generator), y)
    # Newton's method leaves an error of a few units in the last place; scaling removes it for less than another step.
    length = (w * y * y).sum(dim=1, keepdim=True).sqrt()
    return y.mul_(torch.where(length > 0, rho / length, 1))


def _newton_root(e: Tensor, w: Tensor, rho: Tensor, left: Tensor) -> Tensor:
    """``u`` with ``sum_j e_j / ((1 - w_j) + u w_j)^2 = rho^2`` of each row, from a ``left`` ``(rows, 1)`` not above it.

    A seventh of the coordinates gives a first estimate, which saves three of five full steps. It can be beyond the root:
    a step from there leads back to the left, as the function is concave, and never needs to pass ``left``.
    """
    u = left
    if e.shape[1] >= _COARSE_FROM:
        # Seven is odd, so that every coefficient of a frame of 32 is used.
        some_e, some_w = e[:, ::7].contiguous(), w[:, ::7].contiguous()
        scale = e.sum(dim=1, keepdim=True) / some_e.sum(dim=1, keepdim=True)
        estimate = _climb(some_e * scale, some_w, rho, left)
        u = torch.where(torch.isfinite(estimate), estimate, left)
    return _climb(e, w, rho, u, left)


def _climb(e: Tensor, w: Tensor, rho: Tensor, u: Tensor, left: Tensor | None = None) -> Tensor:
    """Newton's method on ``1/sqrt(phi(u)) - 1/rho`` from ``u``, kept at ``left`` or above; see ``_newton_root``."""
    rest = 1 - w
    left = u if left is None else left
    # The next error is of the order of this one's square.
    close = torch.finfo(e.dtype).eps ** 0.5
    for _ in range(_NEWTON_STEPS):
        # At u = 0 the heaviest coordinates, which are zero then, have no inverse.
        inverse = torch.addcmul(rest, u, w).clamp_min_(torch.finfo(e.dtype).tiny).reciprocal_()
        term = (e * inverse).mul_(inverse)
        phi = term.sum(dim=1, keepdim=True)
        slope = -2 * term.mul_(inverse).mul_(w).sum(dim=1, keepdim=True)
        step = 2 * phi * (1 - phi.sqrt() / rho) / slope
        step = torch.where(torch.isfinite(step), step, 0)
        moved = torch.maximum(u + step, left)
        step, u = moved - u, moved
        if bool((step.abs() <= close * u).all()):
            break
    return u


def _fill_heaviest(y: Tensor, w: Tensor, heaviest: Tensor, rho: Tensor, generator: torch.Generator | None) -> Tensor:
    """Rows that are zero on their heaviest coordinates: one of those gets what is missing to ``rho``."""
    y = torch.where(heaviest, 0, y)
    missing = (rho.square() - (w * y.square()).sum(dim=1, keepdim=True)).clamp_min(0).sqrt()
    draw = torch.rand(y.shape, generator=generator, dtype=torch.float32, device=device_of(generator, y)).to(y.device)
    chosen = torch.where(heaviest, draw, -1.0).argmax(dim=1, keepdim=True)
    side = torch.rand((len(y), 1), generator=generator, device=device_of(generator, y)).to(y.device)
    sign = torch.where(side < 0.5, -1.0, 1.0).to(y.dtype)
    return y.scatter(1, chosen, sign * missing)


def device_of(generator: torch.Generator | None, like: Tensor) -> torch.device:
    """Where ``generator`` draws: it can be on the CPU while the tensors, as ``like`` of any shape, are not."""
    return like.device if generator is None else generator.device
