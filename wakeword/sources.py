"""Where audio comes from: a microphone, a file, standard input."""

import queue
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np

from wakeword.audio import SAMPLE_RATE, AudioFile, Samples
from wakeword.errors import AudioDeviceError, AudioFormatError


class AudioSource(Protocol):
    """Anything that gives blocks of PCM at a fixed rate."""

    @property
    def sample_rate(self) -> int:
        """Samples per second of the blocks."""
        ...

    def blocks(self) -> Iterator[Samples]:
        """Blocks of ``(samples,)`` or ``(samples, channels)``, int16, int32 or float32, until the source ends."""
        ...


class FileSource:
    """An audio file, as fast as it can be read. Raises ``AudioFileError`` if it cannot be."""

    def __init__(self, path: Path | str) -> None:
        with AudioFile(path) as file:
            self.sample_rate = file.sample_rate
        self.path = Path(path)

    def blocks(self) -> Iterator[Samples]:
        """Blocks of ``(samples, channels)`` float32."""
        with AudioFile(self.path) as file:
            yield from file.blocks()


class StdinSource:
    """Raw PCM from standard input or any binary stream: interleaved little-endian int16."""

    def __init__(self, *, sample_rate: int = SAMPLE_RATE, channels: int = 1, stream: BinaryIO | None = None) -> None:
        if channels < 1:
            raise AudioFormatError(f"expected at least one channel, got {channels}")
        self.sample_rate = sample_rate
        self.channels = channels
        self._stream = stream or sys.stdin.buffer

    def blocks(self) -> Iterator[Samples]:
        """Blocks of ``(samples, channels)`` int16, each as soon as the writer has written some of it."""
        width = 2 * self.channels
        # read1 returns what is there; plain read would hold live audio back until a block is full.
        read = getattr(self._stream, "read1", self._stream.read)
        rest = b""
        while data := read(4096 * width):
            data = rest + data
            whole = len(data) - len(data) % width
            rest = data[whole:]
            if whole:
                yield np.frombuffer(data[:whole], "<i2").reshape(-1, self.channels)


def _sounddevice() -> Any:
    """The sounddevice module, which loads PortAudio when it is imported."""
    try:
        import sounddevice
    except OSError as error:
        raise AudioDeviceError(
            f"the PortAudio library is missing ({error}); install it, on Debian or Ubuntu: apt install libportaudio2"
        ) from error
    return sounddevice


def list_devices() -> list[dict[str, Any]]:
    """Input devices: ``index``, ``name``, ``channels``, ``sample_rate``, ``default``.

    Raises ``AudioDeviceError`` if PortAudio is not installed.
    """
    sounddevice = _sounddevice()
    default = sounddevice.default.device[0]
    return [
        {
            "index": index,
            "name": device["name"],
            "channels": device["max_input_channels"],
            "sample_rate": round(device["default_samplerate"]),
            "default": index == default,
        }
        for index, device in enumerate(sounddevice.query_devices())
        if device["max_input_channels"] > 0
    ]


class Microphone:
    """An input device, at its native sample rate. A context manager: the device is open inside ``with``.

    ``device`` is a number, a part of a name, or ``None`` for the system's default. ``channels`` is what is asked of
    the device; one that cannot give it is opened with all that it has. ``watchdog`` is the silence, in seconds,
    after which a device that delivers no blocks counts as gone: a microphone that vanishes may simply stop, with
    no callback and no error. Audio that the consumer is too slow for is dropped beyond ``max_seconds`` and counted.

    Raises ``AudioDeviceError`` if PortAudio is missing, the device is not there or cannot be opened, and from
    ``blocks`` when it goes away.
    """

    def __init__(
        self,
        device: int | str | None = None,
        *,
        channels: int = 1,
        block_seconds: float = 0.02,
        max_seconds: float = 10.0,
        watchdog: float = 2.0,
    ) -> None:
        self._sd = _sounddevice()
        try:
            info = self._sd.query_devices(device, "input")
        except (ValueError, self._sd.PortAudioError) as error:
            known = ", ".join(f"{d['index']} {d['name']}" for d in list_devices()) or "none"
            what = "a default input device" if device is None else f"an input device {device!r}"
            raise AudioDeviceError(f"expected {what}, found none ({error}); input devices here: {known}") from error
        self.name: str = info["name"]
        self.sample_rate = round(info["default_samplerate"])
        self.channels = min(channels, info["max_input_channels"])
        self.dropped_blocks = 0
        """Blocks that came while the queue was full, and were lost."""
        self.overflows = 0
        """Blocks before which the driver itself had lost samples."""
        self._index = info["index"]
        self._watchdog = watchdog
        self._block = round(block_seconds * self.sample_rate)
        self._queue: queue.Queue[Samples | None] = queue.Queue(max(2, round(max_seconds / block_seconds)))
        self._ended = threading.Event()
        self._stream: Any = None

    def _callback(self, data: Samples, frames: int, time: object, status: Any) -> None:
        # Runs on the driver's thread, which must never wait: copy, enqueue, count, return.
        if status.input_overflow:
            self.overflows += 1
        try:
            self._queue.put_nowait(data.copy())
        except queue.Full:
            self.dropped_blocks += 1

    def _finished(self) -> None:
        self._ended.set()

    def __enter__(self) -> "Microphone":
        for channels in dict.fromkeys((self.channels, self._sd.query_devices(self._index)["max_input_channels"])):
            try:
                self._stream = self._sd.InputStream(
                    device=self._index,
                    samplerate=self.sample_rate,
                    channels=channels,
                    dtype="int16",
                    blocksize=self._block,
                    callback=self._callback,
                    finished_callback=self._finished,
                )
                self._ended.clear()
                self._stream.start()
            except self._sd.PortAudioError as error:
                failure = error
                self.close()
            else:
                self.channels = channels
                return self
        raise AudioDeviceError(
            f"could not open '{self.name}' at {self.sample_rate} Hz with {self.channels} channel(s): {failure}; "
            "is it in use, or may this user not record?"
        ) from failure

    def blocks(self) -> Iterator[Samples]:
        """Blocks of ``(samples, channels)`` int16, for ever."""
        if self._stream is None:
            raise AudioDeviceError("expected an open microphone, got a closed one; use it inside a with statement")
        while True:
            try:
                yield self._wait()
            except queue.Empty:
                raise AudioDeviceError(
                    f"'{self.name}' has delivered no audio for {self._watchdog:g} s; is it still connected?"
                ) from None

    def _wait(self) -> Samples:
        """The next block. ``queue.Empty`` after the watchdog's time, ``AudioDeviceError`` if the stream has ended."""
        slices = max(1, round(self._watchdog / 0.1))
        for remaining in reversed(range(slices)):
            try:
                block = self._queue.get(timeout=self._watchdog / slices)
            except queue.Empty:
                if self._ended.is_set():
                    raise AudioDeviceError(f"'{self.name}' has ended its stream; was it unplugged?") from None
                if remaining == 0:
                    raise
            else:
                assert block is not None
                return block
        raise queue.Empty

    def close(self) -> None:
        """Close the device. Safe to call twice."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()

    def __exit__(self, *exc: object) -> None:
        self.close()
