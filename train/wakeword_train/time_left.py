"""How long a training run takes: a guess beforehand, and what is left of it while it runs."""

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from statistics import fmean

import torch

from wakeword.batch.jobs.work import cores
from wakeword_tools.engines.registry import resolved_engines
from wakeword_tools.kinds import Kind
from wakeword_train.config import TrainConfig
from wakeword_train.enrol import EnrolConfig
from wakeword_train.spoken_texts import SHARES
from wakeword_train.training_run import Phase

# Seconds on one calm core of a server of 2025.
_CLIP, _NATURAL_CLIP = 0.03, 1.0
_READING, _READING_CLIP = 5.0, 0.0015
_STEP, _HEAD_STEP = 0.13, 0.04
_LOOK, _HELD_OUT_CLIP = 0.016, 0.03
_PROCESSES = 5.0
"""To start processes."""
_HELD_OUT_SPEECH = 20.0
_HELD_OUT = 0.2 / 1.2
"""Share of the synthetic clips that only measure."""
_PROBE = 0.05
"""Seconds of ``_steps`` on that machine."""
_PROBING = 0.5
_WINDOW, _TUNING_STEP, _HEARD = 0.003, 0.03, 0.0013
"""To fine-tune: a window, a step, and a model that hears a second of audio."""
_ENOUGH = 0.05
"""Share of a phase from which on its own pace says more than the guess."""


@dataclass
class TimeLeft:
    """The time left, from a guess for each phase that is corrected by what has passed."""

    expected: Mapping[Phase, float]
    """Seconds of each phase."""
    _passed: dict[Phase, float] = field(default_factory=dict)
    _begun: set[Phase] = field(default_factory=set)
    _share: float = 0.0

    def share(self, phase: Phase, done: float) -> float:
        """The share of the whole work that is done, 0..1, which never falls. A phase that is left out is no work."""
        self._begun.add(phase)
        phases = list(Phase)
        here = phases.index(phase)
        before = sum(self.expected.get(one, 0.0) for one in phases[:here] if one in self._begun)
        own = self.expected.get(phase, 0.0)
        whole = before + own + sum(self.expected.get(one, 0.0) for one in phases[here + 1 :])
        self._share = max(self._share, (before + own * done) / whole if whole else done)
        return self._share

    def seconds(self, phase: Phase, done: float, elapsed: float) -> float:
        """Seconds left in the whole run, ``elapsed`` seconds after ``phase`` began and the share ``done`` of it is done."""
        guess = self.expected.get(phase, 0.0)
        own = elapsed * (1 - done) / done if done >= _ENOUGH else max(guess - elapsed, guess * (1 - done) / 4)
        phases = list(Phase)
        later = sum(self.expected.get(one, 0.0) for one in phases[phases.index(phase) + 1 :])
        return own + later * self._pace()

    def ended(self, phase: Phase, seconds: float) -> None:
        """A phase took so many seconds."""
        self._passed[phase] = seconds

    def _pace(self) -> float:
        """How much slower the run is than was guessed, from the phases that have ended."""
        guessed = sum(self.expected.get(one, 0.0) for one in self._passed)
        if guessed < 5:
            return 1.0
        return min(10.0, max(0.1, sum(self._passed.values()) / guessed))


