"""Looks at words, made by other processes while this one trains the first stage: they do not depend on it."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

from wakeword.base.events import SILENT
from wakeword.batch.jobs.job_run import ExecutorFor, Run
from wakeword.batch.jobs.processes import Processes
from wakeword.batch.jobs.work import Report, WholeWork
from wakeword_tools.kinds import WORD_KINDS, Kind, Split
from wakeword_train.config import TrainConfig
from wakeword_train.data.batches import load_stores
from wakeword_train.data.clips import Clip
from wakeword_train.second_stage.looks.examples import ExampleMaker

log = logging.getLogger(__name__)

_SECONDS_OF_CLIP = 3.0
"""Seconds of audio that cost as much as the looks at a clip: work is planned in such seconds."""


class _EndedError(Exception):
    """The looks are not needed any more."""


@dataclass(frozen=True)
class _LooksItem:
    """The looks at one kind of words: a piece of work."""

    kind: Kind
    seconds: float
    size: float = 1.0

    @property
    def key(self) -> str:
        """Its name."""
        return f"looks at {self.kind.value} clips"


class _LooksWork(WholeWork[_LooksItem]):
    """Makes looks and keeps them in the cache: ``wakeword.batch.jobs.work.Work``. Rows say nothing."""

    def __init__(self, config: TrainConfig, clips: Sequence[Clip], cache: Path) -> None:
        self._config, self._clips, self._cache = config, clips, cache

    def begin(self, report: Report) -> Callable[[_LooksItem], None]:
        """Read the clips."""
        stores, config = load_stores(self._clips, Split.TRAIN, Split.VALIDATION), self._config
        maker = ExampleMaker(stores, config.augmentation, self._cache, seed=config.seed, events=SILENT)

        def make(item: _LooksItem) -> None:
            maker.words(item.kind, config.second_stage.looks, recorded=config.mix.recorded)
            report(item.size, item.seconds)

        return make


@contextmanager
def looks_ahead(
    config: TrainConfig, clips: Sequence[Clip], cache: Path, executor: ExecutorFor
) -> Iterator[Callable[[], None]]:
    """Make the looks at words in other processes, if ``executor`` gives some, until the block ends.

    Yields a function that waits for them. What could not be made is not in the cache, and that is all.
    """
    words = [clip for clip in clips if clip.kind in WORD_KINDS]
    counts = {kind: sum(clip.kind is kind for clip in words) for kind in WORD_KINDS}
    items = [_LooksItem(kind, count * _SECONDS_OF_CLIP) for kind, count in counts.items() if count]
    processes = executor(sum(item.seconds for item in items)) if config.second_stage.enabled else None
    if not isinstance(processes, Processes):
        yield lambda: None
        return
    run, ended = Run(_LooksWork(config, clips, cache), items), Event()

    def report(size: float, seconds: float) -> None:
        if ended.is_set():
            raise _EndedError

    def make() -> None:
        try:
            for _ in run.rows(processes, report):
                pass
        except _EndedError:
            pass
        except Exception as error:  # of any kind: the looks are then made later
            log.warning("made no looks while the first stage was trained: %s", error)

    thread = Thread(target=make, daemon=True)
    thread.start()
    try:
        yield thread.join
    finally:
        ended.set()
        thread.join()
