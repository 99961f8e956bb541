"""A cluster on paper: batches of measured cost on cores that are slow, and on machines that are lost.

After ``jobs.cluster``: a core that is done gets the next batch at once, and when a machine is lost, what it was
doing begins anew on another.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wakeword.base.checks import number


@dataclass(frozen=True)
class PaperCluster:
    """The machines."""

    cores: int = 64
    cores_of_a_machine: int = 16
    losses_an_hour: float = 0.05
    """Of each machine: one in 20 hours, more than providers of machines that can be taken away at any time report."""
    minutes_to_replace: float = 5.0
    slow_share: float = 0.1
    """Share of the machines that are slow."""
    slowness: float = 3.0
    """By which factor."""
    seconds_to_start: float = 10.0
    """Of a worker: imports and models."""


@dataclass(frozen=True)
class Simulated:
    """One run of the simulation."""

    hours: float
    """Until the last batch is done."""
    ideal_hours: float
    """The work divided by the cores, nothing lost and none slow."""
    tail_minutes: float
    """From the moment when the first core has nothing left to do."""
    lost_machines: int
    lost_core_hours: float
    """Of work that was begun and had to be done again."""
    most_retries: int
    """Of one batch."""


def simulate(
    costs: Sequence[float], *, audio_hours: float, batch_seconds: float, cluster: PaperCluster, seed: int
) -> Simulated:
    """Scan ``audio_hours`` in batches of ``batch_seconds`` whose cost for a second is drawn from ``costs``.

    Raises ``ConfigError`` for numbers out of range.
    """
    number(audio_hours, "hours of audio", 0, 1e8, above=True)
    number(batch_seconds, "seconds of a batch", 0, 1e6, above=True)
    random = np.random.default_rng(seed)
    batches = max(1, round(audio_hours * 3600 / batch_seconds))
    work = random.choice(np.asarray(costs, float), batches) * batch_seconds
    machines = max(1, cluster.cores // cluster.cores_of_a_machine)
    slow = np.zeros(machines, bool)
    slow[: round(machines * cluster.slow_share)] = True
    run = _Simulation(work, cluster, slow, random)
    run.go()
    return Simulated(
        float(run.now) / 3600,
        float(work.sum()) / cluster.cores / 3600,
        float(run.now - run.first_idle) / 60,
        run.losses,
        float(run.lost) / 3600,
        int(run.retries.max()),
    )


class _Simulation:
    def __init__(self, work: Any, cluster: PaperCluster, slow: Any, random: np.random.Generator) -> None:
        self._work, self._cluster, self._slow, self._random = work, cluster, slow, random
        self.now = self.lost = 0.0
        self.first_idle = -1.0
        self.losses = 0
        self.retries = np.zeros(len(work), np.int32)
        self._waiting = list(range(len(work) - 1, -1, -1))
        self._events: list[tuple[float, int, str, int, int]] = []
        """Time, order, what, and whom it concerns: core and life of its machine."""
        self._doing: dict[int, tuple[int, float]] = {}
        """Core -> batch, and since when."""
        self._life = [0] * len(slow)
        self._left = len(work)
        self._number = 0

    def go(self) -> None:
        """Until all batches are done."""
        for machine in range(len(self._slow)):
            self._arrive(machine)
        while self._left:
            self.now, _, what, who, life = heapq.heappop(self._events)
            if what == "arrive":
                self._arrive(who)
            elif life != self._life[self._machine(who) if what != "lose" else who]:
                continue
            elif what == "lose":
                self._lose(who)
            else:
                if what == "done":
                    self._left -= 1
                    del self._doing[who]
                self._give(who)

    def _machine(self, core: int) -> int:
        return core // self._cluster.cores_of_a_machine

    def _plan(self, after: float, what: str, who: int, life: int) -> None:
        self._number += 1
        heapq.heappush(self._events, (self.now + after, self._number, what, who, life))

    def _arrive(self, machine: int) -> None:
        size, life = self._cluster.cores_of_a_machine, self._life[machine]
        for core in range(machine * size, min(self._cluster.cores, (machine + 1) * size)):
            self._plan(self._cluster.seconds_to_start, "ready", core, life)
        if self._cluster.losses_an_hour:
            self._plan(self._random.exponential(3600 / self._cluster.losses_an_hour), "lose", machine, life)

    def _give(self, core: int) -> None:
        if not self._waiting:
            if self.first_idle < 0:
                self.first_idle = self.now
            return
        batch = self._waiting.pop()
        slowness = self._cluster.slowness if self._slow[self._machine(core)] else 1.0
        self._doing[core] = batch, self.now
        self._plan(self._work[batch] * slowness, "done", core, self._life[self._machine(core)])

    def _lose(self, machine: int) -> None:
        self.losses += 1
        self._life[machine] += 1
        for core in [core for core in self._doing if self._machine(core) == machine]:
            batch, since = self._doing.pop(core)
            self.lost += self.now - since
            self.retries[batch] += 1
            self._waiting.append(batch)
        self._plan(60 * self._cluster.minutes_to_replace, "arrive", machine, 0)
        # Cores that had nothing to do take what came back.
        busy = set(self._doing)
        for core in range(self._cluster.cores):
            other = self._machine(core)
            if core not in busy and other != machine and self.first_idle >= 0:
                self._plan(0.0, "ready", core, self._life[other])