def expected_seconds(
    config: TrainConfig, *, busy: float | None = None, workers: int | None = None
) -> dict[Phase, float]:
    """A guess of the seconds of each phase, from a quick measurement of this machine as busy as it is now.

    ``busy``: how many times as long as on a calm machine work takes; measured if it is not given. ``workers``: processes
    that work at the same time; by default one for each core.
    """
    workers = cores() if workers is None else min(workers, cores())
    factor = slowness(workers) if busy is None else busy
    plan, second, schedule = config.synthesis, config.second_stage, config.schedule
    kinds = (Kind.POSITIVE, Kind.NEAR_NEGATIVE, Kind.NEGATIVE)
    clips, natural = (
        (sum(getattr(some, kind.plural) for kind in kinds) + plan.accents * some.positives) * sum(SHARES.values())
        for some in (plan, plan.natural)
    )
    if not resolved_engines(plan.natural.engines, natural=True):
        natural = 0.0
    steps = config.first_stages * schedule.epochs * schedule.steps_per_epoch
    seconds = {
        Phase.SPEECH: clips * _CLIP / workers,
        Phase.NATURAL: natural * _NATURAL_CLIP / workers,
        Phase.READING: _READING + _READING_CLIP * (clips + natural),
        Phase.FIRST: steps * _STEP * schedule.batch_size / 192,
    }
    if second.enabled:
        listening = (clips + natural + 3 * second.looks) * _LOOK
        noisy = 1.5 if config.augmentation.household else 1.0
        measuring = (clips + natural) * _HELD_OUT * _HELD_OUT_CLIP * noisy
        heads, starting = second.folds + 1, _PROCESSES if workers > 1 else 0.0
        head = second.epochs * second.steps_per_epoch * _HEAD_STEP
        if workers > 1:
            # Other processes listen while the first stage is trained.
            both = max(seconds[Phase.FIRST], (seconds[Phase.FIRST] + listening) / workers)
            seconds[Phase.FIRST], listening = both, 0.0
        seconds[Phase.LISTENING] = listening + 1
        seconds[Phase.SECOND] = -(-heads // min(workers, heads)) * head + starting
        seconds[Phase.MEASURING] = measuring / workers + starting + _HELD_OUT_SPEECH
    return {phase: value * factor for phase, value in seconds.items()}


def expected_enrolment(
    clips: float, background: float, settings: EnrolConfig, *, busy: float | None = None, workers: int | None = None
) -> dict[Phase, float]:
    """As ``expected_seconds``, for fine-tuning with so many synthesised clips and seconds of background."""
    workers = cores() if workers is None else min(workers, cores())
    factor = slowness() if busy is None else busy
    models = settings.folds + 1
    steps = sum(settings.epochs) * (settings.takes + settings.others) / settings.batch_size
    heard = background + _HELD_OUT * clips
    seconds = {
        Phase.SPEECH: clips * _CLIP / workers,
        Phase.READING: _READING + _READING_CLIP * clips + _HEARD * background + _WINDOW * settings.others,
        Phase.FIRST: models * (_WINDOW * settings.takes + _TUNING_STEP * steps),
        # The model before is measured too.
        Phase.MEASURING: (models + 1) * _HEARD * heard,
    }
    return {phase: value * factor for phase, value in seconds.items()}


def slowness(workers: int = 1) -> float:
    """How many times as long as on the calm machine of reference a training step takes while ``workers`` take steps.

    Measured for half a second, at once for all: on a busy machine, and where cores share more than their caches,
    several get less together than each would alone.
    """
    networks = [_small_network() for _ in range(workers)]
    _steps(networks[0])  # the first ones take longer
    with ThreadPoolExecutor(workers) as threads:  # torch lets them run side by side
        return max(0.2, fmean(threads.map(_seconds_of_steps, networks)) / _PROBE)


def _seconds_of_steps(network: torch.nn.LSTM) -> float:
    """The mean, and not the best, as a run has to take turns with other programs too."""
    started, taken = time.perf_counter(), 0
    while (passed := time.perf_counter() - started) < _PROBING:
        _steps(network)
        taken += 1
    return passed / taken


def _small_network() -> torch.nn.LSTM:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return torch.nn.LSTM(80, 96)


def _steps(network: torch.nn.LSTM) -> None:
    """A few steps."""
    inputs = torch.randn(12, 192, 80, generator=torch.Generator().manual_seed(0))
    for _ in range(3):
        network(inputs)[0].sum().backward()


def in_words(seconds: float) -> str:
    """A time that no one should take by the second: ``40 s``, ``8 min``."""
    if seconds < 90:
        return f"{max(5, 5 * round(seconds / 5)):.0f} s"
    return f"{seconds / 60:.0f} min"
