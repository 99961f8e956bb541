"""Phonemes of microWakeWord's features: a network says in noise and rooms what the recogniser hears in clean windows."""

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as nnf
from numpy.typing import NDArray
from torch import Tensor, nn

from scripts.ear.distilling import OUTPUT, DeviceLessons, losses_of, teach_in_rounds
from scripts.ear.word_contrast import SHARE, WordContrast
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword.verify.phoneme_verifier import BLANK
from wakeword_export.micro.filterbank import FRAME, micro_features
from wakeword_export.micro.int8_phonemes import MicroPhonemes
from wakeword_export.micro.mixed_net import CHANNELS, OF_FEATURES, STRIDE, Range, quantised_layer
from wakeword_export.student.separable_network import norm_folded, scaled
from wakeword_export.student.variation import restyled
from wakeword_train.data.augment import factors, warped

LATE = 10
"""Steps by which it says a phoneme after it was heard: 0.3 s."""
FRAMES, TAPS = 5, 7
"""Frames that the first layer looks at, and steps of each block."""
_LEAD, _BACKWARDS = 2 * SAMPLE_RATE, 0.6
"""Samples before a window, by which the front end learns of the noise, and how often they are the window's own beginning,
backwards; else they are hiss."""
_HISS_DB = -95, -55
_KEPT = 300
_WARM_UP = 30
"""Steps that know too little of the past to be judged."""
_SLACK = 7
"""Steps that a word may end too early or too late."""
_UNEVEN, _MASKED, _WIDEST_BANDS, _LONGEST = 1.5, 0.4, 7, 18
"""How much louder or softer a window's features become, and how often a stretch of channels or frames is left out."""
_WARP, _RESTYLED = 0.12, 0.5
"""How much longer or shorter a vocal tract becomes, and the share of windows with the sound of another one."""
_DECAY, _DROPPED = 1e-3, 0.1


def as_features(sound: Array, random: np.random.Generator) -> NDArray[np.uint8]:
    """The last 300 frames of a window. The first begins 20 ms before it."""
    if random.random() < _BACKWARDS:
        lead = sound[:_LEAD][::-1]
    else:
        level = 10 ** (random.uniform(*_HISS_DB) / 20)
        lead = (level * random.standard_normal(_LEAD)).astype(np.float32)
    return micro_features([np.concatenate([lead, sound])])[-_KEPT:]


class MicroNetwork(nn.Module):
    """``(batch, frames, 40)`` features in 0..26 -> ``(batch, frames / 3, tokens)`` logits, from the past alone."""

    def __init__(self, tokens: int, *, width: int, blocks: int) -> None:
        super().__init__()
        self.first = nn.Conv1d(CHANNELS, width, FRAMES, stride=STRIDE, bias=False)
        self.first_norm = nn.BatchNorm1d(width)
        self.in_time = nn.ModuleList(nn.Conv1d(width, width, TAPS, groups=width) for _ in range(blocks))
        self.mixtures = nn.ModuleList(nn.Conv1d(width, width, 1, bias=False) for _ in range(blocks))
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(blocks))
        self.dropout = nn.Dropout(_DROPPED)
        self.head = nn.Conv1d(width, tokens, 1)

    def forward(self, frames: Tensor) -> Tensor:
        *_, steps = self.steps(frames)
        said: Tensor = self.head(steps).transpose(1, 2)
        return said

    def steps(self, frames: Tensor) -> list[Tensor]:
        """What every layer but the last gives, ``(batch, width, frames / 3)``: of a block three."""
        padded = nnf.pad(frames.transpose(1, 2), (FRAMES - STRIDE, 0))
        steps = torch.relu(self.first_norm(self.first(padded)))
        found = [steps]
        for in_time, mixture, norm in zip(self.in_time, self.mixtures, self.norms, strict=True):
            remembered = in_time(nnf.pad(steps, (TAPS - 1, 0)))
            mixed = self.dropout(torch.relu(norm(mixture(remembered))))
            steps = steps + mixed
            found += [remembered, mixed, steps]
        return found


