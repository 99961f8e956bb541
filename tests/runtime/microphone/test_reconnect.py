"""A microphone that is lost and comes back, and a program that is too slow for it, with a simulated PortAudio."""

import re
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from support.fake_portaudio import FakePortAudio, FakeStream, device, pcm

from wakeword import AudioDeviceError, Microphone
from wakeword.microphone import microphone as module
from wakeword.microphone import portaudio as calls
from wakeword.microphone.microphone import DeviceEvent

SILENT = 96_000
"""Samples of silence that replace a gap, at 48 kHz."""


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorter pauses between attempts than in real use."""
    monkeypatch.setattr(module, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(module, "_LONGEST_PAUSE", 0.04)


@pytest.fixture
def events() -> list[DeviceEvent]:
    return []


def kinds(events: list[DeviceEvent]) -> list[str]:
    return [event.kind for event in events]


def delivering(*blocks: np.ndarray) -> Callable[[FakeStream], None]:
    """A function that makes a stream deliver these blocks as soon as it is started."""

    def start(stream: FakeStream) -> None:
        for block in blocks:
            stream.deliver(block.copy())

    return start


def after_a_loss(portaudio: FakePortAudio, microphone: Microphone) -> Iterator[np.ndarray]:
    """The blocks of an open microphone whose device has delivered one block and then ended its stream."""
    portaudio.stream.deliver(pcm())
    blocks = microphone.blocks()
    next(blocks)
    portaudio.stream.finish()
    return blocks


@pytest.mark.parametrize("how", ["ended", "silent"])
def test_a_gap_is_replaced_by_silence_and_followed_by_the_audio_after_it(
    portaudio: FakePortAudio, events: list[DeviceEvent], how: str
) -> None:
    back = pcm(500)
    threads = set()

    def note(event: DeviceEvent) -> None:
        threads.add(threading.current_thread())
        events.append(event)

    with Microphone(reconnect=True, watchdog=0.3, on_event=note) as microphone:
        first = portaudio.stream
        first.deliver(pcm())
        blocks = microphone.blocks()
        next(blocks)
        portaudio.starting = delivering(back)
        if how == "ended":
            first.finish()
        silence = next(blocks)
        assert (silence.shape, silence.dtype, silence.any()) == ((SILENT, 1), np.int16, False)
        np.testing.assert_array_equal(next(blocks), back)
        assert portaudio.closed == [first]
        assert kinds(events) == ["lost", "resumed"]
        assert threads == {threading.current_thread()}
        stats = microphone.stats
        assert (stats.gaps, stats.gap_seconds) == (1, events[-1].seconds)
        assert (0.2 if how == "silent" else 0.0) < stats.gap_seconds < 2


def test_a_device_that_is_unplugged_is_looked_for_until_it_is_found(
    portaudio: FakePortAudio, events: list[DeviceEvent]
) -> None:
    def note(event: DeviceEvent) -> None:
        events.append(event)
        if len(events) == 5:
            portaudio.plugged = [device()]

    with Microphone("fake", reconnect=True, on_event=note) as microphone:
        blocks = after_a_loss(portaudio, microphone)
        portaudio.plugged = []
        portaudio.starting = delivering(pcm())
        next(blocks)
    assert kinds(events) == ["lost", "retrying", "retrying", "retrying", "retrying", "resumed"]
    # The pause doubles, up to a limit.
    pauses = [re.findall(r"could not find .*; trying again in (\S+) s", event.message) for event in events[1:5]]
    assert pauses == [["0.02"], ["0.04"], ["0.04"], ["0.04"]]
    missing = [event.seconds for event in events]
    assert missing == sorted(missing)


@pytest.mark.parametrize(
    ("wanted", "back"),
    [
        (1, [device(0, "New: USB (hw:0,0)"), device(4, "Mine: USB (hw:3,0)")]),
        ("mine", [device(0, "New: USB (hw:0,0)"), device(4, "Mine: USB (hw:3,0)")]),
        # Of two with the same name, the one with the old number.
        (1, [device(0, "Mine: USB (hw:3,0)"), device(1, "Mine: USB (hw:2,0)")]),
    ],
)
def test_a_device_is_found_again_at_another_number(
    portaudio: FakePortAudio, wanted: int | str, back: list[dict[str, object]]
) -> None:
    portaudio.devices = [device(0, "Other"), device(1, "Mine: USB (hw:1,0)")]
    with Microphone(wanted, reconnect=True) as microphone:
        blocks = after_a_loss(portaudio, microphone)
        portaudio.plugged = back
        portaudio.starting = delivering(pcm())
        next(blocks)
        assert portaudio.stream.device == back[1]["index"]
        assert microphone.name == back[1]["name"]


def test_another_device_with_the_old_number_is_not_used(portaudio: FakePortAudio, events: list[DeviceEvent]) -> None:
    def note(event: DeviceEvent) -> None:
        events.append(event)
        if event.kind == "retrying":
            microphone.close()

    with Microphone(0, reconnect=True, on_event=note) as microphone:
        blocks = after_a_loss(portaudio, microphone)
        portaudio.plugged = [device(0, "Other")]
        assert list(blocks) == []
    assert "could not find one input device 'Fake'" in events[-1].message


@pytest.mark.parametrize("rate", [8_000, 44_100, 96_000])
def test_a_device_may_come_back_at_another_rate(portaudio: FakePortAudio, rate: int) -> None:
    """The blocks keep their sample rate: a tone keeps its pitch and its level."""
    tone = np.round(8_000 * np.sin(2 * np.pi * 1_000 * np.arange(2 * rate) / rate)).astype(np.int16)[:, None]
    with Microphone(reconnect=True) as microphone:
        blocks = after_a_loss(portaudio, microphone)
        portaudio.plugged = [device(rate=rate)]
        portaudio.starting = delivering(*np.split(tone, 100))
        heard = np.zeros((0, 1), np.int16)
        while len(heard) < SILENT + 80_000:
            heard = np.concatenate([heard, next(blocks)])
        assert microphone.sample_rate == 48_000
    assert abs(heard[: SILENT - 2_000]).max() <= 1  # soxr dithers, and rings ahead of a sound
    middle = heard[SILENT + 4_800 : SILENT + 52_800, 0].astype(float)
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle))))
    assert np.argmax(spectrum) == 1_000
    assert 7_900 < middle.max() < 8_100
    spectrum[990:1_011] = 0
    assert spectrum.max() < 1e-3 * 8_000 * len(middle) / 4


def test_a_device_may_come_back_with_other_channels(portaudio: FakePortAudio) -> None:
    mono, many = pcm(8), np.arange(64, dtype=np.int16).reshape(8, 8)
    with Microphone(channels=2, reconnect=True) as microphone:
        for channels, delivered, expected in [(1, mono, mono[:, [0, 0]]), (8, many, many[:, :2])]:
            portaudio.stream.deliver(np.zeros((10, portaudio.stream.channels), np.int16))
            blocks = microphone.blocks()
            next(blocks)
            portaudio.stream.finish()
            portaudio.accepted = (channels,)
            portaudio.plugged = [device(channels=channels)]
            portaudio.starting = delivering(delivered)
            assert next(blocks).shape == (SILENT, 2)
            np.testing.assert_array_equal(next(blocks), expected)


def test_an_attempt_does_not_affect_other_microphones(portaudio: FakePortAudio) -> None:
    """A scan would close their streams; while one is open, the device is opened again without a scan."""
    portaudio.starting = delivering(pcm())
    with Microphone() as other, Microphone(reconnect=True) as microphone:
        blocks = microphone.blocks()
        next(blocks)
        portaudio.stream.finish()
        next(blocks)
        assert portaudio.scans == 0
        other.close()
        next(blocks)
        portaudio.stream.finish()
        next(blocks)
        assert portaudio.scans == 1


def test_closing_ends_the_wait_for_a_device(portaudio: FakePortAudio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FIRST_PAUSE", 60.0)
    with Microphone(reconnect=True) as microphone:
        blocks = after_a_loss(portaudio, microphone)
        threading.Timer(0.2, microphone.close).start()
        started = time.monotonic()
        assert list(blocks) == []
        assert time.monotonic() - started < 0.2 + 0.5


def test_closing_ends_the_wait_for_a_driver_that_hangs(portaudio: FakePortAudio, events: list[DeviceEvent]) -> None:
    answers, hangs = threading.Event(), threading.Event()
    portaudio.scanning = lambda: (hangs.set(), answers.wait(20))
    with Microphone(reconnect=True, on_event=events.append) as microphone:
        blocks = after_a_loss(portaudio, microphone)
        ended: list[float] = []
        consumer = threading.Thread(target=lambda: (list(blocks), ended.append(time.monotonic())))
        consumer.start()
        assert hangs.wait(5)
        started = time.monotonic()
        microphone.close()
        consumer.join(5)
        assert ended[0] - started < 0.5
    assert kinds(events) == ["lost"]
    first = portaudio.stream
    answers.set()
    calls.PORTAUDIO.call(lambda: None)
    # The stream that the abandoned attempt opened late is closed again.
    assert portaudio.stream is not first
    assert portaudio.closed == [first, portaudio.stream]
    assert calls.PORTAUDIO.open_streams == 0


def test_a_driver_that_hangs_for_a_while_is_waited_for(
    portaudio: FakePortAudio, events: list[DeviceEvent], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()
    with Microphone(reconnect=True, on_event=lambda e: (events.append(e), len(events) > 2 and answers.set())) as one:
        monkeypatch.setattr(calls, "_ANSWER_SECONDS", 0.2)
        blocks = after_a_loss(portaudio, one)
        portaudio.scanning = lambda: answers.wait(20)
        portaudio.starting = delivering(pcm())
        next(blocks)
    assert kinds(events)[:3] == ["lost", "retrying", "retrying"]
    assert kinds(events)[-1] == "resumed"
    assert "the audio driver did not answer within 0.2 s" in events[1].message


def test_a_driver_that_hangs_at_the_start_is_an_error(
    portaudio: FakePortAudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "_ANSWER_SECONDS", 0.2)
    answers = threading.Event()
    portaudio.starting = lambda stream: answers.wait(20)
    with pytest.raises(AudioDeviceError, match=r"did not answer within 0\.2 s"), Microphone():
        pass
    with pytest.raises(AudioDeviceError, match="did not answer"):
        Microphone()
    answers.set()
    calls.PORTAUDIO.call(lambda: None)
    assert len(portaudio.closed) == 1


def test_a_consumer_that_stalls_for_30_s_gets_silence_and_then_the_last_10_s(
    portaudio: FakePortAudio, events: list[DeviceEvent]
) -> None:
    with Microphone(max_seconds=10, on_event=events.append) as microphone:
        portaudio.stream.deliver(np.full((960, 1), -1, np.int16))
        blocks = microphone.blocks()
        assert next(blocks)[0, 0] == -1
        slow = 0
        for number in range(1_500):
            started = time.perf_counter()
            portaudio.stream.deliver(np.full((960, 1), number, np.int16))
            slow += time.perf_counter() - started > 0.1
        # One that waited for the consumer would be slow each time; a busy machine may stop a few.
        assert slow <= 5
        heard = next(blocks)
        assert (heard.shape, heard.any()) == ((SILENT, 1), False)
        dropped = microphone.stats.dropped_blocks
        numbers = [int(next(blocks)[0, 0]) for _ in range(1_500 - dropped)]
        assert numbers == list(range(dropped, 1_500))
        # A tenth is dropped at a time, so up to a tenth less is kept.
        assert 9 * 50 <= len(numbers) <= 10 * 50
        assert microphone.stats.dropped_seconds == pytest.approx(dropped * 0.02)
        assert kinds(events) == ["dropped"]
        assert events[0].seconds == pytest.approx(dropped * 0.02)


def test_short_drops_are_replaced_by_silence_of_their_length(portaudio: FakePortAudio) -> None:
    """A consumer that is always too slow loses audio, but the times stay right."""
    with Microphone(max_seconds=0.2) as microphone:
        blocks = microphone.blocks()
        heard = 0
        for number in range(200):
            portaudio.stream.deliver(np.full((960, 1), number, np.int16))
            if number % 2:
                block = next(blocks)
                if not block.any():
                    heard += len(block)
                    block = next(blocks)
                heard += len(block)
                assert heard == 960 * (int(block[0, 0]) + 1)
        assert microphone.stats.dropped_blocks >= 90


def test_closing_at_any_moment_leaves_nothing_open(portaudio: FakePortAudio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FIRST_PAUSE", 0.001)
    monkeypatch.setattr(module, "_POLL_SECONDS", 0.002)
    started: list[FakeStream] = []

    def start(stream: FakeStream) -> None:
        started.append(stream)
        stream.deliver(pcm(10))
        stream.finish()

    portaudio.starting = start
    for attempt in range(20):
        with Microphone(reconnect=True, block_seconds=1.0) as microphone:
            blocks = microphone.blocks()
            next(blocks)
            closers = [threading.Timer(0.002 * attempt, microphone.close) for _ in range(2)]
            for closer in closers:
                closer.start()
            list(blocks)
            for closer in closers:
                closer.join()
    calls.PORTAUDIO.call(lambda: None)
    assert len(started) > 20
    assert set(portaudio.closed) == set(started)
    assert calls.PORTAUDIO.open_streams == 0
