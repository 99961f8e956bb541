"""Points whose shape is known: a ball, a sphere around it, a sine wave, and one hidden among noise coordinates.

Source: Goyal et al., section 5.1 and appendix B. The number of periods, which they do not give, is set here. All functions
take the generator that they draw from and return ``(n, d)`` float32.
"""

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float32]

SINE_SPAN = 2 * np.pi
"""The sine wave's abscissa goes from minus this to plus this: two periods."""


def sphere_surface(n: int, radius: float, random: np.random.Generator, *, dimension: int = 3) -> Points:
    """Uniform on the surface of a sphere around the origin: ``(n, dimension)``."""
    directions = random.standard_normal((n, dimension))
    return np.asarray(radius * directions / np.linalg.norm(directions, axis=1, keepdims=True), np.float32)


def ball(n: int, radius: float, random: np.random.Generator, *, dimension: int = 3) -> Points:
    """Uniform in the volume of a sphere around the origin: ``(n, dimension)``."""
    surface = sphere_surface(n, radius, random, dimension=dimension)
    # The share of the volume within r grows as r ** dimension.
    radii = random.random((n, 1)) ** (1 / dimension)
    return np.asarray(radii * surface, np.float32)


def sine_wave(n: int, displacement: float, random: np.random.Generator) -> Points:
    """Points ``(x, sin x + displacement)`` with uniform ``x``: ``(n, 2)``."""
    x = random.uniform(-SINE_SPAN, SINE_SPAN, n)
    return np.asarray(np.stack([x, np.sin(x) + displacement], axis=1), np.float32)


def displaced_sine(n: int, displacement: float, random: np.random.Generator) -> Points:
    """Half of the points on the wave displaced upwards, half downwards: ``(n, 2)``."""
    up = n // 2
    sides = (sine_wave(up, displacement, random), sine_wave(n - up, -displacement, random))
    return np.concatenate(sides)


def with_noise_coordinates(points: Points, n_noise: int, random: np.random.Generator) -> Points:
    """The same points ``(n, d)`` followed by ``n_noise`` coordinates of N(0, 1): ``(n, d + n_noise)``."""
    noise = random.standard_normal((len(points), n_noise))
    return np.concatenate([points, noise.astype(np.float32)], axis=1)


def around_the_sine(n: int, clearance: float, reach: float, random: np.random.Generator) -> Points:
    """Uniform in a box around the sine, ``|y| <= reach``, not vertically nearer than ``clearance``: ``(n, 2)``."""
    kept = np.zeros((0, 2), np.float32)
    while len(kept) < n:
        drawn = random.uniform([-SINE_SPAN, -reach], [SINE_SPAN, reach], (4 * n, 2)).astype(np.float32)
        kept = np.concatenate([kept, drawn[np.abs(drawn[:, 1] - np.sin(drawn[:, 0])) >= clearance]])
    return kept[:n]
