"""``Microphone`` with a real sound server that dies, hangs, sleeps and comes back, and with devices of other kinds."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.virtual_microphone import VirtualMicrophone, running

# Prints each event, and once after each start or return that there was sound.
FOLLOW = """if True:
    import dataclasses, json, sys
    from wakeword import Microphone

    def report(**what):
        print(json.dumps(what), flush=True)

    def event(event):
        global loud
        loud = False
        report(**dataclasses.asdict(event))

    loud = False
    with Microphone(reconnect=True, watchdog=float(sys.argv[1]), on_event=event) as microphone:
        report(kind="open")
        for block in microphone.blocks():
            if not loud and abs(block).max() > 1_000:
                loud = True
                report(kind="loud", **dataclasses.asdict(microphone.stats))
"""

# Saves its recording once that has a given number of seconds from the first sound on.
RECORD = """if True:
    import sys
    import numpy as np
    from wakeword import Microphone
    with Microphone(channels=int(sys.argv[2])) as microphone:
        print(microphone.sample_rate, flush=True)
        heard, frames = [], 0
        for block in microphone.blocks():
            heard.append(block)
            frames += len(block) if frames or abs(block).max() > 1_000 else 0
            if frames > float(sys.argv[3]) * microphone.sample_rate:
                break
        assert (microphone.stats.dropped_blocks, microphone.stats.overflows, microphone.stats.gaps) == (0, 0, 0)
    np.save(sys.argv[1], np.concatenate(heard))
"""


class Follower:
    """A program that listens and reports events."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._events: queue.Queue[dict[str, object]] = queue.Queue()
        threading.Thread(target=self._read, args=(process,), daemon=True).start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._events.put(json.loads(line))

    def expect(self, kind: str, seconds: float, *, past: tuple[str, ...] = ()) -> dict[str, object]:
        """The next event, without those of the kinds ``past``."""
        deadline = time.monotonic() + seconds
        while (event := self._events.get(timeout=deadline - time.monotonic()))["kind"] in past:
            pass
        assert event["kind"] == kind, event
        return event


@contextmanager
def following(microphone: VirtualMicrophone, *, watchdog: float) -> Iterator[Follower]:
    with subprocess.Popen(
        [sys.executable, "-c", FOLLOW, str(watchdog)], env=microphone.environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            follower = Follower(process)
            follower.expect("open", 20)
            yield follower
        finally:
            process.kill()


@contextmanager
def recording(microphone: VirtualMicrophone, file: Path, channels: int, seconds: float) -> Iterator[int]:
    """A program that records; yields its process ID."""
    command = [sys.executable, "-c", RECORD, file, str(channels), str(seconds)]
    with subprocess.Popen(command, env=microphone.environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert int(process.stdout.readline()) == 44_100  # whatever the rate of the device behind PulseAudio
        yield process.pid
    assert process.returncode == 0


@pytest.fixture(scope="module")
def repaired() -> Iterator[VirtualMicrophone]:
    """A microphone that tests break and repair again."""
    with running() as started:
        yield started


@pytest.fixture(scope="module")
def noise(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half a second of noise, after the quarter of a second that a null sink loses."""
    path = tmp_path_factory.mktemp("noise") / "noise.wav"
    samples = np.random.default_rng(0).integers(-3_000, 3_000, 22_050, dtype=np.int16)
    soundfile.write(path, np.concatenate([np.zeros(11_025, np.int16), samples]), 44_100)
    return path


@pytest.mark.parametrize("how", ["server killed", "device unloaded", "device suspended", "server stopped"])
def test_it_resumes_when_the_device_is_back(repaired: VirtualMicrophone, noise: Path, how: str) -> None:
    with following(repaired, watchdog=0.5) as follower:
        repaired.play(noise)
        follower.expect("loud", 10)
        repaired.vanish(how)
        lost = time.monotonic()
        follower.expect("lost", 5)
        repaired.come_back(how)
        gap = follower.expect("resumed", 30, past=("retrying",))["seconds"]
        assert 0.3 < gap < time.monotonic() - lost + 0.5
        repaired.play(noise)
        assert follower.expect("loud", 10)["gaps"] == 1


def test_a_short_sleep_is_a_pause_of_its_length(repaired: VirtualMicrophone, noise: Path) -> None:
    """Shorter than the watchdog's time; the driver reports nothing, and only its times show it."""
    with following(repaired, watchdog=5.0) as follower:
        repaired.play(noise)
        follower.expect("loud", 10)
        started = time.monotonic()
        repaired.vanish("device suspended")
        time.sleep(0.4)
        repaired.come_back("device suspended")
        took = time.monotonic() - started
        assert 0.3 < follower.expect("paused", 5)["seconds"] < took + 0.1
        repaired.play(noise)
        assert follower.expect("loud", 10)["gaps"] == 1


@pytest.mark.parametrize(("rate", "channels"), [(8_000, 1), (48_000, 2)])
def test_devices_with_other_rates_and_channels_are_recorded(tmp_path: Path, rate: int, channels: int) -> None:
    """Each channel has a different tone, which must come out of this channel at its pitch and level."""
    tones = [700, 1_900][:channels]
    time = np.arange(2 * rate) / rate
    played = np.stack([8_000 * np.sin(2 * np.pi * tone * time) for tone in tones], axis=1)
    soundfile.write(tmp_path / "tones.wav", played.astype(np.int16), rate)
    with running(rate, channels) as microphone, recording(microphone, tmp_path / "heard.npy", channels, 1.3):
        microphone.play(tmp_path / "tones.wav")
    heard = np.load(tmp_path / "heard.npy")
    assert heard.shape[1] == channels
    second = heard[-44_100:].astype(float)
    for channel, tone in zip(second.T, tones, strict=True):
        spectrum = np.abs(np.fft.rfft(channel * np.hanning(len(channel)))) * 4 / len(channel)
        assert np.argmax(spectrum) == tone
        assert spectrum[tone] == pytest.approx(8_000, rel=0.02)
        spectrum[tone - 10 : tone + 11] = 0
        assert spectrum.max() < 10


def test_a_callback_that_stalls_for_2_s_loses_nothing(microphone: VirtualMicrophone, tmp_path: Path) -> None:
    """The server keeps the audio for a stopped program: it comes late but complete, and nothing counts as missing."""
    played = np.random.default_rng(0).integers(-3_000, 3_000, 3 * microphone.rate, dtype=np.int16)
    soundfile.write(tmp_path / "played.wav", np.concatenate([np.zeros(microphone.rate // 4, np.int16), played]), 44_100)
    with recording(microphone, tmp_path / "heard.npy", 1, 3.0) as process:
        stops = threading.Timer(0.8, os.kill, (process, signal.SIGSTOP))
        goes_on = threading.Timer(2.8, os.kill, (process, signal.SIGCONT))
        stops.start()
        goes_on.start()
        microphone.play(tmp_path / "played.wav")
    heard = np.load(tmp_path / "heard.npy")[:, 0]
    start = int(np.flatnonzero(heard)[0]) - int(np.flatnonzero(played)[0])
    np.testing.assert_array_equal(heard[start : start + len(played)], played)
