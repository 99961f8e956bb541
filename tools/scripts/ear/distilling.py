"""How small networks of phonemes are taught to say in noise and rooms what a large one hears in clean windows."""

import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from scripts.ear.ear_windows import BEFORE, AlignedSpeech, Surroundings, draw_speech, draw_unlabelled
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword.verify.phoneme_verifier import BLANK, PhonemeNetwork

LATE = 8
"""Outputs by which a small network says a phoneme after the large one, which hears what follows: 160 ms."""
WAYS = 3
"""Surroundings into which a window of speech is put."""
OUTPUT = 2 * SAMPLE_RATE // 100
"""Samples from one output of the large network to the next."""
_SECONDS = 3
_ALONE, _UNLABELLED = 0.12, 0.3
"""Shares of windows without speech and without texts."""
_PEAK_DB, _HISS_DB = (-32, -1), (-95, -55)
_BLANK_COUNTS, _PHONEME_COUNTS = 0.4, 1.6
"""Weight of an output in which the large network is silent, and what a phoneme adds."""
_ROUNDS, _WORD_STEPS, _WORD_RATE = 3, 0.5, 0.7
"""Of words, after the phonemes: rounds, and the shares of the steps and of the rate that each has."""
_KEPT, _EVERY = 0.98, 10
"""Share of the mean of the weights that is kept, and steps between two looks at them."""
_REPORTED = 250
_log = logging.getLogger(__name__)


def at_some_level(sound: Array, random: np.random.Generator) -> Array:
    """A window after its lead-in, ``(BEFORE + n,)``, as loud as it may be, with a microphone's hiss."""
    peak = np.abs(sound[BEFORE:]).max() + 1e-6
    loud = (sound * 10 ** (random.uniform(*_PEAK_DB) / 20) / peak).clip(-1, 1)
    hiss = 10 ** (random.uniform(*_HISS_DB) / 20) * random.standard_normal(len(sound))
    return np.asarray(loud + hiss, np.float32)


@dataclass(frozen=True)
class DeviceLessons:
    """Windows of 3 s as a small network gets them, and what has to be said in them."""

    heard: NDArray[Any]
    """The features of each, ``(windows, n, width)``."""
    numbers: NDArray[np.int64]
    """Which of ``said`` each window is: ``(windows,)``."""
    said: NDArray[np.float16]
    """What the large network hears in clean windows: probabilities ``(clean windows, 150, tokens)``."""
    tokens: tuple[str, ...]


def make_lessons(
    speech: AlignedSpeech,
    unlabelled: NDArray[np.float16],
    around: Surroundings,
    teacher: PhonemeNetwork,
    tokens: Sequence[str],
    features: Callable[[Array, np.random.Generator], NDArray[Any]],
    count: int,
    seed: int,
    progress: Callable[[int], None] = lambda _: None,
) -> DeviceLessons:
    """``count`` clean windows, each in several surroundings; a window without speech has nothing to say."""
    random = np.random.default_rng(seed)
    columns = [teacher.tokens.index(token) for token in tokens]
    said = np.zeros((count, _SECONDS * SAMPLE_RATE // OUTPUT, len(tokens)), np.float16)
    heard, numbers = [], []
    for number in range(count):
        drawn = random.random()
        if drawn < _ALONE:
            said[number, :, tokens.index(BLANK)] = 1
            sounds = [around.alone(random)]
        else:
            spoken = drawn >= _ALONE + _UNLABELLED
            clean = draw_speech(speech, random) if spoken else draw_unlabelled(unlabelled, random)
            likely = np.exp(teacher.log_probabilities(clean)[: said.shape[1], columns])
            said[number] = likely / likely.sum(axis=1, keepdims=True)
            sounds = [around.around(clean, random) for _ in range(WAYS)]
        heard += [features(at_some_level(sound, random), random) for sound in sounds]
        numbers += [number] * len(sounds)
        progress(number)
    return DeviceLessons(np.stack(heard), np.array(numbers), said, tuple(tokens))


def losses_of(logits: Tensor, told: Tensor, blank: int) -> Tensor:
    """The weighed cross-entropy of each output, ``(batch, outputs, tokens)`` twice -> ``(batch, outputs)``."""
    counts = _BLANK_COUNTS + _PHONEME_COUNTS * (1 - told[:, :, blank])
    return -(counts * (told * torch.log_softmax(logits, dim=2)).sum(dim=2))


def teach(
    network: nn.Module,
    loss_of_batch: Callable[[], Tensor],
    *,
    steps: int,
    rate: float,
    decay: float,
    progress: Callable[[int, float], None],
) -> None:
    """Teach a network, which then has the mean of its last weights."""
    optimiser = torch.optim.AdamW(network.parameters(), rate, weight_decay=decay)
    mean = {name: one.clone() for name, one in network.state_dict().items()}
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1, (step + 1) / 100) * (0.01 + 0.495 * (1 + math.cos(math.pi * step / steps)))
        loss = loss_of_batch()
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
    network.eval()


def teach_in_rounds(
    network: nn.Module,
    loss_of_batch: Callable[..., Tensor],
    *,
    steps: int,
    rate: float,
    decay: float,
    progress: Callable[[int, float], None],
) -> None:
    """Teach a network phonemes, then words as well, in rounds. ``loss_of_batch`` is told which: ``words``.

    The rate rises anew in each round, and the network gets the mean of the weights and of the norms at the ends of the
    rounds, which mostly hears better than these (after Izmailov et al., 2018, "Averaging Weights Leads to Wider Optima").
    """
    more, ends = round(_WORD_STEPS * steps), list[dict[str, Tensor]]()
    for words, count, own_rate in ((False, steps, rate), *[(True, more, _WORD_RATE * rate)] * _ROUNDS):
        network.train()
        own = partial(loss_of_batch, words=words)
        teach(network, own, steps=count, rate=own_rate, decay=decay, progress=progress)
        if words:
            ends.append({name: one.clone() for name, one in network.state_dict().items()})
    network.load_state_dict({name: torch.stack([end[name].float() for end in ends]).mean(dim=0) for name in ends[0]})


def lines_of_progress() -> Callable[..., None]:
    """Logs now and then which window or step was done, with its loss if there is one."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    began = time.monotonic()

    def tell(step: int, loss: float | None = None) -> None:
        if step % _REPORTED == 0:
            loss_so_far = "" if loss is None else f": loss {loss:.3f}"
            _log.info("%d%s, %.0f s", step, loss_so_far, time.monotonic() - began)

    return tell
