"""``StreamClock``: the rate and the missing audio follow from the stamps."""

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
    generator = np.random.default_rng(seed)
    made = []
    now = 100.0
    for number in range(round(seconds * rate / BLOCK)):
        if number == pause_at:
            now += pause
        late = generator.exponential(jitter if generator.random() < 0.1 else jitter / 10) if jitter else 0.0
        made.append(Stamp(number * BLOCK, BLOCK, now + late, now + 1e9))
        now += BLOCK / rate
    return made


def follow(made: list[Stamp]) -> tuple[StreamClock, list[tuple[float, float]]]:
    clock = StreamClock(NOMINAL)
    return clock, [clock.missing(stamp) for stamp in made]


@pytest.mark.parametrize("ppm", [-200, 0, 35, 500])
@pytest.mark.parametrize(("seconds", "error"), [(12, 20), (60, 3), (1_800, 0.1)])
def test_the_rate_is_measured_through_jitter(ppm: int, seconds: int, error: float) -> None:
    """With 10 ms of jitter; the least delay in each second is a few tenths of a millisecond."""
    rate = NOMINAL * (1 + 1e-6 * ppm)
    clock, missing = follow(stamps(rate, seconds, jitter=0.01))
    assert clock.measured_rate == pytest.approx(rate, rel=1e-6 * error)
    assert not any(map(any, missing))


def test_there_is_no_rate_before_10_s() -> None:
    made = stamps(NOMINAL, 12)
    assert follow([])[0].measured_rate is None
    assert follow(made[: 9 * 50])[0].measured_rate is None
    assert follow(made)[0].measured_rate == pytest.approx(NOMINAL)


@pytest.mark.parametrize("pause", [0.25, 1.0, 7_200.0])
def test_audio_that_a_driver_skips_is_missing_once_and_is_not_drift(pause: float) -> None:
    clock, missing = follow(stamps(NOMINAL, 60, jitter=0.003, pause_at=1_500, pause=pause))
    assert [index for index, lost in enumerate(missing) if any(lost)] == [1_500]
    assert missing[1_500] == (0.0, pytest.approx(pause, abs=0.05))
    assert clock.measured_rate == pytest.approx(NOMINAL, rel=50e-6)


def test_late_blocks_and_a_clock_that_was_set_are_not_missing_audio() -> None:
    made = stamps(NOMINAL, 60)
    # A callback was delayed by 0.5 s on a busy machine, later the driver's clock was set by a day.
    made[500] = made[500]._replace(captured=made[500].captured + 0.5)
    made[1_000:] = [stamp._replace(driver=stamp.driver + 86_400) for stamp in made[1_000:]]
    assert not any(map(any, follow(made)[1]))
    # A driver without times, and blocks that accumulate for 2 s and then come together.
    untimed = [stamp._replace(driver=math.nan) for stamp in made]
    untimed[500:600] = [stamp._replace(captured=untimed[600].captured) for stamp in untimed[500:600]]
    clock, missing = follow(untimed)
    assert not any(map(any, missing))
    assert clock.measured_rate == pytest.approx(NOMINAL, rel=1e-6)


def test_skipped_frame_numbers_count_as_missing_and_not_as_drift() -> None:
    made = stamps(NOMINAL, 60)
    clock, missing = follow([*made[50:1_000], *made[1_075:]])
    assert missing[0] == (1.0, 0.0)
    assert missing[950] == (1.5, 0.0)
    assert sum(any(lost) for lost in missing) == 2
    assert clock.measured_rate == pytest.approx(NOMINAL, rel=1e-6)


def test_memory_does_not_grow_with_the_stream() -> None:
    clock = StreamClock(NOMINAL)
    for hour in range(24 * 365):
        clock.missing(Stamp(hour * 3_600 * NOMINAL, 3_600 * NOMINAL, 3_600.0 * hour, 3_600.0 * hour))
        assert len(clock._points) <= 64
    assert clock.measured_rate == pytest.approx(NOMINAL)
