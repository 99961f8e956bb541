"""The quality of a recording, and what to change: limits for the figures of ``levels``.

The limits of level, noise, clipping, offset and bandwidth are where a shipped model's scores for its keyword begin to
fall (warn), and where it misses a third or more of the keywords that it would have found (bad).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from wakeword.audio.level import decibels
from wakeword.base.text import counted
from wakeword.base.types import Samples
from wakeword.checkup.levels import Levels, Timing, bandwidth, clipping, dc_offset, dropouts, levels, mixdown, timing
from wakeword.microphone.clock import Stamp

_Severity = Literal["ok", "warn", "bad"]


@dataclass(frozen=True)
class Finding:
    """One measurement and its meaning."""

    name: str
    value: float | None
    """In ``unit``; ``None`` if it is not finite."""
    unit: str
    text: str
    """The value and its details, for people."""
    verdict: _Severity = "ok"
    advice: str = ""
    """What to change, one sentence; empty if nothing."""


@dataclass(frozen=True)
class CheckRecording:
    """Audio from a device."""

    samples: Samples
    """``(samples, channels)`` float32, full scale 1."""
    sample_rate: int
    stamps: Sequence[Stamp] = field(default=(), repr=False)
    """Time stamps of the device's blocks."""
    overflows: int = 0
    """Blocks before which the driver reported lost samples."""


def diagnose(recording: CheckRecording) -> list[Finding]:
    """All findings about a recording. Levels are measured on the mean of its channels, which a detector uses by default."""
    samples, sample_rate = recording.samples, recording.sample_rate
    mean = samples.mean(axis=1)
    findings = [_channels(samples)] if samples.shape[1] > 1 else []
    if not samples.any():
        advice = "Unmute the microphone, plug it in, or choose another device: this one delivers only zeros."
        return [*findings, finding("level", -math.inf, "dBFS", "digital silence", "bad", advice)]
    measured = levels(mean, sample_rate)
    findings += [_level(measured), _noise(measured), _clipping(samples), _offset(samples)]
    timed = timing(recording.stamps, sample_rate)
    findings += [_bandwidth(mean, sample_rate), _dropouts(recording, mean, timed.missing_seconds)]
    return findings + _rate(timed, sample_rate)


def finding(name: str, value: float, unit: str, text: str, verdict: _Severity, advice: str) -> Finding:
    """A finding; its advice is dropped if there is nothing to change, its value if it is not finite."""
    return Finding(
        name, value if math.isfinite(value) else None, unit, text, verdict, advice if verdict != "ok" else ""
    )


def graded(value: float, warn: float, bad: float) -> _Severity:
    """The verdict on a ``value`` that must not be high; negate all three for one that must not be low."""
    return "bad" if value > bad else "warn" if value > warn else "ok"


_SILENT_DB = -80.0
"""Peak, dBFS, below which a channel is no better than a silent one."""


def _channels(samples: Samples) -> Finding:
    checked = mixdown(samples)
    number = samples.shape[1]
    text = f"{number}"
    if checked.dead:
        text += f"; silent: {', '.join(map(str, checked.dead))}"
    if len(checked.dead) == number or decibels(float(np.abs(samples).max()) ** 2) < _SILENT_DB:
        return finding("channels", number, "", f"{number}; all silent", "ok", "")  # the level says what to change
    live = min(set(range(number)) - set(checked.dead))
    verdict: _Severity = "warn" if checked.dead else "ok"
    advice = f"Listen to one channel that works: --channel {live}."
    if checked.mixing_loss < -10:
        text += "; they cancel each other"
        verdict, advice = "bad", f"Listen to one channel, --channel {live}: another has reversed polarity."
    return finding("channels", number, "", text, verdict, advice)


_NO_SPEECH_DB = 6.0
NO_VOICE = "Speak when asked to; if you did, turn the gain up or choose another device: no voice was found."
"""Advice on a level that a silent room or a deaf microphone may have."""


