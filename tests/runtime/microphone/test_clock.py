"""``StreamClock``: the missing audio follows from the stamps."""

import math

import numpy as np
import pytest

from wakeword.microphone.clock import Stamp, StreamClock

NOMINAL = 48_000
BLOCK = 960


def stamps(
    rate: float, seconds: float, *, jitter: float = 0.0, pause_at: int = -1, pause: float = 0.0, seed: int = 0
) -> list[Stamp]:
    """Stamps of a device that runs at ``rate`` and pauses once for ``pause`` seconds; most are only slightly late, a tenth
    is much later, by ``jitter`` on average."""
    random = np.random.default_rng(seed)
    made = []
    now = 100.0
    for number in range(round(seconds * rate / BLOCK)):
        if number == pause_at:
            now += pause
        late = random.exponential(jitter if random.random() < 0.1 else jitter / 10) if jitter else 0.0
        made.append(Stamp(number * BLOCK, BLOCK, now + late, now + 1e9))
        now += BLOCK / rate
    return made


def follow(made: list[Stamp]) -> list[tuple[float, float]]:
    clock = StreamClock(NOMINAL)
    return [clock.missing(stamp) for stamp in made]


@pytest.mark.parametrize("ppm", [-200, 0, 500])
def test_jitter_and_a_clock_of_another_rate_are_not_missing_audio(ppm: int) -> None:
    assert not any(map(any, follow(stamps(NOMINAL * (1 + 1e-6 * ppm), 1_800, jitter=0.01))))


@pytest.mark.parametrize("pause", [0.25, 1.0, 7_200.0])
def test_audio_that_a_driver_skips_is_missing_once(pause: float) -> None:
    missing = follow(stamps(NOMINAL, 60, jitter=0.003, pause_at=1_500, pause=pause))
    assert [index for index, lost in enumerate(missing) if any(lost)] == [1_500]
    assert missing[1_500] == (0.0, pytest.approx(pause, abs=0.05))


def test_late_blocks_and_a_clock_that_was_set_are_not_missing_audio() -> None:
    made = stamps(NOMINAL, 60)
    # A callback was delayed by 0.5 s on a busy machine, later the driver's clock was set by a day.
    made[500] = made[500]._replace(captured=made[500].captured + 0.5)
    made[1_000:] = [stamp._replace(driver=stamp.driver + 86_400) for stamp in made[1_000:]]
    assert not any(map(any, follow(made)))
    # A driver without times, and blocks that accumulate for 2 s and then come together.
    untimed = [stamp._replace(driver=math.nan) for stamp in made]
    untimed[500:600] = [stamp._replace(captured=untimed[600].captured) for stamp in untimed[500:600]]
    missing = follow(untimed)
    assert not any(map(any, missing))


def test_skipped_frame_numbers_count_as_missing() -> None:
    made = stamps(NOMINAL, 60)
    missing = follow([*made[50:1_000], *made[1_075:]])
    assert missing[0] == (1.0, 0.0)
    assert missing[950] == (1.5, 0.0)
    assert sum(any(lost) for lost in missing) == 2
