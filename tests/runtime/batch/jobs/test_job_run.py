"""A run gives the rows of its items in order, and one that was killed goes on with what it has."""

import dataclasses
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.counting import Doubling, Number

from wakeword.base.errors import ConfigError
from wakeword.batch.jobs.job_run import Run
from wakeword.batch.jobs.journal import open_journal
from wakeword.batch.jobs.work import Batch, Executor, Report, Work


class Backwards(Executor):
    """An executor that does the last item first."""

    @property
    def workers(self) -> int:
        return 3

    def run(
        self, work: Work[Any, Any], batches: Sequence[Batch[Any]], report: Report
    ) -> Generator[tuple[int, Any], None, None]:
        do = work.begin(report)
        for batch in reversed(batches):
            for number, item in reversed(batch):
                yield number, do(item)


def ignore(size: float, seconds: float) -> None:
    pass


def items(count: int = 10) -> list[Number]:
    return [Number(value) for value in range(count)]


def done(log: Path) -> list[int]:
    return [int(line) for line in log.read_text().splitlines()] if log.exists() else []


def test_rows_come_in_the_order_of_the_items() -> None:
    for executor in (Executor(), Backwards()):
        rows = list(Run(Doubling(), items()).rows(executor, ignore))
        assert [(item.value, row["double"]) for item, row in rows] == [(value, 2 * value) for value in range(10)]


def test_two_items_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="two of the same"):
        Run(Doubling(), [Number(1), Number(1)])


@pytest.mark.parametrize("executor", [Executor(), Backwards()], ids=["in order", "backwards"])
def test_a_run_that_ended_early_is_resumed_with_what_it_has(tmp_path: Path, executor) -> None:
    log, path = tmp_path / "log", tmp_path / "out.journal"
    work = Doubling(log=str(log))
    whole = list(Run(Doubling(), items()).rows(Executor(), ignore))
    with open_journal(path, work.digest, resume=False) as journal:
        rows = Run(work, items(), journal).rows(executor, ignore)
        next(rows)
        rows.close()
    before = done(log)
    assert before
    # Half a line, as a killed process leaves it.
    with path.open("ab") as file:
        file.write(b'{"key": "number 9", "st')
    with open_journal(path, work.digest, resume=True) as journal:
        run = Run(work, items(), journal)
        assert len(run.missing) == run.size == len(items()) - len(before)
        assert list(run.rows(executor, ignore)) == whole
    assert sorted(done(log)) == list(range(10))
    with open_journal(path, work.digest, resume=True) as journal:
        assert Run(work, items(), journal).missing == []
        journal.finish()
    assert not path.exists()


def test_only_the_same_recording_has_its_row(tmp_path: Path) -> None:
    path = tmp_path / "out.journal"
    with open_journal(path, "w", resume=False) as journal:
        list(Run(Doubling(), items(), journal).rows(Executor(), ignore))
    changed = items()
    changed[3] = dataclasses.replace(changed[3], stamp="2")
    with open_journal(path, "w", resume=True) as journal:
        assert Run(Doubling(), changed, journal).missing == [3]


@pytest.mark.parametrize("bad", [b'{"a":' * 60_000, b'{"key": ["a"], "stamp": 1, "digest": "", "row": {}}'])
def test_a_damaged_journal_is_gone_on_with(tmp_path: Path, bad: bytes) -> None:
    path = tmp_path / "out.journal"
    with open_journal(path, "w", resume=False) as journal:
        list(Run(Doubling(), items(), journal).rows(Executor(), ignore))
    path.write_bytes(path.read_bytes() + bad + b"\n")
    with open_journal(path, "w", resume=True) as journal:
        assert Run(Doubling(), items(), journal).missing == []


def test_errors_are_tried_again(tmp_path: Path) -> None:
    class Failing(Doubling):
        def begin(self, report: Report):
            return lambda item: {"value": item.value, "error": "no"}

    with open_journal(tmp_path / "journal", "w", resume=False) as journal:
        list(Run(Failing(), items(3), journal).rows(Executor(), ignore))
        assert Run(Failing(), items(3), journal).missing == [0, 1, 2]


def test_the_journal_of_other_work_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with open_journal(path, "one", resume=False) as journal:
        list(Run(Doubling(), items(3), journal).rows(Executor(), ignore))
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="leave out --resume"), open_journal(path, "other", resume=True):
        pass
    assert path.read_bytes() == before
    with open_journal(path, "other", resume=False) as journal:
        assert len(Run(Doubling(), items(3), journal).missing) == 3


@pytest.mark.parametrize("resume", [True, False])
def test_a_file_of_another_kind_is_refused_and_kept(tmp_path: Path, resume: bool) -> None:
    path = tmp_path / "journal"
    path.write_text("my notes\n")
    with pytest.raises(ConfigError, match="rename it"), open_journal(path, "w", resume=resume):
        pass
    assert path.read_text() == "my notes\n"


def test_a_folder_where_the_journal_would_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no regular file; rename it"), open_journal(tmp_path, "w", resume=False):
        pass


def test_two_runs_never_write_one_journal(tmp_path: Path) -> None:
    with (
        open_journal(tmp_path / "journal", "w", resume=False),
        pytest.raises(ConfigError, match="another run"),
        open_journal(tmp_path / "journal", "w", resume=True),
    ):
        pass


def test_a_journal_that_its_owner_removed_keeps_nobody_out_and_no_two_write_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl", reason="needs locks of files")
    path, flock, removed = tmp_path / "journal", fcntl.flock, []

    def lock(file: Any, how: int) -> None:
        """Another run ends between the opening and the lock, and removes the file."""
        if not removed:
            path.unlink()
            removed.append(path)
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", lock)
    with open_journal(path, "w", resume=False) as journal:
        list(Run(Doubling(), items(3), journal).rows(Executor(), ignore))
        assert removed
        with pytest.raises(ConfigError, match="another run"), open_journal(path, "w", resume=True):
            pass
    with open_journal(path, "w", resume=True) as journal:
        assert Run(Doubling(), items(3), journal).missing == []


def test_a_run_that_begins_anew_knows_what_it_drops(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with open_journal(path, "w", resume=False) as journal:
        list(Run(Doubling(), items(3), journal).rows(Executor(), ignore))
        assert journal.dropped == 0
    with open_journal(path, "w", resume=True) as journal:
        assert journal.dropped == 0
    with open_journal(path, "other", resume=False) as journal:
        assert (journal.dropped, journal.put_aside) == (0, 3)  # nothing that --resume would have taken
        list(Run(Doubling(), items(4), journal).rows(Executor(), ignore))
    with open_journal(path, "other", resume=False) as journal:
        assert journal.dropped == 4
