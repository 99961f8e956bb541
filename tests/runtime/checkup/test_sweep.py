"""What two sweeps say of a loudspeaker."""

import numpy as np
import pytest

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword.checkup.findings import Finding
from wakeword.checkup.sweep import diagnose_loudspeaker, two_sweeps

STARTED = 16_000


def recorded(*, delay: float, gain: float, drift: float = 0.0) -> Array:
    """The sweeps as a microphone hears them, ``delay`` seconds late, the loudspeaker's clock ``drift`` ppm faster."""
    sent = two_sweeps()
    places = (np.arange(STARTED + len(sent) + SAMPLE_RATE) - STARTED - delay * SAMPLE_RATE) * (1 + 1e-6 * drift)
    heard = gain * np.interp(places, np.arange(len(sent)), sent, left=0, right=0)
    noise = 1e-3 * np.random.default_rng(0).standard_normal(len(heard))
    found: Array = (heard + noise).astype(np.float32)
    return found


def by_name(found: list[Finding]) -> dict[str, Finding]:
    return {one.name: one for one in found}


@pytest.mark.parametrize(("delay", "gain", "drift"), [(0.08, 0.5, 0.0), (0.3, 0.1, 150.0), (0.02, 2.0, -50.0)])
def test_delay_clock_and_loss_are_measured(delay: float, gain: float, drift: float) -> None:
    found = by_name(diagnose_loudspeaker(recorded(delay=delay, gain=gain, drift=drift), STARTED))
    assert found["echo delay"].value == pytest.approx(1_000 * delay, abs=0.2)
    assert found["clocks"].value == pytest.approx(drift, abs=3)
    assert found["echo return loss"].value == pytest.approx(-20 * np.log10(gain), abs=1)
    assert {one.verdict for one in found.values()} == {"ok"}


def test_what_must_change_is_said() -> None:
    late = by_name(diagnose_loudspeaker(recorded(delay=0.6, gain=0.5), STARTED))
    assert late["echo delay"].verdict == "warn"
    clipped = by_name(diagnose_loudspeaker(recorded(delay=0.05, gain=6).clip(-1, 1), STARTED))
    assert clipped["echo clipping"].verdict == "bad"
    absent = diagnose_loudspeaker(recorded(delay=0.05, gain=0), STARTED)
    assert [(one.name, one.verdict) for one in absent] == [("loudspeaker", "bad")]
