"""Input devices: their list, and an open stream of one."""

import contextlib
import math
import queue
import re
import threading
import time
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from wakeword.base.errors import AudioDeviceError
from wakeword.base.types import Samples
from wakeword.microphone.clock import Stamp
from wakeword.microphone.portaudio import PORTAUDIO, sounddevice_module

EventKind = Literal["lost", "retrying", "resumed", "paused", "dropped"]


@dataclass(frozen=True)
class DeviceEvent:
    """Something that happened to a microphone."""

    kind: EventKind
    """``lost``: the device is gone. ``retrying``: an attempt to open it again failed. ``resumed``: it delivers again.
    ``paused``: it skipped some audio but went on. ``dropped``: the consumer was too slow."""
    message: str
    """One line, for people."""
    seconds: float
    """Missing audio: until now, or in total for ``resumed``, ``paused`` and ``dropped``."""


@dataclass
class MicrophoneStats:
    """Losses of a microphone since it was made. Callbacks count them, and any thread may read them."""

    dropped_blocks: int = 0
    """Blocks lost because the consumer was too slow."""
    dropped_seconds: float = 0.0
    overflows: int = 0
    """Blocks before which the driver reported lost samples."""
    gaps: int = 0
    """Number of times that the device was gone and came back, or skipped more than 0.1 s."""
    gap_seconds: float = 0.0


@dataclass(frozen=True)
class Device:
    """An input device."""

    index: int
    name: str
    channels: int
    """The most channels that it can record."""
    sample_rate: int
    """Its native rate, Hz."""
    default: bool
    """Whether the system uses it when none is chosen."""


class Block(NamedTuple):
    """The audio of one callback."""

    samples: Samples
    """``(frames, channels)`` int16."""
    stamp: Stamp


def list_devices() -> list[Device]:
    """The input devices of this machine.

    Raises ``AudioDeviceError`` if PortAudio is not installed or does not answer.
    """
    return PORTAUDIO.call(_inputs)


NO_INPUT = "expected an input device, found none; connect a microphone or start the sound server"
"""What to say where there is no input device at all."""


def _inputs() -> list[Device]:
    """Every input device. For the PortAudio thread."""
    return [_device(info) for info in sounddevice_module().query_devices() if info["max_input_channels"] > 0]


def _device(info: dict[str, Any]) -> Device:
    return Device(
        info["index"],
        info["name"],
        channels=info["max_input_channels"],
        sample_rate=round(info["default_samplerate"]),
        default=info["index"] == sounddevice_module().default.device[0],
    )


def find_device(wanted: int | str | None, before: Device | None = None) -> Device:
    """The input device with that number or with that text in its name; ``None``: the default. For the PortAudio thread.

    ``before`` is the device that was found earlier: numbers are assigned again at each scan, so a device that was chosen
    by its number is then found by its name. Raises ``AudioDeviceError`` if there is no such device, or several.
    """
    sounddevice = sounddevice_module()
    try:
        if isinstance(wanted, int) and before is not None:
            same = [device for device in _inputs() if _stable_name(device.name) == _stable_name(before.name)]
            # If several have the same name, take the one with the old number.
            wanted = min(same, key=lambda one: one.index != wanted).index if same else before.name
        return _device(sounddevice.query_devices(wanted, "input"))
    except (ValueError, sounddevice.PortAudioError) as error:
        known = ", ".join(f"{device.index} {device.name}" for device in _inputs()) or "none"
        if wanted is None and known == "none":
            raise AudioDeviceError(NO_INPUT) from error
        what = "a default input device" if wanted is None else f"one input device {wanted!r}"
        raise AudioDeviceError(f"could not find {what}: {error}; input devices here: {known}") from error


def _stable_name(name: str) -> str:
    # ALSA appends the card's number, which changes when the device is plugged in again: "USB Mic: Audio (hw:2,0)".
    return re.sub(r" \(hw:\d+,\d+\)$", "", name)


class InputStream:
    """A device that is recording. Made and closed on the PortAudio thread; ``get`` is for another thread.

    Opened with all channels of the device if it refuses ``channels``. Raises ``AudioDeviceError`` if it cannot be opened.
    """

    def __init__(
        self, device: Device, channels: int, *, block_seconds: float, max_seconds: float, losses: MicrophoneStats
    ) -> None:
        self.device = device
        self.ended = threading.Event()
        """Set when the device has ended the stream; ``get`` still returns the blocks from before."""
        self._losses = losses
        self._queue: queue.Queue[Block] = queue.Queue(max(2, round(max_seconds / block_seconds)))
        self._frames = 0
        self._stream: Any = None
        sounddevice = sounddevice_module()
        for self.channels in dict.fromkeys((min(channels, device.channels), device.channels)):
            try:
                stream = sounddevice.InputStream(
                    device=device.index,
                    samplerate=device.sample_rate,
                    channels=self.channels,
                    # PortAudio converts wider samples, with dither: 16 bits hold more than any microphone's range
                    # above its own noise, in half the memory.
                    dtype="int16",
                    blocksize=round(block_seconds * device.sample_rate),
                    callback=self._callback,
                    finished_callback=self.ended.set,
                )
                self._start(stream)
            except sounddevice.PortAudioError as error:
                failure = error
            else:
                return
        raise AudioDeviceError(
            f"could not open '{device.name}' at {device.sample_rate} Hz with {channels} channel(s): {failure}; "
            "is it in use, or is this user not allowed to record?"
        ) from failure

    def _start(self, stream: Any) -> None:
        try:
            stream.start()
        except BaseException:
            stream.close()
            raise
        self._stream = stream
        PORTAUDIO.open_streams += 1

    def _callback(self, data: Samples, frames: int, times: Any, status: Any) -> None:
        # Runs on the driver's thread, which must never wait: copy, stamp, enqueue, count, return.
        captured, driver = time.monotonic(), times.inputBufferAdcTime
        delay = times.currentTime - driver
        if driver > 0 and -1 < delay < 60:
            captured -= delay
        else:  # a driver that gives no times
            captured, driver = captured - frames / self.device.sample_rate, math.nan
        block = Block(data.copy(), Stamp(self._frames, frames, captured, driver))
        self._frames += frames
        self._losses.overflows += bool(status.input_overflow)
        if self._queue.full():
            self._drop_oldest()
        self._queue.put_nowait(block)

    def _drop_oldest(self) -> None:
        # A tenth of the queue together: a consumer that stays too slow misses whole sentences, not a part of each word.
        with contextlib.suppress(queue.Empty):
            for _ in range(max(1, self._queue.maxsize // 10)):
                stamp = self._queue.get_nowait().stamp
                self._losses.dropped_blocks += 1
                self._losses.dropped_seconds += stamp.frames / self.device.sample_rate

    def get(self, timeout: float) -> Block:
        """The next block; raises ``queue.Empty`` if none comes within ``timeout`` seconds."""
        return self._queue.get(timeout=timeout)

    def close(self) -> None:
        """End the stream. Safe to call twice."""
        stream, self._stream = self._stream, None
        if stream is not None:
            PORTAUDIO.open_streams -= 1
            stream.close()
