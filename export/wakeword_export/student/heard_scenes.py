"""Scenes and speech as the network of phonemes hears them, for a head on what it hears."""

import numpy as np
import torch
from numpy.typing import NDArray

from wakeword_export.micro.int8_phonemes import MicroPhonemes
from wakeword_export.micro.mixed_net import MIN_INT8, OF_FEATURES, STRIDE
from wakeword_export.student.drawn_windows import RESTYLED, MicroSpeech, StudentScenes
from wakeword_export.student.scenes import SCENE_FRAMES, Scenes
from wakeword_export.student.separable_network import scaled
from wakeword_export.student.variation import restyled, varied

_HEARINGS = 2
"""How often everything is heard, with other voices and sounds each time."""
_WARM_UP = 50
"""Steps at the beginning of each piece that are not kept: the network has heard too little before."""
_BATCH = 64
_STEPS = SCENE_FRAMES // STRIDE - _WARM_UP


def heard_scenes(scenes: StudentScenes, network: MicroPhonemes, generator: torch.Generator) -> StudentScenes:
    """What the network gives at each step, as uint8 from 0 on, for scenes and for speech, which is cut into pieces of a
    scene's length, elsewhere each time. Ends are in steps."""
    kinds = (scenes.words, scenes.near, scenes.talk, scenes.noise)
    given = [*(kind.frames for kind in kinds), *(_cut(scenes.speech, generator) for _ in range(_HEARINGS))]
    ends = np.cumsum([len(frames) for frames in given])
    pieces = [
        np.tile(np.arange(end - len(frames), end), _HEARINGS) for frames, end in zip(given, ends[:4], strict=False)
    ]
    heard = _heard(np.concatenate(given), np.concatenate([*pieces, np.arange(ends[3], ends[-1])]), network, generator)
    *found, speech = np.split(heard, _HEARINGS * ends[:4])
    words, near, talk, noise = (
        Scenes(steps, np.tile(kind.ends // STRIDE - _WARM_UP, _HEARINGS))
        for kind, steps in zip(kinds, found, strict=True)
    )
    starts, lengths = _STEPS * torch.arange(len(speech)), torch.full((len(speech),), _STEPS)
    own = MicroSpeech(torch.from_numpy(speech).flatten(0, 1), starts, lengths)
    return StudentScenes(words, near, talk, noise, own)


def _heard(
    frames: NDArray[np.uint8], pieces: NDArray[np.int64], network: MicroPhonemes, generator: torch.Generator
) -> NDArray[np.uint8]:
    """Features ``(some, SCENE_FRAMES, 40)``, and which of them are heard -> ``(pieces, steps, width)``; each gets the sound
    of pieces of all kinds."""
    heard = np.empty((len(pieces), _STEPS, len(network.first.bias)), np.uint8)
    for rows in torch.split(torch.randperm(len(pieces), generator=generator), _BATCH):
        windows = varied(scaled(torch.from_numpy(frames[pieces[rows.numpy()]])), generator)
        windows = restyled(windows, RESTYLED, generator)
        for row, window in zip(rows.tolist(), (windows / OF_FEATURES.scale).round().byte().numpy(), strict=True):
            heard[row] = network.steps(window)[_WARM_UP:].astype(np.int16) - MIN_INT8
    return heard


def _cut(speech: MicroSpeech, generator: torch.Generator) -> NDArray[np.uint8]:
    """Pieces of speech, one after the other."""
    pieces = []
    for start, length in zip(speech.starts.tolist(), speech.lengths.tolist(), strict=True):
        if length >= SCENE_FRAMES:
            later = int(torch.randint(min(SCENE_FRAMES, length - SCENE_FRAMES + 1), (), generator=generator))
            part = speech.frames[start + later : start + length]
            pieces.append(part[: len(part) // SCENE_FRAMES * SCENE_FRAMES].reshape(-1, SCENE_FRAMES, part.shape[1]))
    return torch.cat(pieces).numpy() if pieces else np.zeros((0, SCENE_FRAMES, speech.frames.shape[1]), np.uint8)
