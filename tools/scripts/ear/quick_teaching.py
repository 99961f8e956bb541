"""The lessons of the quick recogniser: it has to hear in noise and rooms what the recogniser hears in clean windows."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scripts.ear.ear_windows import BEFORE, AlignedSpeech, Surroundings, draw_speech
from scripts.ear.quick_network import FFT, QuickNetwork, bands_of_power
from wakeword.audio.features import FeatureConfig, hann_window
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword.verify.phoneme_verifier import BLANK, PhonemeNetwork

LATE = 8
"""Outputs by which it says a phoneme after the recogniser does, which hears what follows: 160 ms."""
_CONFIG = FeatureConfig()
_FRAMES = (BEFORE + 2 * SAMPLE_RATE) // _CONFIG.hop_length
_ALONE = 0.14
"""Share of windows without speech."""
_WAYS = 3
"""Surroundings into which a window of speech is put."""
_PEAK_DB, _HISS_DB = (-32, -1), (-95, -55)
_RARE = 3e-6
"""A token that the recogniser says less often is none of the quick one's."""
_BLANK_COUNTS, _PHONEME_COUNTS = 0.4, 1.6
"""Weight of an output in which the recogniser is silent, and what a phoneme adds."""
_MASKED = 0.4
_KEPT, _EVERY = 0.98, 10
"""Share of the mean of the weights that is kept, and steps between two looks at them."""


@dataclass(frozen=True)
class QuickLessons:
    """Windows as the quick recogniser gets them, and what it has to say in them."""

    log_mel: NDArray[np.float16]
    """``(windows, frames, 32)``, a second of lead-in and two seconds."""
    numbers: NDArray[np.int64]
    """Which of ``said`` each window is: ``(windows,)``."""
    said: NDArray[np.float16]
    """What the recogniser hears in the clean two seconds: probabilities ``(clean windows, outputs, tokens)``."""
    tokens: tuple[str, ...]


def make_lessons(
    speech: AlignedSpeech,
    around: Surroundings,
    teacher: PhonemeNetwork,
    count: int,
    seed: int,
    progress: Callable[[int], None] = lambda _: None,
) -> QuickLessons:
    """``count`` clean windows, each in several surroundings; a window without speech has nothing to say."""
    random = np.random.default_rng(seed)
    log_mel, numbers = [], []
    said = np.zeros((count, 2 * SAMPLE_RATE // (2 * _CONFIG.hop_length), len(teacher.tokens)), np.float16)
    for number in range(count):
        if random.random() < _ALONE:
            said[number, :, teacher.tokens.index(BLANK)] = 1
            sounds = [around.alone(random)]
        else:
            clean = draw_speech(speech, random)
            said[number] = np.exp(teacher.log_probabilities(clean[BEFORE:])[: said.shape[1]])
            sounds = [around.around(clean, random) for _ in range(_WAYS)]
        log_mel += [_log_mel_of(at_some_level(sound, random)) for sound in sounds]
        numbers += [number] * len(sounds)
        progress(number)
    often = np.flatnonzero(said.mean(axis=(0, 1), dtype=np.float64) > _RARE)
    some = said[:, :, often].astype(np.float32)
    some /= some.sum(axis=2, keepdims=True)
    tokens = tuple(teacher.tokens[token] for token in often)
    return QuickLessons(np.stack(log_mel), np.array(numbers), some.astype(np.float16), tokens)


def at_some_level(sound: Array, random: np.random.Generator) -> Array:
    """A window after its lead-in, ``(BEFORE + n,)``, as loud as it may be, with a microphone's hiss."""
    peak = np.abs(sound[BEFORE:]).max() + 1e-6
    loud = (sound * 10 ** (random.uniform(*_PEAK_DB) / 20) / peak).clip(-1, 1)
    hiss = 10 ** (random.uniform(*_HISS_DB) / 20) * random.standard_normal(len(sound))
    return np.asarray(loud + hiss, np.float32)


def _log_mel_of(samples: Array) -> NDArray[np.float16]:
    """``(BEFORE + 32000,)`` -> ``(frames, 32)``, framed as the speech embedding is."""
    padded = np.pad(samples, (56, _CONFIG.n_fft))
    frames = np.lib.stride_tricks.sliding_window_view(padded, _CONFIG.n_fft)[:: _CONFIG.hop_length][:_FRAMES]
    spectra = np.fft.rfft(frames * (np.float32(32_767) * hann_window(_CONFIG)), FFT)
    found: NDArray[np.float16] = np.log(np.abs(spectra) ** 2 @ bands_of_power() + _CONFIG.log_offset).astype(np.float16)
    return found


def teach_quick(
    lessons: QuickLessons,
    *,
    width: int,
    steps: int,
    batch: int = 48,
    rate: float = 2e-3,
    seed: int = 0,
    progress: Callable[[int, float], None] = lambda *_: None,
) -> QuickNetwork:
    """A network that was taught, with the mean of its last weights. The same lessons and seed give the same network."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    some = lessons.log_mel[::50].astype(np.float32)
    network = QuickNetwork(len(lessons.tokens), width=width, mean=float(some.mean()), deviation=float(some.std()))
    optimiser = torch.optim.AdamW(network.parameters(), rate, weight_decay=1e-3)
    mean = {name: one.clone() for name, one in network.state_dict().items()}
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1, (step + 1) / 100) * (0.01 + 0.495 * (1 + math.cos(math.pi * step / steps)))
        rows = random.choice(len(lessons.numbers), min(batch, len(lessons.numbers)), replace=False)
        loss = _loss(network, lessons, rows, random)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimiser.step()
        if (step + 1) % _EVERY == 0:
            kept = min(_KEPT, step / (step + 100))
            for name, one in network.state_dict().items():
                mean[name] = mean[name] * kept + one * (1 - kept) if one.is_floating_point() else one.clone()
        progress(step + 1, float(loss.detach()))
    network.load_state_dict(mean)
    return network.eval()


def _loss(network: QuickNetwork, lessons: QuickLessons, rows: NDArray[np.int64], random: np.random.Generator) -> Tensor:
    heard = lessons.log_mel[rows].astype(np.float32) + random.uniform(-1, 1, (len(rows), 1, 1)).astype(np.float32)
    for one in heard:
        for axis, longest in ((1, 6), (0, 12)):
            if random.random() < _MASKED:
                first = int(random.integers(one.shape[axis] - longest))
                masked = slice(first, first + int(random.integers(1, longest)))
                one[(slice(None), masked) if axis else masked] = network.mean
    logits = network(torch.from_numpy(heard))[:, BEFORE // (2 * _CONFIG.hop_length) + LATE :]
    told = torch.from_numpy(lessons.said[lessons.numbers[rows]].astype(np.float32))[:, : logits.shape[1]]
    counts = _BLANK_COUNTS + _PHONEME_COUNTS * (1 - told[:, :, lessons.tokens.index(BLANK)])
    loss: Tensor = -(counts * (told * torch.log_softmax(logits, dim=2)).sum(dim=2)).mean()
    return loss
