"""Microphones, through PortAudio."""

import atexit
import logging
import math
import queue
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from wakeword.audio import Samples
from wakeword.errors import AudioDeviceError

logger = logging.getLogger(__name__)

# A headset that changes from music to speech needs seconds before its first block.
_FIRST_BLOCK_SECONDS = 5.0
_OPEN_SECONDS = 10.0
_CLOSE_SECONDS = 0.3
_POLL_SECONDS = 0.1


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
            what = "a default input device" if device is None else f"one input device {device!r}"
            raise AudioDeviceError(f"could not find {what}: {error}; input devices here: {known}") from error
        self.name: str = info["name"]
        self.sample_rate = round(info["default_samplerate"])
        self.channels = min(channels, info["max_input_channels"])
        self.dropped_blocks = 0
        """Blocks that came while the queue was full, and were lost."""
        self.overflows = 0
        """Blocks before which the driver itself had lost samples."""
        self._index: int = info["index"]
        self._most_channels: int = info["max_input_channels"]
        self._watchdog = watchdog
        self._block = round(block_seconds * self.sample_rate)
        self._queue: queue.Queue[Samples] = queue.Queue(max(2, round(max_seconds / block_seconds)))
        self._ended = threading.Event()
        self._delivered = False
        self._stream: Any = None

    def _callback(self, data: Samples, frames: int, time: object, status: Any) -> None:
        # Runs on the driver's thread, which must never wait: copy, enqueue, count, return.
        if status.input_overflow:
            self.overflows += 1
        try:
            self._queue.put_nowait(data.copy())
        except queue.Full:
            self.dropped_blocks += 1

    def __enter__(self) -> "Microphone":
        self._queue = queue.Queue(self._queue.maxsize)
        self._ended.clear()
        self._delivered = False
        for channels in dict.fromkeys((self.channels, self._most_channels)):
            try:
                self._stream = _within(_OPEN_SECONDS, partial(self._start, channels))
            except queue.Empty:
                self._never_terminate()
                raise AudioDeviceError(
                    f"'{self.name}' did not open within {_OPEN_SECONDS:g} s; does the sound server hang?"
                ) from None
            except self._sd.PortAudioError as error:
                failure = error
            else:
                self.channels = channels
                return self
        raise AudioDeviceError(
            f"could not open '{self.name}' at {self.sample_rate} Hz with {self.channels} channel(s): {failure}; "
            "is it in use, or may this user not record?"
        ) from failure

    def _start(self, channels: int) -> Any:
        stream = self._sd.InputStream(
            device=self._index,
            samplerate=self.sample_rate,
            channels=channels,
            dtype="int16",
            blocksize=self._block,
            callback=self._callback,
            finished_callback=self._ended.set,
        )
        try:
            stream.start()
        except self._sd.PortAudioError:
            stream.close()
            raise
        return stream

    def blocks(self) -> Iterator[Samples]:
        """Blocks of ``(samples, channels)`` int16, until ``close`` is called.

        Raises ``AudioDeviceError`` if the microphone is not open, ends its stream, or delivers nothing for the
        watchdog's time.
        """
        if self._stream is None:
            raise AudioDeviceError("expected an open microphone, got a closed one; use it inside a with statement")
        while (block := self._next()) is not None:
            yield block

    def _next(self) -> Samples | None:
        """The next block, or ``None`` if the microphone was closed meanwhile."""
        patience = self._watchdog if self._delivered else max(self._watchdog, _FIRST_BLOCK_SECONDS)
        # Waits are counted, not clocked: a process that was stopped for a while has not missed the device.
        for _ in range(math.ceil(patience / _POLL_SECONDS)):
            try:
                block = self._queue.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                if self._stream is None:
                    return None
                if self._ended.is_set():
                    raise AudioDeviceError(f"'{self.name}' has ended its stream; was it unplugged?") from None
            else:
                self._delivered = True
                return block
        raise AudioDeviceError(f"'{self.name}' has delivered no audio for {patience:g} s; is it still connected?")

    def close(self) -> None:
        """Close the device; never waits long, even if its driver hangs. Safe to call twice."""
        stream, self._stream = self._stream, None
        if stream is None:
            return
        try:
            _within(_CLOSE_SECONDS, stream.close)
        except queue.Empty:
            logger.info("'%s' did not close within %g s; it is left open", self.name, _CLOSE_SECONDS)
            self._never_terminate()

    def _never_terminate(self) -> None:
        # At exit sounddevice closes PortAudio, which would wait for the hanging driver once more, and for ever.
        atexit.unregister(self._sd._exit_handler)

    def __exit__(self, *exc: object) -> None:
        self.close()


def _within(seconds: float, call: Callable[[], Any]) -> Any:
    """What ``call`` returns or raises; ``queue.Empty`` if that takes longer. PortAudio waits for a hanging driver for
    ever, with the interpreter's signals held back, so such calls get a thread that may be left behind."""
    results: queue.SimpleQueue[tuple[Any, Exception | None]] = queue.SimpleQueue()

    def work() -> None:
        try:
            results.put((call(), None))
        except Exception as error:
            results.put((None, error))

    threading.Thread(target=work, name="wakeword-portaudio", daemon=True).start()
    result, error = results.get(timeout=seconds)
    if error is not None:
        raise error
    return result
