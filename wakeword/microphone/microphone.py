"""Microphones: a device as a source of audio that continues after the device was lost."""

import logging
import math
import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from dataclasses import replace
from functools import partial
from typing import Self

import numpy as np
import soxr

from wakeword.audio.pcm import MAX_CHANNELS
from wakeword.base.checks import flag, function, integer, number
from wakeword.base.closable import Closable
from wakeword.base.errors import AudioDeviceError, ConfigError
from wakeword.base.types import Samples
from wakeword.microphone.clock import StreamClock
from wakeword.microphone.device import (
    Block,
    Device,
    DeviceEvent,
    EventKind,
    InputStream,
    MicrophoneStats,
    find_device,
    list_devices,
)
from wakeword.microphone.portaudio import PORTAUDIO, leave_open_at_exit

__all__ = ["DeviceEvent", "EventKind", "Microphone", "MicrophoneStats", "list_devices"]

logger = logging.getLogger(__name__)

# A headset that changes from music to speech needs seconds before its first block.
_FIRST_BLOCK_SECONDS = 5.0
_CLOSE_SECONDS = 0.3
_POLL_SECONDS = 0.1
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
# Longer than the window of any usual model, so that no window contains both sides of a gap.
_MAX_SILENCE = 2.0


class Microphone(Closable):
    """An input device, at its native sample rate. A context manager: the device is open inside ``with``.

    ``device`` is a number, a part of a name, or ``None`` for the system's default. ``channels`` is the number requested
    from the device; a device that does not support it is opened with all its channels. ``watchdog`` is the time, in
    seconds, after which a device that delivers no blocks counts as gone: a microphone that is disconnected can simply
    stop, with no callback and no error. If the consumer is too slow, the last ``max_seconds`` of audio are kept.

    With ``reconnect``, a device that goes away is waited for without limit, and ``blocks`` continues when it is back.
    Every attempt restarts PortAudio, which ends all streams that this process has opened through PortAudio other than
    by ``Microphone``. ``on_event`` is called with losses, on the thread that iterates over ``blocks``.

    Raises ``AudioDeviceError`` if PortAudio or the device is missing or cannot be opened, and, without ``reconnect``,
    from ``blocks`` when the device goes away.
    """

    is_live = True
    """What it delivers is heard now: a playback that has this goes on with the newest after a microphone has lost audio."""

    def __init__(
        self,
        device: int | str | None = None,
        *,
        channels: int = 1,
        block_seconds: float = 0.02,
        max_seconds: float = 10.0,
        watchdog: float = 2.0,
        reconnect: bool = False,
        on_event: Callable[[DeviceEvent], None] | None = None,
    ) -> None:
        if isinstance(device, bool) or not isinstance(device, (int, str, type(None))):
            raise ConfigError(f"expected the number of a device, a part of its name, or None, got {device!r:.80}")
        integer(channels, "a number of channels", 1, MAX_CHANNELS)
        number(block_seconds, "the length of a block", 0.001, 10, unit=" seconds")
        number(max_seconds, "the audio to keep", block_seconds, 3_600, unit=" seconds")
        number(watchdog, "the time of the watchdog", 0, 86_400, unit=" seconds", above=True)
        flag(reconnect, "reconnect")
        function(on_event, "on_event")
        self._wanted = device
        self._block_seconds = block_seconds
        self._max_seconds = max_seconds
        self._watchdog = watchdog
        self._reconnect = reconnect
        self._on_event = on_event
        self._device = PORTAUDIO.call(lambda: find_device(device))
        self.name = self._device.name
        self.sample_rate = self._device.sample_rate
        """Sample rate of all blocks, Hz, even if the device comes back at another rate."""
        self.channels = min(channels, self._device.channels)
        """Channels of all blocks, once the microphone is open."""
        self._stats = MicrophoneStats()
        self._clock = StreamClock(self.sample_rate)
        self._closed = threading.Event()
        self._closed.set()

    @property
    def stats(self) -> MicrophoneStats:
        """All that has been counted until now; may be read by any thread."""
        return replace(self._stats)

    def __enter__(self) -> Self:
        stream = PORTAUDIO.call(partial(self._open, self._device), undo=InputStream.close)
        self.channels = stream.channels
        self._closed.clear()
        self._captured_until = time.monotonic()
        self._use(stream)
        return self

    def _open(self, device: Device) -> InputStream:
        return InputStream(
            device, self.channels, block_seconds=self._block_seconds, max_seconds=self._max_seconds, losses=self._stats
        )

    def _reopen(self, gone: InputStream) -> InputStream:
        gone.close()
        PORTAUDIO.rescan()
        return self._open(find_device(self._wanted, self._device))

    def _use(self, stream: InputStream) -> None:
        # Without a lock, on which a signal handler could deadlock: ``close`` sets the event before it reads the stream.
        self._stream = stream
        if self._closed.is_set():
            PORTAUDIO.submit(stream.close)
        self._delivered = False
        self._device = stream.device
        self.name = stream.device.name
        rate = stream.device.sample_rate
        self._clock = StreamClock(rate)
        self._resampler = (
            None
            if rate == self.sample_rate
            else soxr.ResampleStream(rate, self.sample_rate, self.channels, dtype="int16")
        )

    def blocks(self) -> Iterator[Samples]:
        """Blocks of ``(samples, channels)`` int16, until ``close`` is called.

        Missing audio is replaced by silence of the same length, but at most 2 s, and by 2 s after the device was gone: so
        no window of a shorter model contains speech from both before and after the gap.

        Raises ``AudioDeviceError`` if the microphone is not open and, without ``reconnect``, if the device ends its stream
        or delivers nothing for the watchdog's time.
        """
        if self._closed.is_set():
            raise AudioDeviceError("expected an open microphone, got a closed one; use it inside a with statement")
        while True:
            silence = _MAX_SILENCE
            try:
                block = self._next()
            except AudioDeviceError as loss:
                if not self._reconnect:
                    raise
                block = self._resumed(loss)
            else:
                silence = 0.0 if block is None else self._missing(block)
            if block is None:
                return
            if silence:
                frames = round(silence * self._device.sample_rate)
                yield self._fitted(np.zeros((frames, self._stream.channels), block.samples.dtype))
            yield self._fitted(block.samples)

    def _next(self) -> Block | None:
        """The next block, or ``None`` if the microphone was closed."""
        stream = self._stream
        limit = self._watchdog if self._delivered else max(self._watchdog, _FIRST_BLOCK_SECONDS)
        # Waits are counted, not timed: a process that was stopped for a while must not count as a lost device.
        for _ in range(math.ceil(limit / _POLL_SECONDS)):
            ended = stream.ended.is_set()
            try:
                block = stream.get(_POLL_SECONDS)
            except queue.Empty:
                block = None
            if self._closed.is_set():
                return None
            if block is not None:
                self._delivered = True
                return block
            if ended:
                raise AudioDeviceError(f"'{self.name}' has ended its stream; was it unplugged?")
        raise AudioDeviceError(f"'{self.name}' has delivered no audio for {limit:g} s; is it still connected?")

    def _missing(self, block: Block) -> float:
        """Count and report audio missing before this block; return the seconds of silence to insert for it."""
        dropped, paused = self._clock.missing(block.stamp)
        self._captured_until = block.stamp.captured + block.stamp.frames / self._device.sample_rate
        if paused:
            self._stats.gaps += 1
            self._stats.gap_seconds += paused
            self._report("paused", f"'{self.name}' has skipped {paused:.1f} s of audio", paused)
        if dropped:
            self._report("dropped", f"{dropped:.1f} s of audio were dropped; this program reads too slowly", dropped)
        return min(dropped + paused, _MAX_SILENCE)

    def _resumed(self, loss: AudioDeviceError) -> Block | None:
        """Try until the device delivers again; return its first block, or ``None`` if the microphone was closed."""
        captured_until = self._captured_until
        pause = _FIRST_PAUSE
        self._report("lost", str(loss), time.monotonic() - captured_until)
        while not self._closed.wait(pause):
            pause = min(2 * pause, _LONGEST_PAUSE)
            try:
                again = partial(self._reopen, self._stream)
                self._use(PORTAUDIO.call(again, cancelled=self._closed, undo=InputStream.close))
                block = self._next()
            except AudioDeviceError as error:
                if not self._closed.is_set():
                    message = f"{error}; trying again in {pause:g} s"
                    self._report("retrying", message, time.monotonic() - captured_until)
                continue
            if block is not None:
                self._missing(block)
                gap = max(0.0, block.stamp.captured - captured_until)
                self._stats.gaps += 1
                self._stats.gap_seconds += gap
                self._report("resumed", f"'{self.name}' is back after {gap:.1f} s", gap)
            return block
        return None

    def _report(self, kind: EventKind, message: str, seconds: float) -> None:
        if self._on_event is not None:
            self._on_event(DeviceEvent(kind, message, seconds))

    def _fitted(self, samples: Samples) -> Samples:
        """``(n, channels)`` as the device gives it -> the same at the rate and channels of this microphone."""
        if samples.shape[1] != self.channels:
            # A device can come back with another number of channels: drop the extra ones, repeat to fill missing ones.
            samples = np.take(samples, np.arange(self.channels) % samples.shape[1], axis=1)
        if self._resampler is not None:
            samples = self._resampler.resample_chunk(samples)
        return samples

    def close(self) -> None:
        """Close the device and end ``blocks``; never waits long, even if its driver hangs. Safe to call twice, from any
        thread, and in a signal handler."""
        if self._closed.is_set():
            return
        self._closed.set()
        if not wait([PORTAUDIO.submit(self._stream.close)], _CLOSE_SECONDS).done:
            logger.info("'%s' did not close within %g s; it is left open", self.name, _CLOSE_SECONDS)
            leave_open_at_exit()
