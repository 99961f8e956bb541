"""The projection of the paper's published code, for comparison with the exact one."""

import torch
from torch import Tensor

from wakeword_train.methods.projection import metric_norm

DRAWS = 40
"""Draws for each row in the published code."""


def search_shell(
    displacement: Tensor, sigma: Tensor, *, radius: float, gamma: float, generator: torch.Generator | None = None
) -> Tensor:
    """The best of 40 random multipliers for each row, in the shapes of ``methods.projection.project_to_shell``.

    Source: microsoft/EdgeML, ``drocclf_trainer.py``. A multiplier ``tau`` gives ``d / (1 + tau sigma)``. Inside, ``tau`` is
    drawn evenly from ``[-1 / max sigma, 0]``; outside, ``1 / tau`` is, up to where radial scaling would be enough. Of
    those that reach the shell, the one that moves the point least is used; if none does, the row is not changed.
    """
    d, s = displacement.flatten(1), sigma.flatten(1)
    norm = metric_norm(d, s)
    outer = norm > gamma * radius
    heaviest = s.amax(dim=1)
    draws = torch.rand(len(d), DRAWS, generator=generator, dtype=d.dtype)
    share = gamma * radius / norm.clamp_min(1e-12)
    nu = draws * (share / (1 - share).clamp_min(1e-12) * heaviest)[:, None]
    tau = torch.where(outer[:, None], 1 / nu.clamp_min(1e-12), -draws / heaviest[:, None])
    result = d.clone()
    for row in torch.nonzero(outer | (norm < radius)).flatten().tolist():
        points = d[row] / (1 + tau[row][:, None] * s[row])
        length = (s[row] * points.square()).sum(dim=1).sqrt()
        reached = length <= gamma * radius if outer[row] else length >= radius
        moved = torch.where(reached, (points - d[row]).square().sum(dim=1), torch.inf)
        if bool(reached.any()):
            result[row] = points[int(moved.argmin())]
    return result.reshape(displacement.shape)
