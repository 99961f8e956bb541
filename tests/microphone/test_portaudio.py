"""``Microphone`` over a PortAudio that is played by the test."""

import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from wakeword import AudioDeviceError, Microphone
from wakeword.microphone import list_devices


def pcm(samples: int = 960) -> np.ndarray:
    return np.random.default_rng(0).integers(-32_768, 32_768, (samples, 1), dtype=np.int16)


class FakeStream:
    """An input stream whose blocks the test delivers."""

    def __init__(self, portaudio: "FakePortAudio", channels: int, callback, finished_callback, **_: object) -> None:
        if channels not in portaudio.accepted:
            raise portaudio.PortAudioError("Invalid number of channels")
        self.callback, self.finish = callback, finished_callback
        self.closing = portaudio.closing
        portaudio.stream = self

    def start(self) -> None: ...

    def deliver(self, block: np.ndarray, *, overflow: bool = False) -> None:
        self.callback(block, len(block), None, SimpleNamespace(input_overflow=overflow))
        block[:] = 0  # the driver uses its buffer again

    def close(self) -> None:
        self.closing()


class FakePortAudio:
    """What ``Microphone`` uses of sounddevice: one device with 8 channels at 48 kHz."""

    class PortAudioError(Exception):
        pass

    default = SimpleNamespace(device=[0, 0])

    def __init__(self, accepted: tuple[int, ...] = (1, 2, 8)) -> None:
        self.accepted = accepted
        self.closing = lambda: None
        self.stream: FakeStream | None = None

    def query_devices(self, device: int | str | None = None, kind: str | None = None):
        info = {"name": "Fake", "index": 0, "max_input_channels": 8, "default_samplerate": 48_000.0}
        if kind is None:
            return [info]
        if device not in (None, 0, "fake"):
            raise ValueError(f"No input device matching {device!r}")
        return info

    def InputStream(self, **settings) -> FakeStream:  # noqa: N802
        return FakeStream(self, **settings)

    def _exit_handler(self) -> None: ...


@pytest.fixture
def portaudio(monkeypatch: pytest.MonkeyPatch) -> FakePortAudio:
    fake = FakePortAudio()
    monkeypatch.setitem(sys.modules, "sounddevice", fake)
    return fake


def test_blocks_come_out_as_they_went_in(portaudio: FakePortAudio) -> None:
    delivered = [pcm() for _ in range(3)]
    with Microphone() as microphone:
        for block in delivered:
            portaudio.stream.deliver(block.copy())
        blocks = microphone.blocks()
        for block in delivered:
            np.testing.assert_array_equal(next(blocks), block)
    assert (microphone.sample_rate, microphone.dropped_blocks, microphone.overflows) == (48_000, 0, 0)


def test_what_nobody_takes_is_dropped_and_counted(portaudio: FakePortAudio) -> None:
    with Microphone(block_seconds=0.02, max_seconds=0.1) as microphone:
        for number in range(8):
            portaudio.stream.deliver(pcm(), overflow=number == 3)
        assert (microphone.dropped_blocks, microphone.overflows) == (3, 1)


def test_silence_of_the_driver_is_an_error_after_the_watchdogs_time(portaudio: FakePortAudio) -> None:
    with Microphone(watchdog=0.3) as microphone:
        portaudio.stream.deliver(pcm())
        blocks = microphone.blocks()
        next(blocks)
        started = time.monotonic()
        with pytest.raises(AudioDeviceError, match=r"no audio for 0\.3 s"):
            next(blocks)
        assert 0.25 < time.monotonic() - started < 2


def test_a_stream_that_ends_is_an_error_after_its_last_block(portaudio: FakePortAudio) -> None:
    with Microphone() as microphone:
        portaudio.stream.deliver(pcm())
        portaudio.stream.finish()
        blocks = microphone.blocks()
        next(blocks)
        with pytest.raises(AudioDeviceError, match="ended its stream"):
            next(blocks)


def test_closing_ends_the_blocks(portaudio: FakePortAudio) -> None:
    microphone = Microphone()
    with microphone:
        portaudio.stream.deliver(pcm())
        threading.Timer(0.2, microphone.close).start()
        assert len(list(microphone.blocks())) == 1
    with pytest.raises(AudioDeviceError, match="open microphone"):
        next(microphone.blocks())


def test_a_microphone_opened_again_has_forgotten_the_first_time(portaudio: FakePortAudio) -> None:
    with Microphone() as microphone:
        portaudio.stream.deliver(pcm())
        portaudio.stream.finish()
    second = pcm(10)
    with microphone:
        portaudio.stream.deliver(second.copy())
        np.testing.assert_array_equal(next(microphone.blocks()), second)


def test_closing_a_driver_that_hangs_does_not_hang(portaudio: FakePortAudio) -> None:
    portaudio.closing = lambda: time.sleep(5)
    started = time.monotonic()
    with Microphone():
        pass
    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    ("accepted", "wanted", "opened"), [((1, 2, 8), 1, 1), ((1, 2, 8), 2, 2), ((8,), 1, 8), ((1, 8), 99, 8)]
)
def test_a_device_that_refuses_few_channels_is_opened_with_all(
    portaudio: FakePortAudio, accepted: tuple[int, ...], wanted: int, opened: int
) -> None:
    portaudio.accepted = accepted
    with Microphone(channels=wanted) as microphone:
        assert microphone.channels == opened


def test_a_device_that_cannot_be_opened_or_found_is_an_error(portaudio: FakePortAudio) -> None:
    portaudio.accepted = ()
    with pytest.raises(AudioDeviceError, match="Invalid number of channels"), Microphone():
        pass
    with pytest.raises(AudioDeviceError, match=r"could not find one input device 'other'.*: 0 Fake"):
        Microphone("other")


def test_devices_are_listed_with_the_default_marked(portaudio: FakePortAudio) -> None:
    assert list_devices() == [{"index": 0, "name": "Fake", "channels": 8, "sample_rate": 48_000, "default": True}]


def test_without_portaudio_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    class Missing:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "sounddevice":
                raise OSError("PortAudio library not found")

    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    with pytest.raises(AudioDeviceError, match="apt install libportaudio2"):
        Microphone()
