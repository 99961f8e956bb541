"""The executor of ``--ray``: the machines of a Ray cluster. Ray is an extra, imported here and only when it is used."""

import os
import socket
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any
from uuid import uuid4

from wakeword.base.errors import WorkerError, reason_of
from wakeword.base.plugins import require
from wakeword.base.version import __version__
from wakeword.batch.jobs.work import ONE_THREAD, Batch, Executor, ItemT, Report, RowT, Work, cores

_LOCAL = "local"
"""In place of an address: a cluster of this machine alone, which ends with the run."""
_AHEAD = 2
"""Batches for each core at a time: the one that it does, and the next."""
_RETRIES = 3
"""How often a batch is given to another machine before its items are tried each alone, and then each of these."""
_SECONDS = 0.5
_SECONDS_TO_CONNECT = 10.0


class Cluster(Executor):
    """All cores of the Ray cluster at ``address``, or of a new one of this machine for ``local``.

    The machines need this package in the same version; they get models with the work, and find recordings under the same
    names. A machine may join or die at any time: its batches are done by others. A connection that the program has made
    with ``ray.init`` already is used as it is. Raises ``ConfigError`` if Ray is not installed.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        require("ray", "ray")
        self._ray: Any = import_module("ray")

    @property
    def workers(self) -> int:
        """The cores of the cluster; until ``run`` has connected to it, the cores of this machine."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1))) if self._ray.is_initialized() else cores()

    def run(
        self, work: Work[ItemT, RowT], batches: Sequence[Batch[ItemT]], report: Report
    ) -> Generator[tuple[int, RowT], None, None]:
        """``Executor.run``. Raises ``WorkerError`` if there is no cluster at the address, none starts, or it ends."""
        ray = self._ray
        is_ours = not ray.is_initialized()
        if is_ours:
            self._connect()
        waiting = deque(batches)
        pending: dict[Any, Batch[ItemT]] = {}
        try:
            task = ray.remote(_do_batch).options(num_cpus=1, max_retries=_RETRIES, scheduling_strategy="SPREAD")
            with self._reached():
                # Not by a digest: of two works of the same one, a machine would go on with the first.
                shared, run = ray.put(work), uuid4().hex
            while waiting or pending:
                with self._reached():
                    while waiting and len(pending) < _AHEAD * self.workers:
                        batch = waiting.popleft()
                        pending[task.remote(shared, run, [item for _, item in batch], __version__)] = batch
                    done, _ = ray.wait(list(pending), num_returns=1, timeout=_SECONDS)
                for reference in done:
                    batch = pending.pop(reference)
                    try:
                        rows, size, seconds = ray.get(reference)
                    except ray.exceptions.RayTaskError as error:
                        if isinstance(error.cause, ray.exceptions.RayError):
                            raise _unfit(reason_of(error.cause)) from error
                        raise error.cause from None
                    except ray.exceptions.RayError:
                        if len(batch) > 1:
                            waiting.extendleft([pair] for pair in reversed(batch))
                        else:
                            ((number, item),) = batch
                            yield number, work.lost(item, f"{1 + _RETRIES} processes in a row died while they read it")
                        continue
                    report(size, seconds)
                    yield from ((number, row) for (number, _), row in zip(batch, rows, strict=True))
        finally:
            with suppress(OSError, ray.exceptions.RayError):  # of a cluster that has ended
                for reference in pending:
                    ray.cancel(reference, force=True)
            if is_ours:
                ray.shutdown()

    def _connect(self) -> None:
        # What Ray has to say of itself is for its own logs. No dashboard, which takes longest to start.
        settings: dict[str, Any] = {
            "logging_level": "ERROR",
            "log_to_driver": False,
            "runtime_env": {"env_vars": ONE_THREAD},
        }
        self._check_reachable()
        where = {"address": _LOCAL, "num_cpus": cores(), "include_dashboard": False}
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            self._ray.init(**settings, **(where if self._address == _LOCAL else {"address": self._address}))
        except Exception as error:  # Ray raises ConnectionError, ValueError, RuntimeError and its own
            raise self._absent(reason_of(error)) from error

    def _check_reachable(self) -> None:
        """Ray itself tries for many minutes where nothing listens."""
        host, _, port = self._address.rpartition(":")
        if not host or not port.isdecimal() or "/" in host:
            return  # "auto", "local", or an address of Ray's own client
        try:
            socket.create_connection((host.strip("[]"), int(port)), _SECONDS_TO_CONNECT).close()
        except (OSError, OverflowError) as error:
            raise self._absent(reason_of(error)) from error

    def _absent(self, reason: str) -> WorkerError:
        return WorkerError(
            f"expected a Ray cluster at {self._address}, got none ({reason}); start one with `ray start --head`, or "
            "take --jobs"
        )

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """What Ray raises when this machine's part of the cluster has ended, in one line."""
        try:
            yield
        except (OSError, self._ray.exceptions.RayError) as error:
            raise WorkerError(
                f"expected the Ray cluster at {self._address} to live as long as the run, lost it ({reason_of(error)}); "
                "start it again"
            ) from error


_ready: dict[str, tuple[Any, list[float]]] = {}
"""In a process of the cluster: the work that it is ready for, by its run, and what it has reported."""


def _do_batch(work: Work[Any, Any], run: str, items: Sequence[Any], version: str) -> tuple[list[Any], float, float]:
    """Rows, and what was reported meanwhile: size and seconds. Raises ``WorkerError`` where the version is another."""
    if version != __version__:
        raise _unfit(f"{__version__} on {socket.gethostname()}", version)
    if run not in _ready:
        done = [0.0, 0.0]

        def report(size: float, seconds: float) -> None:
            done[0] += size
            done[1] += seconds

        _ready.clear()
        _ready[run] = work.begin(report), done
    do, totals = _ready[run]
    totals[:] = 0.0, 0.0
    rows = [do(item) for item in items]
    return rows, totals[0], totals[1]


def _unfit(found: str, wanted: str = __version__) -> WorkerError:
    return WorkerError(
        f"expected wakeword {wanted} on every machine of the cluster, got another ({found}); install it there"
    )
