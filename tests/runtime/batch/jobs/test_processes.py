"""Processes do each item once, whatever happens to them."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from support.counting import Doubling, Number

from wakeword.base.errors import ConfigError, ModelError, WorkerError
from wakeword.batch.jobs.job_run import executor_for
from wakeword.batch.jobs.processes import Processes
from wakeword.batch.jobs.work import Batch, Executor


def batches(items: list[Number], size: int) -> list[Batch[Number]]:
    numbered = list(enumerate(items))
    return [numbered[start : start + size] for start in range(0, len(numbered), size)]


def ignore(size: float, seconds: float) -> None:
    pass


def test_processes_give_the_rows_of_this_process_and_report_all_of_it() -> None:
    items = [Number(value, seconds=value / 2) for value in range(20)]
    told = [0.0, 0.0]

    def report(size: float, seconds: float) -> None:
        told[0] += size
        told[1] += seconds

    rows = dict(Processes(2).run(Doubling(), batches(items, 3), report))
    assert {number: row["double"] for number, row in rows.items()} == {value: 2 * value for value in range(20)}
    assert told == [20, sum(item.seconds for item in items)]
    assert {row["threads"] for row in rows.values()} == {"1"}
    alone = dict(Executor().run(Doubling(), batches(items, 3), ignore))
    assert {number: row["double"] for number, row in alone.items()} == {n: row["double"] for n, row in rows.items()}


def test_an_item_that_kills_its_process_is_lost_and_no_other(tmp_path: Path) -> None:
    items = [Number(value) for value in range(12)]
    items[4] = Number(4, deed="kill")
    items[7] = Number(7, deed="kill once", mark=str(tmp_path / "mark"))
    found = list(Processes(2).run(Doubling(), batches(items, 2), ignore))
    rows = dict(found)
    assert len(found) == len(rows) == len(items)
    assert [number for number, row in rows.items() if "error" in row] == [4]
    assert "died" in rows[4]["error"]
    assert (tmp_path / "mark").exists()


def test_what_was_given_out_when_a_process_died_is_done_again_by_all_processes(tmp_path: Path) -> None:
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    killer = Number(0, deed="kill once", mark=str(tmp_path / "mark"))
    items = [killer, *(Number(value, deed="meet", mark=str(meeting)) for value in (1, 2))]
    rows = dict(Processes(2).run(Doubling(), batches(items, 3), ignore))  # ends, or this test does not
    assert (tmp_path / "mark").exists()
    assert {number: row["double"] for number, row in rows.items()} == {0: 0, 1: 2, 2: 4}


def test_of_what_was_done_at_the_same_time_only_the_deadly_item_is_lost() -> None:
    items = [Number(0, deed="kill"), *(Number(value) for value in range(1, 9))]
    rows = dict(Processes(3).run(Doubling(), batches(items, 9), ignore))
    assert sorted(rows) == list(range(9))
    assert [number for number, row in rows.items() if "error" in row] == [0]


def test_processes_that_all_die_end_the_run() -> None:
    items = [Number(value, deed="kill") for value in range(12)]
    with pytest.raises(WorkerError, match="6 in a row died"):
        list(Processes(1).run(Doubling(), batches(items, 12), ignore))


def test_work_that_cannot_begin_says_why() -> None:
    with pytest.raises(ModelError, match="no such model"):
        list(Processes(2).run(Doubling(refuses=True), batches([Number(1)], 1), ignore))


def test_closing_a_run_ends_processes_that_would_work_for_ever() -> None:
    rows = Processes(1).run(Doubling(), batches([Number(1), Number(2, deed="wait")], 1), ignore)
    assert next(rows)[1]["double"] == 2
    rows.close()  # returns, or this test does not


def test_what_a_killed_process_leaves_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    items = [Number(0, deed="leave"), Number(1, deed="kill once", mark=str(tmp_path / "mark")), Number(2)]
    left = [list(tmp_path.rglob("left-*")) for _ in Processes(1).run(Doubling(), batches(items, 1), ignore)]
    assert left[0]
    assert [path.name for path in tmp_path.iterdir()] == ["mark"]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_the_processes_of_a_killed_program_end(tmp_path: Path) -> None:
    program, temporary = tmp_path / "program.py", tmp_path / "temporary"
    temporary.mkdir()
    program.write_text(
        "from support.counting import Doubling, Number\n"
        "from wakeword.batch.jobs.processes import Processes\n"
        "if __name__ == '__main__':\n"
        "    items = [(0, Number(0, deed='leave')), (1, Number(1, deed='wait'))]\n"
        "    for row in Processes(1).run(Doubling(), [[one] for one in items], lambda *_: None):\n"
        "        print('ready', flush=True)\n"
    )
    tests = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, program],
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": f"{tests}:{tests.parent}", "PATH": "/usr/bin:/bin", "TMPDIR": str(temporary)},
    ) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == b"ready\n"
        below = children(started.pid)
        assert below
        assert list(temporary.rglob("left-*"))
        started.kill()
    while any(Path(f"/proc/{child}").exists() for child in below):  # ends, or this test does not
        time.sleep(0.05)
    assert list(temporary.iterdir()) == []


def children(parent: int) -> list[int]:
    """The processes that a process has started."""
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def test_the_executor_is_the_one_asked_for() -> None:
    assert type(executor_for(1e9, jobs=1)) is Executor
    assert executor_for(1.0, jobs=3).workers == 3
    assert type(executor_for(1.0)) is Executor
    with pytest.raises(ConfigError, match="got both"):
        executor_for(1.0, jobs=1, ray="local")
    with pytest.raises(ConfigError, match="number of processes"):
        executor_for(1.0, jobs=0)


def test_processes_run_no_module_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pickle.py").write_text("import os; open('ran', 'w'); os._exit(1)")
    monkeypatch.chdir(tmp_path)
    rows = dict(Processes(2).run(Doubling(), batches([Number(value) for value in range(4)], 1), ignore))
    assert [row["double"] for _, row in sorted(rows.items())] == [0, 2, 4, 6]
    assert not (tmp_path / "ran").exists()
    assert "PYTHONSAFEPATH" not in os.environ
