"""Laws of work in separate processes."""

import os
import threading
import time
from collections import deque
from contextlib import closing
from pathlib import Path

import pytest
from support.counting import Calling, Thing, isolated

from wakeword.base.errors import SynthesisError, WorkerError
from wakeword.batch.jobs.processes import Crew, Failed
from wakeword_tools.engines.command_engine import run_program


def work(item: int) -> int:
    """Crashes on 7, hangs on 11, fails on 13."""
    if item == 7:
        os._exit(139)
    if item == 11:
        time.sleep(600)
    if item == 13:
        raise SynthesisError("cannot say 13")
    return item * item


def fill_the_disk(item: int) -> int:
    raise OSError(28, "No space left on device")


def lose_the_connection(item: int) -> None:
    raise ConnectionResetError("by the server")


def never(item: int) -> int:
    os._exit(1)


def die_after_15(item: int) -> int:
    if item == 15:
        threading.Timer(0.1, os._exit, [1]).start()
    return item


def run_for_long(folder: str) -> None:
    run_program(["sh", "-c", f"cd '{folder}'; touch began; sleep 2; touch late"])


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_item_that_fails_crashes_or_hangs_loses_only_that_item(jobs: int) -> None:
    items = list(range(20))
    results = dict(isolated(work, items, jobs=jobs, timeout=1.5))
    assert sorted(results) == items
    for item, result in results.items():
        if item in (7, 11, 13):
            expected = {7: "died twice", 11: "longer than 1.5 s", 13: "cannot say 13"}[item]
            assert isinstance(result, SynthesisError)
            assert expected in str(result)
        else:
            assert result == item * item


def test_a_crew_that_is_used_again_loses_only_what_fails_crashes_or_hangs() -> None:
    with closing(Crew(Calling(work).begin, 1, seconds=1.5)) as crew:
        results = {
            item: next(crew.rows(deque([[(0, Thing(item))]]), deque(), lambda size, seconds: None))[2]
            for item in (1, 7, 2, 11, 13, 3)
        }
    assert [results[item] for item in (1, 2, 3)] == [1, 4, 9]
    failed = [results[7], results[11]]
    assert [one.is_death for one in failed if isinstance(one, Failed)] == [True, False]
    assert str(results[13]) == "cannot say 13"


def test_a_system_error_ends_the_work() -> None:
    with pytest.raises(OSError, match="No space left"):
        list(isolated(fill_the_disk, [1, 2, 3]))


def test_an_error_that_a_dead_process_would_cause_too_is_not_taken_for_one() -> None:
    with pytest.raises(ConnectionResetError, match="by the server") as raised:
        list(isolated(lose_the_connection, [1, 2, 3]))
    assert "in lose_the_connection" in raised.value.__notes__[0]  # where it came from


def test_repeated_crashes_end_the_work() -> None:
    with pytest.raises(WorkerError, match="in a row died"):
        list(isolated(never, list(range(100)), jobs=2))


def test_no_items_give_no_results() -> None:
    assert list(isolated(work, [])) == []


def test_a_process_that_dies_between_batches_loses_no_item() -> None:
    results = []
    for _, result in isolated(die_after_15, list(range(20))):
        results.append(result)
        if result == 15:
            time.sleep(0.5)
    assert results == list(range(20))


def test_the_program_of_a_stopped_process_is_stopped_too(tmp_path: Path) -> None:
    ((_, result),) = isolated(run_for_long, [str(tmp_path)], timeout=0.5)
    assert isinstance(result, SynthesisError)
    time.sleep(2)
    assert [path.name for path in tmp_path.iterdir()] == ["began"]
