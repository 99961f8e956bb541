"""Work is cut by duration, and no item is lost on the way."""

from hypothesis import given
from hypothesis import strategies as st
from support.counting import Number

from wakeword.batch.jobs.work import BATCH_SECONDS, LONG_SECONDS, batches_of, cores, default_jobs


@given(st.lists(st.floats(0.1, 5_000), max_size=60), st.integers(1, 8))
def test_every_item_is_in_one_batch_of_a_minute_or_alone(lengths: list[float], workers: int) -> None:
    items = list(enumerate(Number(value, seconds=length) for value, length in enumerate(lengths)))
    batches = batches_of(items, workers=workers)
    assert sorted(number for batch in batches for number, _ in batch) == list(range(len(items)))
    for batch in batches:
        assert len(batch) == 1 or sum(item.seconds for _, item in batch) <= BATCH_SECONDS


def test_the_longest_come_first_where_others_could_wait_for_them() -> None:
    lengths = [30.0, LONG_SECONDS, 30.0, 2 * LONG_SECONDS, 50.0]
    items = list(enumerate(Number(value, seconds=length) for value, length in enumerate(lengths)))
    assert [[number for number, _ in batch] for batch in batches_of(items, workers=4)] == [[3], [1], [0], [2], [4]]
    assert [[number for number, _ in batch] for batch in batches_of(items, workers=1)] == [[0], [1], [2], [3], [4]]


def test_short_work_gets_no_processes_and_long_work_all_cores() -> None:
    assert default_jobs(0) == default_jobs(200) == 1
    assert default_jobs(10**9) == cores()
