"""``Microphone`` with a PortAudio that the test controls."""

import sys
import threading
import time

import numpy as np
import pytest
from support.fake_portaudio import FakePortAudio, device, pcm

from wakeword import AudioDeviceError, Device, Microphone, list_devices


def test_blocks_are_delivered_unchanged(portaudio: FakePortAudio) -> None:
    delivered = [pcm() for _ in range(3)]
    with Microphone() as microphone:
        for block in delivered:
            portaudio.stream.deliver(block.copy())
        blocks = microphone.blocks()
        for block in delivered:
            np.testing.assert_array_equal(next(blocks), block)
    assert (microphone.sample_rate, microphone.stats.dropped_blocks, microphone.stats.overflows) == (48_000, 0, 0)


def test_unread_blocks_are_dropped_and_counted(portaudio: FakePortAudio) -> None:
    with Microphone(block_seconds=0.02, max_seconds=0.1) as microphone:
        for number in range(8):
            portaudio.stream.deliver(pcm(), overflow=number == 3)
        assert (microphone.stats.dropped_blocks, microphone.stats.overflows) == (3, 1)


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


def test_a_microphone_opened_again_starts_from_the_beginning(portaudio: FakePortAudio) -> None:
    with Microphone() as microphone:
        portaudio.stream.deliver(pcm())
        portaudio.stream.finish()
    second = pcm(10)
    with microphone:
        portaudio.stream.deliver(second.copy())
        np.testing.assert_array_equal(next(microphone.blocks()), second)


def test_closing_a_driver_that_hangs_does_not_hang(portaudio: FakePortAudio) -> None:
    answer = threading.Event()
    portaudio.closing = lambda: answer.wait(10)
    started = time.monotonic()
    with Microphone():
        pass
    assert time.monotonic() - started < 2
    answer.set()


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
    portaudio.devices = [device(), device(1, "Loudspeaker", channels=0), device(2, "Headset", channels=1, rate=16_000)]
    assert list_devices() == [
        Device(0, "Fake", channels=8, sample_rate=48_000, default=True),
        Device(2, "Headset", channels=1, sample_rate=16_000, default=False),
    ]


def test_without_portaudio_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    class Missing:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "sounddevice":
                raise OSError("PortAudio library not found")

    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    with pytest.raises(AudioDeviceError, match="apt install libportaudio2"):
        Microphone()
