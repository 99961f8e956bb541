"""Random use of detectors for a long time; every seed that breaks a law is reported."""

import dataclasses
import faulthandler
import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from wakeword import load_model
from wakeword_tools.bench.memory import resident_memory
from wakeword_tools.soak.fuzz import BrokenLawError, Fuzzer

CALLS = 40
"""Number of calls to one detector."""
_HANG_SECONDS = 600
_LINE_SECONDS = 300.0
_MOST_FAULTS = 20


@dataclass(frozen=True)
class FuzzSoak:
    """The results of random use."""

    cpu_seconds: float
    detectors: int
    calls: int
    growth_mb: float | None
    """Resident memory at the end minus that after the first 50 detectors."""
    faults: list[str]
    """Each with the seed that reproduces it."""


def fuzz(
    model: str, cpu_seconds: float, *, seed: int = 0, report: Callable[[str], None] = lambda line: None
) -> FuzzSoak:
    """Use one detector after another for ``cpu_seconds`` of CPU time.

    A call that hangs ends the process, with its traceback on stderr.
    """
    first = load_model(model)
    second = load_model(model)
    second.card = dataclasses.replace(second.card, phrase=f"{second.card.phrase} again")
    faults: list[str] = []
    detectors, calls, last_reported, settled = 0, 0, 0.0, None
    began = time.process_time()
    while (spent := time.process_time() - began) < cpu_seconds and len(faults) < _MOST_FAULTS:
        faulthandler.dump_traceback_later(_HANG_SECONDS, exit=True)
        random = Random(seed + detectors)
        fuzzer = Fuzzer([first, second][: random.choice((1, 2))], random)
        try:
            fuzzer.run(CALLS)
        except BrokenLawError as fault:
            faults.append(f"seed {seed + detectors}, call {len(fuzzer.calls)}: {fault}")
            report(faults[-1])
        detectors += 1
        calls += len(fuzzer.calls)
        if detectors == 50:
            settled = resident_memory()
        if spent - last_reported > _LINE_SECONDS:
            last_reported = spent
            report(f"{spent / 60:.0f} min of CPU time: {detectors} detectors, {calls} calls, {resident_memory()} MB")
    faulthandler.cancel_dump_traceback_later()
    memory = resident_memory()
    growth = memory - settled if memory is not None and settled is not None else None
    return FuzzSoak(time.process_time() - began, detectors, calls, growth, faults)
