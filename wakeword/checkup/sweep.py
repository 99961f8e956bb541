"""What becomes of a loudspeaker's sound on its way to the microphone, by two sweeps."""

import math

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword.checkup.findings import Finding, finding

_SECONDS, _PAUSE = 1.0, 6.0
_LOWEST, _HIGHEST, _PEAK = 200.0, 7_000.0, 0.25
_LEAST_RATIO = 10.0
"""dB by which a sweep must be above the noise."""
_LONGEST_DELAY, _MOST_DRIFT, _MOST_GAIN, _CLIPPED = 0.45, 250.0, 10.0, 0.99


def sweep() -> Array:
    """A second from 200 Hz to 7 kHz, each octave as long as the others, ``(16000,)`` float32."""
    time = np.arange(int(_SECONDS * SAMPLE_RATE)) / SAMPLE_RATE
    octaves = math.log(_HIGHEST / _LOWEST)
    phase = 2 * np.pi * _LOWEST * _SECONDS / octaves * (np.exp(time / _SECONDS * octaves) - 1)
    fade = np.minimum(1, np.minimum(time, _SECONDS - time) * 50)
    sound: Array = (_PEAK * fade * np.sin(phase)).astype(np.float32)
    return sound


def two_sweeps() -> Array:
    """What is played: a sweep, a pause, and the same sweep, from which the difference of the clocks follows."""
    return np.concatenate((sweep(), np.zeros(int(_PAUSE * SAMPLE_RATE), np.float32), sweep()))


def diagnose_loudspeaker(recording: Array, started: int) -> list[Finding]:
    """Findings about ``two_sweeps``, which began to play at sample ``started`` of ``recording``, ``(n,)`` at 16 kHz."""
    sent = sweep()
    middle = started + len(sent) + int(_PAUSE * SAMPLE_RATE / 2)
    places = [_place(recording[started:middle], sent) + started, _place(recording[middle:], sent) + middle]
    heard = recording[round(places[0]) : round(places[0]) + len(sent)]
    noise = float(np.mean(recording[:started] ** 2)) + 1e-12
    power = max(0.0, float(np.mean(heard**2)) - noise)
    if power < noise * 10 ** (_LEAST_RATIO / 10):
        ratio = 10 * math.log10(power / noise + 1e-12)
        advice = "Turn the loudspeaker up, or choose the output that this microphone is next to."
        return [finding("loudspeaker", ratio, "dB", "its sweeps are not in the recording", "bad", advice)]
    delay = (places[0] - started) / SAMPLE_RATE
    drift = 1e6 * ((len(sent) + _PAUSE * SAMPLE_RATE) / (places[1] - places[0]) - 1)
    loss = 10 * math.log10(float(np.mean(sent**2)) / power)
    peak = float(np.abs(recording).max())
    return [
        finding(
            "echo delay",
            1_000 * delay,
            "ms",
            f"{1_000 * delay:.0f} ms from the program to the microphone",
            "ok" if delay <= _LONGEST_DELAY else "warn",
            "Use a wired loudspeaker: later than 500 ms the echo is not taken out.",
        ),
        finding(
            "clocks",
            drift,
            "ppm",
            f"the loudspeaker's is {drift:+.0f} ppm faster",
            "ok" if abs(drift) <= _MOST_DRIFT else "warn",
            "Use a loudspeaker and a microphone of one device: at most 300 ppm are followed.",
        ),
        finding(
            "echo return loss",
            loss,
            "dB",
            f"the echo is {loss:.0f} dB below what is played",
            "ok" if loss >= -_MOST_GAIN else "warn",
            "Turn the microphone or the loudspeaker down.",
        ),
        finding(
            "echo clipping",
            peak,
            "",
            f"a peak of {peak:.2f} of full scale",
            "ok" if peak < _CLIPPED else "bad",
            "Turn the microphone or the loudspeaker down: what is clipped cannot be taken out.",
        ),
    ]


def _place(recording: Array, sent: Array) -> float:
    """Where the sweep begins, in samples and parts of a sample: the maximum of the correlation."""
    size = 1 << (len(recording) + len(sent)).bit_length()
    found = np.fft.irfft(np.fft.rfft(recording, size) * np.conj(np.fft.rfft(sent, size)), size)[: len(recording)]
    best = int(np.argmax(np.abs(found)))
    if not 0 < best < len(found) - 1:
        return float(best)
    before, at, after = (float(one) for one in np.abs(found[best - 1 : best + 2]))
    bend = before - 2 * at + after
    return best + (0.5 * (before - after) / bend if bend else 0.0)