def _level(measured: Levels) -> Finding:
    text = f"loudest part {_db(measured.speech)}, whole {_db(measured.rms)}, peak {_db(measured.peak)}"
    if _over_noise(measured) < _NO_SPEECH_DB:
        verdict: _Severity = "warn"
        advice = NO_VOICE
    elif measured.speech > -12:
        verdict, advice = "warn", "Turn the input gain down by about 10 dB."
    else:
        verdict = graded(-measured.speech, 50, 60)
        advice = "Turn the input gain up by 20 dB or more, or move closer to the microphone."
    return finding("level", measured.speech, "dBFS", text, verdict, advice)


def _noise(measured: Levels) -> Finding:
    text = f"{_db(measured.noise)} in the quietest tenth"
    over = _over_noise(measured)
    if over >= _NO_SPEECH_DB:
        text += f", {over:.0f} dB below the voice"
        verdict = graded(-over, -20, -10)
        advice = (
            "Move the microphone closer to the speaker or away from the noise, which is almost as loud as the voice."
        )
    else:
        verdict = graded(measured.noise, -45, -25)
        advice = "Find the source of the noise, such as a power supply, or turn the gain down, and measure again."
    return finding("noise floor", measured.noise, "dBFS", text, verdict, advice)


def _over_noise(measured: Levels) -> float:
    # In silence no voice can be above the noise.
    return measured.speech - measured.noise if measured.speech > -math.inf else 0.0


def _clipping(samples: Samples) -> Finding:
    worst = max((clipping(channel) for channel in samples.T), key=lambda one: one.share)
    text = f"{worst.share:.2%} of the samples"
    if worst.share:
        text += f", up to {worst.longest_run} in a row, at {worst.ceiling:.1f} dBFS"
    advice = "Turn the input gain down by 6 dB or more, or speak from farther away."
    if worst.ceiling < -0.5:
        advice = "Turn down the gain of the microphone or its amplifier: it clips before the volume control."
    return finding("clipping", worst.share, "", text, graded(worst.share, 1e-4, 2e-3), advice)


def _offset(samples: Samples) -> Finding:
    worst = max((dc_offset(channel) for channel in samples.T), key=abs)
    advice = "Use another input or adapter, or switch on the driver's DC filter: the converter has an offset."
    return finding("DC offset", worst, "", f"{worst:+.2%} of full scale", graded(abs(worst), 0.03, 0.2), advice)


def _bandwidth(mean: Samples, sample_rate: int) -> Finding:
    edge = bandwidth(mean, sample_rate)
    text = f"sound up to {edge / 1000:.1f} kHz, recorded at {sample_rate / 1000:g} kHz"
    advice = (
        "Switch the headset to its wideband profile, choose a higher rate or another microphone: treble is missing."
    )
    # Filters of recorders at 16 kHz begin at 7 kHz; a telephone's band ends under 4 kHz.
    return finding("bandwidth", edge, "Hz", text, graded(-edge, -7_000, -5_000), advice)


def _dropouts(recording: CheckRecording, mean: Samples, skipped: float) -> Finding:
    holes = dropouts(mean, recording.sample_rate)
    text = f"{counted(holes.number, 'hole')} of zeros, {1_000 * holes.seconds:.0f} ms"
    if recording.stamps:
        text += f"; {1_000 * skipped:.0f} ms skipped; {counted(recording.overflows, 'overflow')}"
    lost = skipped + holes.seconds
    verdict = graded(lost / (len(recording.samples) / recording.sample_rate), 0.0, 0.01)
    if recording.overflows and verdict == "ok":
        verdict = "warn"
    advice = "Close programs that keep the processor or the USB bus busy, or use another port: audio is lost."
    return finding("dropouts", lost, "s", text, verdict, advice)


def _rate(measured: Timing, sample_rate: int) -> list[Finding]:
    if measured.measured_rate is None or measured.uncertainty is None:
        return []
    off = measured.measured_rate / sample_rate - 1
    text = f"{measured.measured_rate:.0f} ± {measured.uncertainty:.0f} Hz, nominal {sample_rate} Hz ({off:+.2%})"
    verdict = graded(abs(off) - measured.uncertainty / sample_rate, 0.005, 0.03)
    advice = "Set the device to its real rate in the sound server or driver: its nominal rate is wrong."
    return [finding("sample rate", measured.measured_rate, "Hz", text, verdict, advice)]


def _db(level: float) -> str:
    return f"{level:.0f} dBFS" if math.isfinite(level) else "silence"
