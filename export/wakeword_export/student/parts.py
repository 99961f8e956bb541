"""Fits the parts of a student, each in a process of its own where there are two: two halves, and a head on phonemes."""

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from wakeword.batch.jobs.work import Report, WholeWork
from wakeword_export.micro.int8_phonemes import MicroPhonemes
from wakeword_export.micro.int8_word import ALONE, BESIDE
from wakeword_export.micro.mixed_net import Int8Net
from wakeword_export.student.drawn_windows import MicroSpeech, StudentBatch, StudentBatches, StudentScenes
from wakeword_export.student.heard_scenes import heard_scenes
from wakeword_export.student.separable_network import (
    FEATURES,
    LAST_STEPS,
    TRUNK,
    WIDTH,
    NetShape,
    StudentNetwork,
    heard_shape,
    quantised,
)
from wakeword_train.data.mining import one_thread
from wakeword_train.model.network import begin_with_encoder, encoder_path
from wakeword_train.synthesis_config import StudentConfig

_THINNED = 0.0, 0.4
"""The share of the channels that each half lacks in training: so they err differently. ``export-students.md`` has what
each finds alone, and what two halves find that differ in their seeds alone."""
_DROPOUT = 0.2
_WEIGHT_DECAY = 1e-3
_RISE = 0.1
"""Share of the steps of a round in which the learning rate rises."""
_TRUNK = "micro"
"""The encoder that training begins with: people taught it speech, and it is to keep that."""
_SHARES = (0.4, 0.4, 0.6, 0.8, 1.0)
"""The share of the learning rate that the first layer and each block get, where they begin with an encoder."""
_ROUNDS, _ROUND_STEPS, _ROUND_RATE, _ROUND_MINED = 2, 1 / 3, 0.5, 1 / 4
"""More rounds, and the shares of the steps, of the rate and of the mining that each has."""
_REVERSED = 0.3
"""The weight of what hides the origin of speech, at most; it rises in the first quarter of the first round."""
_ORIGIN_RATE = 2e-3
_SECONDS_OF_STEP, _SECONDS_OF_SCENE = 15.0, 1.5
"""Seconds of audio that cost as much as a step of 128 windows, and as a scene that is heard: work is planned in them."""
WINDOWS = 500
"""From which the ranges of 8-bit numbers are taken."""


@dataclass(frozen=True)
class PartItem:
    """One part: a piece of work."""

    thinned: float
    """The share of the channels that it lacks in training."""
    is_head: bool
    """Whether it listens to what the network of phonemes hears."""
    seconds: float
    size: float = 1.0

    @property
    def key(self) -> str:
        """Its name."""
        name = "head" if self.is_head else "half"
        return f"the {name} of a student that is taught with {1 - self.thinned:.0%} of its channels"


def parts_of(config: StudentConfig, *, has_head: bool) -> list[PartItem]:
    """What is to be fitted: the longest first."""
    seconds = (config.steps + _ROUNDS * _of_round(config).steps) * config.batch_size / 128 * _SECONDS_OF_STEP
    scenes = config.positives + config.near_negatives + config.negatives + config.noise
    head = PartItem(max(_THINNED), is_head=True, seconds=seconds + scenes * _SECONDS_OF_SCENE)
    return [*([head] if has_head else []), *(PartItem(thinned, is_head=False, seconds=seconds) for thinned in _THINNED)]


class PartWork(WholeWork[PartItem]):
    """Fits parts: ``wakeword.batch.jobs.work.Work``. Rows are the weights of a half by name, and the arrays of a head in
    whole numbers; the same in every process of one kind of machine."""

    def __init__(self, scenes: StudentScenes, config: StudentConfig, seed: int) -> None:
        # As arrays: torch would put tensors into shared memory, which is scarce in containers.
        self._speech = [one.numpy() for one in scenes.speech]
        self._scenes = scenes.words, scenes.near, scenes.talk, scenes.noise
        self._config, self._seed = config, seed

    def begin(self, report: Report) -> Callable[[PartItem], dict[str, NDArray[Any]]]:
        """Get ready."""
        scenes = StudentScenes(*self._scenes, MicroSpeech(*map(torch.from_numpy, self._speech)))

        def fit(item: PartItem) -> dict[str, NDArray[Any]]:
            with one_thread():
                if item.is_head:
                    return self._head(scenes, item.thinned, report)
                network = fit_student(scenes, self._config, thinned=item.thinned, seed=self._seed, report=report)
                return {name: value.numpy() for name, value in network.state_dict().items()}

        return fit

    def _head(self, scenes: StudentScenes, thinned: float, report: Report) -> dict[str, NDArray[Any]]:
        phonemes, generator = MicroPhonemes.read(), torch.Generator().manual_seed(self._seed)
        shape, heard = heard_shape(phonemes), heard_scenes(scenes, phonemes, generator)
        network = fit_student(heard, self._config, shape, thinned=thinned, seed=self._seed, report=report)
        windows = StudentBatches(heard, self._config, generator, shape).clean(WINDOWS)
        return quantised([network], windows.numpy(), BESIDE).arrays()


