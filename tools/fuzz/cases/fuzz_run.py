"""Runs cases in processes of their own, so that none can end or delay the fuzzer, and keeps what breaks a law."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fuzz.cases.fuzz_worker import Worker
from fuzz.cases.laws import Case, FuzzTarget
from wakeword.base.errors import ConfigError

MAX_FINDINGS = 50
"""The fuzzer ends after so many."""
_LINE_SECONDS = 60.0


@dataclass(frozen=True)
class BrokenLaw:
    """A broken law, and how to repeat it."""

    target: str
    seed: int
    law: str
    """What was broken."""
    folder: str | None = None
    """The files of the case, with ``finding.txt``."""

    @property
    def command(self) -> str:
        """Repeats the case."""
        return f"python -m fuzz fuzz --target {self.target} --seed {self.seed} --cases 1"


@dataclass
class Tally:
    """What was done to one target."""

    cases: int = 0
    cpu_seconds: float = 0.0
    outcomes: dict[str, int] = field(default_factory=dict)


@dataclass
class Fuzzed:
    """The results of a run."""

    seed: int
    targets: dict[str, Tally]
    findings: list[BrokenLaw] = field(default_factory=list)

    @property
    def cpu_seconds(self) -> float:
        """CPU time of all cases."""
        return sum(tally.cpu_seconds for tally in self.targets.values())

    @property
    def faults(self) -> list[str]:
        """The findings, a line each."""
        return [f"{one.target}, seed {one.seed}: {one.law} [{one.command}]" for one in self.findings]

    @property
    def summary(self) -> str:
        """Number of cases and their outcomes by target, in one line."""
        parts = []
        for name, tally in self.targets.items():
            outcomes = ", ".join(f"{count} {what}" for what, count in sorted(tally.outcomes.items()))
            parts.append(f"{name} {tally.cases} ({outcomes})")
        return f"seed {self.seed}, {self.cpu_seconds:.0f} s of CPU time: {'; '.join(parts)}"

    def figures(self) -> dict[str, Any]:
        """The results as JSON holds them."""
        return {**asdict(self), "cpu_seconds": self.cpu_seconds}


def fuzz(
    targets: Mapping[str, FuzzTarget],
    cpu_seconds: float,
    *,
    seed: int,
    cases: int | None = None,
    keep: Path | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> Fuzzed:
    """Attack the targets in turn for ``cpu_seconds`` of CPU time, or with ``cases`` cases each.

    Case n of a target is determined by ``seed + n``. The files of findings are moved to ``keep``. Raises ``ConfigError``
    where processes cannot fork, or if there is nothing to do.
    """
    if not hasattr(os, "fork"):
        raise ConfigError(
            "expected a system whose processes can fork, got one that cannot; run the fuzzer on Linux or macOS"
        )
    if not (cases is None and cpu_seconds > 0) and not (cases is not None and cases > 0):
        raise ConfigError(f"expected more than 0 {'seconds' if cases is None else 'cases'} of fuzzing")
    done = Fuzzed(seed, {name: Tally() for name in targets})
    made: dict[str, Case] = {}
    reported = time.monotonic()
    while len(done.findings) < MAX_FINDINGS:
        waiting = [
            name
            for name, tally in done.targets.items()
            if (done.cpu_seconds < cpu_seconds if cases is None else tally.cases < cases)
        ]
        if not waiting:
            break
        # The one that is furthest behind its share of the time.
        name = min(waiting, key=lambda one: done.targets[one].cpu_seconds / targets[one].share)
        target, tally = targets[name], done.targets[name]
        if name not in made:
            made[name] = target.prepare()
        first = seed + tally.cases
        count = target.batch if cases is None else min(target.batch, cases - tally.cases)
        with tempfile.TemporaryDirectory(prefix="wakeword-fuzz-", ignore_cleanup_errors=True) as folder:
            law = _run_batch(target, made[name], range(first, first + count), tally, Path(folder))
            if law is not None:
                last = seed + tally.cases - 1
                finding = BrokenLaw(name, last, law)
                done.findings.append(BrokenLaw(name, last, law, _kept(finding, Path(folder) / str(last), keep)))
                report(f"finding: {done.faults[-1]}")
        if time.monotonic() - reported > _LINE_SECONDS:
            reported = time.monotonic()
            report(done.summary)
    return done


def _run_batch(target: FuzzTarget, case: Case, seeds: range, tally: Tally, folder: Path) -> str | None:
    """Run cases in one process until one breaks a law: that law."""
    worker = Worker(target, case, folder, seeds)
    law = None
    for _ in seeds:
        outcome, law = worker.next()
        tally.cases += 1
        kind = outcome if law is None else "findings"
        tally.outcomes[kind] = tally.outcomes.get(kind, 0) + 1
        if law is not None:
            break
    tally.cpu_seconds += worker.end()
    return law


def _kept(finding: BrokenLaw, files: Path, keep: Path | None) -> str | None:
    """Move the files of a finding to the folder ``keep``, with a text that says what was found."""
    if keep is None:
        return None
    target = keep / f"{finding.target}-{finding.seed}"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    if files.is_dir():
        for path in files.iterdir():
            shutil.move(path, target / path.name)
    (target / "finding.txt").write_text(f"{finding.law}\n\n{finding.command}\n", encoding="utf-8", errors="replace")
    return str(target)
