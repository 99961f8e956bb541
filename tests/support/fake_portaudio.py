"""A PortAudio that the test controls."""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np


def pcm(samples: int = 960) -> np.ndarray:
    return np.random.default_rng(0).integers(-32_768, 32_768, (samples, 1), dtype=np.int16)


class FakeStream:
    """An input stream whose blocks the test delivers."""

    def __init__(
        self,
        portaudio: "FakePortAudio",
        *,
        device: int,
        channels: int,
        callback: Callable[..., None],
        finished_callback: Callable[[], None],
        **_: object,
    ) -> None:
        if channels not in portaudio.accepted:
            raise portaudio.PortAudioError("Invalid number of channels")
        self.callback, self.finish = callback, finished_callback
        self.device, self.channels = device, channels
        self.portaudio = portaudio

    def start(self) -> None:
        self.portaudio.stream = self
        self.portaudio.starting(self)

    def deliver(self, block: np.ndarray, *, overflow: bool = False) -> None:
        # A driver that gives no times reports 0.
        times = SimpleNamespace(inputBufferAdcTime=0.0, currentTime=0.0)
        self.callback(block, len(block), times, SimpleNamespace(input_overflow=overflow))
        block[:] = 0  # the driver reuses its buffer

    def close(self) -> None:
        self.portaudio.closing()
        self.portaudio.closed.append(self)


class FakePortAudio:
    """The part of sounddevice that the package uses: at first one device with 8 channels at 48 kHz."""

    class PortAudioError(Exception):
        pass

    default = SimpleNamespace(device=[0, 0])

    def __init__(self, accepted: tuple[int, ...] = (1, 2, 8)) -> None:
        self.accepted = accepted
        self.closing: Callable[[], object] = lambda: None
        self.scanning: Callable[[], object] = lambda: None
        self.starting: Callable[[FakeStream], object] = lambda stream: None
        self.closed: list[FakeStream] = []
        self.stream: FakeStream | None = None
        self.scans = 0
        self._initialized = 1
        self.plugged = self.devices = [device()]
        """The devices now, and those at the last scan."""

    def query_devices(self, device: int | str | None = None, kind: str | None = None):
        if kind is None:
            return self.devices
        found = [
            one
            for one in self.devices
            if device in (None, one["index"]) or (isinstance(device, str) and device.lower() in one["name"].lower())
        ]
        if len(found) != 1:
            raise ValueError(f"No input device matching {device!r}")
        return found[0]

    def InputStream(self, **settings) -> FakeStream:  # noqa: N802
        return FakeStream(self, **settings)

    def _terminate(self) -> None:
        assert self._initialized == 1
        self._initialized = 0

    def _initialize(self) -> None:
        self.scanning()
        self.scans += 1
        self._initialized = 1
        self.devices = self.plugged

    def _exit_handler(self) -> None: ...


def device(index: int = 0, name: str = "Fake", *, channels: int = 8, rate: int = 48_000) -> dict[str, object]:
    return {"index": index, "name": name, "max_input_channels": channels, "default_samplerate": float(rate)}
