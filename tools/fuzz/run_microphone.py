"""A detector on a microphone in real time for hours, and the audio that is lost."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.memory import resident_memory
from wakeword import Detector, Microphone, load_model

_LINE_SECONDS = 60.0
MAX_MISSING = 0.5
"""Seconds of audio that may be between the device and the detector when the clock is read."""


@dataclass(frozen=True)
class MicrophoneSoak:
    """The audio that was received, and the losses."""

    device: str
    sample_rate: int
    seconds: float
    """By the wall clock, from the first block on."""
    heard_seconds: float
    dropped_blocks: int
    overflows: int
    gaps: int
    gap_seconds: float
    detections: int
    longest_push_ms: float
    cpu_ms_per_second: float
    growth_mb: float | None
    """Resident memory at the end minus that after the first minute."""

    @property
    def faults(self) -> list[str]:
        """The losses, a line each."""
        counted = {"dropped blocks": self.dropped_blocks, "overflows": self.overflows, "gaps": self.gaps}
        found = [f"{count} {what}" for what, count in counted.items() if count]
        # The device's clock can be slower than the wall clock, by at most 200 ppm.
        if self.seconds - self.heard_seconds > MAX_MISSING + 2e-4 * self.seconds:
            found.append(f"received {self.heard_seconds:.2f} s of {self.seconds:.2f} s")
        return found


def listen(
    model: str, seconds: float, *, device: int | str | None = None, report: Callable[[str], None] = lambda line: None
) -> MicrophoneSoak:
    """Listen for ``seconds``, and count. Raises ``AudioDeviceError`` if the device is lost permanently."""
    detections, longest, settled_memory, last_reported, received = 0, 0.0, None, 0.0, 0
    with Microphone(device) as microphone:
        detector = Detector(load_model(model), sample_rate=microphone.sample_rate)
        blocks = microphone.blocks()
        next(blocks)
        cpu, began = time.process_time(), time.monotonic()
        for block in blocks:
            before = time.perf_counter()
            detections += len(detector.push(block))
            longest = max(longest, time.perf_counter() - before)
            received += len(block)
            elapsed = time.monotonic() - began
            if elapsed - last_reported >= _LINE_SECONDS:
                last_reported = elapsed
                settled_memory = settled_memory or resident_memory()
                report(
                    f"{elapsed / 60:.0f} min: {received / microphone.sample_rate:.2f} s received, {microphone.stats}"
                )
            if elapsed >= seconds:
                break
        used, stats = time.process_time() - cpu, microphone.stats
        name, rate = microphone.name, microphone.sample_rate
    memory = resident_memory()
    return MicrophoneSoak(
        device=name,
        sample_rate=rate,
        seconds=elapsed,
        heard_seconds=received / rate,
        dropped_blocks=stats.dropped_blocks,
        overflows=stats.overflows,
        gaps=stats.gaps,
        gap_seconds=stats.gap_seconds,
        detections=detections,
        longest_push_ms=1_000 * longest,
        cpu_ms_per_second=1_000 * used / elapsed,
        growth_mb=memory - settled_memory if memory is not None and settled_memory is not None else None,
    )
