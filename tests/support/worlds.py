"""Recordings for the commands that measure, sorted by the scores of a model with random weights."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import soundfile

from support.builders import colours
from wakeword import Model
from wakeword_tools.measure.scores import clip_score


class World(NamedTuple):
    """Folders of recordings."""

    positives: Path
    negatives: Path
    near_negatives: Path
    background: Path
    noise: Path


def write_world(root: Path, model: Model, *, clips: int = 132, seed: int = 0) -> World:
    """Positives are the quarter of the clips that scores highest, except for a few that are swapped with negatives.

    Background is 0.06 h in two files of different rate, format and channels, with less spread than the clips, and 0.1 h
    of silence, so that there is enough of it for a rate an hour.
    """
    random = np.random.default_rng(seed)
    drawn = [colours(1.2, random) for _ in range(clips)]
    drawn.sort(key=lambda clip: clip_score(model, clip), reverse=True)
    quarter = clips // 4
    # Every tenth clip is swapped.
    for place in range(0, quarter, 10):
        drawn[place], drawn[quarter + 3 * place] = drawn[quarter + 3 * place], drawn[place]
    world = World(*(root / name for name in World._fields))
    for folder in world:
        folder.mkdir(parents=True)
    groups = {
        world.positives: drawn[:quarter],
        world.negatives: drawn[quarter::2],
        world.near_negatives: drawn[quarter + 1 :: 2],
    }
    for folder, some in groups.items():
        for number, clip in enumerate(some):
            soundfile.write(folder / f"{number:03}.flac", clip, 16_000)
    long = [colours(120, random, spread=2.5) for _ in range(2)]
    soundfile.write(world.background / "a.flac", long[0], 16_000)
    soundfile.write(world.background / "b.wav", np.stack([long[1], 0.5 * long[1]], axis=1), 22_050)
    soundfile.write(world.background / "silence.flac", np.zeros(360 * 16_000), 16_000)
    soundfile.write(world.noise / "hiss.wav", 0.1 * random.standard_normal(32_000), 16_000)
    return world
