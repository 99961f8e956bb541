"""A live playback beside a microphone: what is late or lost of it moves nothing for longer than seconds."""

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from wakeword.base.types import Array
from wakeword_echo.playback_reader import PlaybackReader

BLOCK = 1_600
SIGNAL = np.arange(1, 20 * 16_000 + 1, dtype=np.float32) / 2**20


class _Unsteady:
    """A live source: a block of 0.1 s when it is told to, or several, or none."""

    sample_rate = 16_000
    is_live = True

    def __init__(self) -> None:
        self._may, self.has = threading.Semaphore(0), threading.Semaphore(0)
        self._blocks: list[Array] = []

    def give(self, blocks: list[Array]) -> None:
        for block in blocks:
            self._blocks.append(block)
            self._may.release()
            self.has.acquire()

    def blocks(self) -> Iterator[Array]:
        while self._may.acquire(timeout=5):
            yield self._blocks.pop(0)
            self.has.release()


@pytest.mark.parametrize("comes", ["late", "never"])
@pytest.mark.parametrize("blocks", [1, 3, 8, 60])
def test_each_sample_is_soon_in_its_place_again(comes: str, blocks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("wakeword_echo.playback_reader.time.monotonic", lambda: now)
    monkeypatch.setattr("wakeword_echo.playback_reader._PATIENCE", 0.001)
    source = _Unsteady()
    reader = PlaybackReader(source)
    missing = range(50, 50 + blocks)
    waiting: list[Array] = []
    taken: list[Array] = []
    for number, block in enumerate(np.split(SIGNAL, len(SIGNAL) // BLOCK)):
        now = number * BLOCK / 16_000
        if number not in missing:
            source.give([*waiting, block])
            waiting = []
        elif comes == "late":
            waiting.append(block)
        lack = (number + 1) * BLOCK - sum(map(len, taken))
        got = reader.take(lack / 16_000)
        assert got is not None
        taken.append(got)
    reader.close()
    whole = np.concatenate(taken)[: len(SIGNAL)]
    assert np.array_equal(whole[: 50 * BLOCK], SIGNAL[: 50 * BLOCK])
    settled = missing.stop + 46
    assert np.array_equal(whole[settled * BLOCK :], SIGNAL[settled * BLOCK : len(whole)])
    assert len(whole) > (settled + 20) * BLOCK


def test_a_microphone_that_is_late_for_a_moment_moves_nothing() -> None:
    """Only some blocks are as new as they can be: what these show is no proof, however far ahead the playback seems."""
    source = _Unsteady()
    reader = PlaybackReader(source)
    source.give([SIGNAL[:BLOCK]] * 10)
    found = [reader.runs_ahead(0.1, 0.1, waited=number % 2 == 0) for number in range(100)]
    assert not any(found)
    found = [reader.runs_ahead(0.1, 0.1, waited=True) for _ in range(30)]
    assert found.count(True) == 1
    reader.close()


def test_a_playback_that_begins_late_owes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Silence stood for it before its first block; none of what comes then is dropped for that."""
    now = 0.0
    monkeypatch.setattr("wakeword_echo.playback_reader.time.monotonic", lambda: now)
    monkeypatch.setattr("wakeword_echo.playback_reader._PATIENCE", 0.001)
    source = _Unsteady()
    reader = PlaybackReader(source)
    taken = 0
    for number in range(30):
        got = reader.take((number + 1) * 0.1 - taken / 16_000)
        taken += 0 if got is None else len(got)
    behind = 30 * BLOCK - taken
    for number in range(30, 130):
        now = number * 0.1
        source.give([SIGNAL[(number - 30) * BLOCK : (number - 29) * BLOCK]])
        got = reader.take((number + 1) * 0.1 - taken / 16_000)
        assert got is not None
        taken += len(got)
        if number > 31:
            assert got[-1] == SIGNAL[(number - 29) * BLOCK - 1]
    assert 0 <= behind <= 0.4 * 16_000
    reader.close()