@torch.no_grad()
def quantised(network: MicroNetwork, lessons: DeviceLessons) -> MicroPhonemes:
    """The network in whole numbers; some lessons show how large its values become."""
    frames = torch.from_numpy(lessons.heard[:: 1 + len(lessons.heard) // 1_000]).float() * OF_FEATURES.scale
    values = network.steps(frames)
    said = network.head(values[-1])
    said[:, lessons.tokens.index(BLANK)] = 0  # it alone has such large logits, and would leave sounds too few steps
    largest = float(said.max())
    first, *ranges = [Range.of(float(one.min()), float(one.max())) for one in values]
    given, blocks = first, []
    for number, (in_time, mixture, norm) in enumerate(
        zip(network.in_time, network.mixtures, network.norms, strict=True)
    ):
        remembered, mixed, total = ranges[3 * number : 3 * number + 3]
        own: dict[str, Tensor] = in_time.state_dict()
        past = quantised_layer(own["weight"][:, 0].T.contiguous().numpy(), own["bias"].numpy(), (given, remembered))
        blocks.append((past, quantised_layer(*norm_folded(mixture, norm), (remembered, mixed), relu=True), total))
        given = total
    begin = quantised_layer(*norm_folded(network.first, network.first_norm), (OF_FEATURES, first), relu=True)
    last: dict[str, Tensor] = network.head.state_dict()
    weight, bias = last["weight"][:, :, 0].numpy(), last["bias"].numpy()
    return MicroPhonemes(lessons.tokens, begin, tuple(blocks), weight, bias, largest)


def teach_micro(
    lessons: DeviceLessons,
    *,
    width: int,
    layers: int,
    steps: int,
    batch: int = 48,
    rate: float = 3e-3,
    seed: int = 0,
    progress: Callable[[int, float], None] = lambda *_: None,
) -> MicroNetwork:
    """A network that was taught in rounds. The same lessons and seed give the same network."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    network = MicroNetwork(len(lessons.tokens), width=width, blocks=layers)

    contrast, places = WordContrast(lessons, random), _places(_KEPT // STRIDE)[None, _WARM_UP:]

    def loss_of_batch(*, words: bool) -> Tensor:
        rows = random.choice(len(lessons.numbers), min(batch, len(lessons.numbers)), replace=False)
        said = network(_varied(lessons.heard[rows], random))[:, _WARM_UP:]
        told = torch.from_numpy(told_of(lessons, rows, _KEPT // STRIDE)[:, _WARM_UP:])
        loss = losses_of(said, told, lessons.tokens.index(BLANK)).mean()
        if not words:
            return loss
        return loss + SHARE * contrast.loss(said, rows, places.repeat(len(rows), 0), slack=_SLACK)

    teach_in_rounds(network, loss_of_batch, steps=steps, rate=rate, decay=_DECAY, progress=progress)
    return network


def _places(steps: int) -> NDArray[np.int64]:
    """The output of the large network that each step is about: ``(steps,)``, below 0 for those before the first."""
    return np.floor((np.arange(steps) - LATE + 0.5) * STRIDE * FRAME / OUTPUT).astype(int)


def told_of(lessons: DeviceLessons, rows: NDArray[np.int64], steps: int) -> Array:
    """What is to be said at each step, ``(rows, steps, tokens)``: all phonemes that the large network hears in its time."""
    said, blank = lessons.said[lessons.numbers[rows]].astype(np.float32), lessons.tokens.index(BLANK)
    said[:, :, blank] = 0
    told = np.zeros((len(rows), steps, said.shape[2]), np.float32)
    for place, step in enumerate(((np.arange(said.shape[1]) + 0.5) * OUTPUT // (STRIDE * FRAME)).astype(int) + LATE):
        if step < steps:
            told[:, step] += said[:, place]
    told /= np.maximum(told.sum(axis=2, keepdims=True), 1)
    told[:, :, blank] = 1 - told.sum(axis=2)
    return told


def _varied(frames: NDArray[np.uint8], random: np.random.Generator) -> Tensor:
    """Features as numbers, of other vocal tracts, some with the sound of another window, some louder, some without a
    stretch of channels or frames: else the few people who teach are learned by heart."""
    generator = torch.Generator().manual_seed(int(random.integers(2**31)))
    heard = warped(scaled(torch.from_numpy(frames)), factors(len(frames), _WARP, generator))
    heard = restyled(heard, _RESTYLED, generator)
    heard = heard + (2 * torch.rand((len(heard), 1, 1), generator=generator) - 1) * _UNEVEN
    for one in heard:
        for axis, longest in ((1, _WIDEST_BANDS), (0, _LONGEST)):
            if random.random() < _MASKED:
                first = int(random.integers(one.shape[axis] - longest))
                one.narrow(axis, first, int(random.integers(1, longest))).zero_()
    return heard.clamp(0, 255 * OF_FEATURES.scale)