def student_of(
    rows: Iterable[tuple[PartItem, dict[str, NDArray[Any]]]], windows: Tensor
) -> tuple[Int8Net, Int8Net | None]:
    """The halves side by side, and the head, if there is one, of fitted parts; ``windows``: as ``quantised`` takes them."""
    halves, head = list[StudentNetwork](), None
    for item, arrays in rows:
        if item.is_head:
            head = Int8Net.from_arrays(arrays)
        else:
            halves.append(StudentNetwork().eval())
            halves[-1].load_state_dict({name: torch.tensor(value) for name, value in arrays.items()})
    return quantised(halves, windows.numpy(), ALONE if head is None else BESIDE), head


def fit_student(
    scenes: StudentScenes,
    config: StudentConfig,
    shape: NetShape = FEATURES,
    *,
    thinned: float,
    seed: int,
    report: Report = lambda size, seconds: None,
) -> StudentNetwork:
    """A network that knows the word: the mean of the weights and of the norms at the ends of the rounds (after Izmailov et
    al., 2018, "Averaging Weights Leads to Wider Optima"). The same for the same seed on one kind of machine."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network, origin = StudentNetwork(shape, dropout=_DROPOUT, thinned=thinned), SpeechOrigin()
        batches = StudentBatches(scenes, config, torch.Generator().manual_seed(seed), shape)
        if not shape.is_heard:
            begin_with_encoder(network, encoder_path(_TRUNK), parts=TRUNK)
        of_origin = torch.optim.AdamW(origin.parameters(), lr=_ORIGIN_RATE)
        ends = list[dict[str, Tensor]]()
        rounds = [config, *[_of_round(config)] * _ROUNDS]
        steps = sum(one.steps for one in rounds)
        for number, own in enumerate(rounds):
            for step, optimizer in enumerate(_steps(network, batches, own)):
                batch = batches.next()
                last = network.steps(batch.windows)[-1]
                logits = network.logits(last)
                loss = binary_cross_entropy_with_logits(logits, batch.targets[:, None].expand_as(logits))
                hidden = 1.0 if number else min(1.0, 4 * step / own.steps)
                loss = loss + origin.loss(last, batch, _REVERSED * hidden)
                optimizer.zero_grad()
                of_origin.zero_grad()
                torch.autograd.backward(loss)
                optimizer.step()
                of_origin.step()
                report(1 / steps, 0.0)
            ends.append({name: one.clone() for name, one in network.state_dict().items()})
    network.load_state_dict({name: torch.stack([end[name].float() for end in ends]).mean(dim=0) for name in ends[0]})
    return network.eval()


def _of_round(config: StudentConfig) -> StudentConfig:
    steps, mined = max(1, round(_ROUND_STEPS * config.steps)), round(_ROUND_MINED * config.mining_rounds)
    return dataclasses.replace(
        config, steps=steps, learning_rate=_ROUND_RATE * config.learning_rate, mining_rounds=mined
    )


def _steps(network: StudentNetwork, batches: StudentBatches, config: StudentConfig) -> Iterator[torch.optim.Optimizer]:
    """The optimiser of each step of a round; the rate rises, then falls as a cosine. Now and then mistakes are mined."""
    parts = network.by_depth()
    shares = [1.0] * len(parts) if network.shape.is_heard else [*_SHARES, 1.0]
    groups = [{"params": part, "lr": share * config.learning_rate} for part, share in zip(parts, shares, strict=True)]
    optimizer = torch.optim.AdamW(groups, weight_decay=_WEIGHT_DECAY)
    done = [step / config.steps for step in range(config.steps + 1)]
    rates = [min(1, one / _RISE + 0.01) * 0.5 * (1 + math.cos(math.pi * one)) for one in done]
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, rates.__getitem__)
    mined = {config.steps * number // (config.mining_rounds + 1) for number in range(1, config.mining_rounds + 1)}
    for step in range(config.steps):
        if step in mined:
            batches.mine(network)
        yield optimizer
        rate.step()


class SpeechOrigin(nn.Module):
    """Guesses from the last block whether speech without the word is of people or synthetic.

    The network gets the reverse of its gradient, so that it says nothing of it: all words of the training are synthetic,
    and what knows people by their sound would find no people who say the word.
    """

    def __init__(self) -> None:
        super().__init__()
        self.guess = nn.Sequential(nn.Conv1d(WIDTH, 32, LAST_STEPS), nn.ReLU(), nn.Conv1d(32, 1, 1))

    def loss(self, steps: Tensor, batch: StudentBatch, weight: float) -> Tensor:
        """Its error, both origins alike; the network learns from ``-weight`` times it."""
        errors = []
        for part, label in ((batch.synthetic, 1.0), (batch.people, 0.0)):
            heard = steps[part]
            heard.register_hook(lambda gradient: -weight * gradient)  # type: ignore[no-untyped-call]  # of torch
            guess = self.guess(heard)[:, 0].mean(dim=1)
            errors.append(binary_cross_entropy_with_logits(guess, torch.full_like(guess, label)))
        return (errors[0] + errors[1]) / 2
