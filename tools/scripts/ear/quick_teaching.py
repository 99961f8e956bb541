"""The lessons of the quick recogniser: it has to hear in noise and rooms what the recogniser hears in clean windows."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scripts.ear.distilling import LATE, WAYS, at_some_level, losses_of, teach
from scripts.ear.ear_windows import BEFORE, AlignedSpeech, Surroundings, draw_speech
from scripts.ear.quick_network import FFT, LOUDEST, QuickNetwork, bands_of_power
from wakeword.audio.features import FeatureConfig, hann_window
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword.verify.phoneme_verifier import BLANK, PhonemeNetwork

_CONFIG = FeatureConfig()
_FRAMES = (BEFORE + 2 * SAMPLE_RATE) // _CONFIG.hop_length
_ALONE = 0.14
"""Share of windows without speech."""
_RARE = 3e-6
"""A token that the recogniser says less often is none of the quick one's."""
_MASKED = 0.4


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
            sounds = [around.around(clean, random) for _ in range(WAYS)]
        log_mel += [_log_mel_of(at_some_level(sound, random)) for sound in sounds]
        numbers += [number] * len(sounds)
        progress(number)
    often = np.flatnonzero(said.mean(axis=(0, 1), dtype=np.float64) > _RARE)
    some = said[:, :, often].astype(np.float32)
    some /= some.sum(axis=2, keepdims=True)
    tokens = tuple(teacher.tokens[token] for token in often)
    return QuickLessons(np.stack(log_mel), np.array(numbers), some.astype(np.float16), tokens)


def _log_mel_of(samples: Array) -> NDArray[np.float16]:
    """``(BEFORE + 32000,)`` -> ``(frames, 32)``, framed as the speech embedding is."""
    padded = np.pad(samples, (56, _CONFIG.n_fft))
    frames = np.lib.stride_tricks.sliding_window_view(padded, _CONFIG.n_fft)[:: _CONFIG.hop_length][:_FRAMES]
    spectra = np.fft.rfft(frames * (np.float32(LOUDEST) * hann_window(_CONFIG)), FFT)
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

    def loss_of_batch() -> Tensor:
        rows = random.choice(len(lessons.numbers), min(batch, len(lessons.numbers)), replace=False)
        return _loss(network, lessons, rows, random)

    teach(network, loss_of_batch, steps=steps, rate=rate, decay=1e-3, progress=progress)
    return network


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
    return losses_of(logits, told, lessons.tokens.index(BLANK)).mean()
