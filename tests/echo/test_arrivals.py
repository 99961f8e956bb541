"""The clock of a live source: what is late is not lost, what is lost is told, and clocks may differ."""

import numpy as np
import pytest

from wakeword_echo.arrivals import Arrivals

RATE, BLOCK = 16_000, 320


def heard(seconds: float, *, jitter: float = 0.03, ppm: float = 0.0, stall: range = range(0), lost: range = range(0)):
    """Lost samples as told after each block, of a source with blocks of 20 ms, which ``stall`` and ``lost`` number."""
    arrivals, random, told = Arrivals(RATE), np.random.default_rng(0), []
    last = 0.0
    for number in range(round(seconds * RATE / BLOCK)):
        if number in lost:
            continue
        at = (stall.stop if number in stall else number) * BLOCK / RATE * (1 + 1e-6 * ppm) + random.uniform(0, jitter)
        last = max(last, at)
        arrivals.push(BLOCK, last)
        told.append(arrivals.lost)
    return np.array(told)


@pytest.mark.parametrize("ppm", [-300, 0, 300])
def test_nothing_is_lost_where_clocks_differ_and_blocks_come_late(ppm: float) -> None:
    assert not heard(600, ppm=ppm, jitter=0.06).any()


@pytest.mark.parametrize("seconds", [0.1, 0.8, 5.0])
def test_a_stall_after_which_all_is_delivered_is_no_loss(seconds: float) -> None:
    assert not heard(30, stall=range(500, 500 + round(50 * seconds)), jitter=0.005).any()


@pytest.mark.parametrize("seconds", [0.06, 0.3, 0.8, 20.0, 3_000.0])
def test_a_loss_is_told_within_three_seconds_of_what_follows(seconds: float) -> None:
    told = heard(seconds + 60, lost=range(500, 500 + round(50 * seconds)))
    assert not told[:550].any()
    assert np.all(np.abs(told[500 + 3 * 50 :] / RATE - seconds) < 0.02)


def test_small_losses_add_up() -> None:
    arrivals, at = Arrivals(RATE), 0.0
    for second in range(1_000):
        for _ in range(50):
            arrivals.push(BLOCK, at)
            at += BLOCK / RATE
        at += 0.02 * (second % 10 == 0)
    assert abs(arrivals.lost / RATE - 2.0) < 0.1


def test_after_forget_nothing_is_told_of_a_loss_before_it() -> None:
    arrivals = Arrivals(RATE)
    for number in range(1_000):
        if number == 520:
            arrivals.forget()
        if number not in range(500, 515):
            arrivals.push(BLOCK, number * BLOCK / RATE)
    assert arrivals.lost == 0
