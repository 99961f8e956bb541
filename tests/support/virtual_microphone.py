"""A microphone without a sound card: a private PulseAudio server whose default source is the monitor of a null sink."""

import ctypes.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SINK = "wakeword_test"


class VirtualMicrophone:
    """A running sound server. The default input device records what ``play`` plays."""

    def __init__(self, folder: Path, *, rate: int, channels: int) -> None:
        self._folder = folder
        self.rate = rate
        socket = folder / "native"
        # PortAudio uses ALSA, whose default device is set to PulseAudio.
        alsa = folder / "asound.conf"
        alsa.write_text("pcm.!default { type pulse }\nctl.!default { type pulse }\n")
        inherited = {
            key: value for key, value in os.environ.items() if key not in ("DISPLAY", "DBUS_SESSION_BUS_ADDRESS")
        }
        self.environment = {
            **inherited,
            "XDG_RUNTIME_DIR": str(folder),
            "PULSE_RUNTIME_PATH": str(folder / "pulse"),
            "PULSE_STATE_PATH": str(folder / "state"),
            "PULSE_COOKIE": str(folder / "cookie"),
            "PULSE_SERVER": f"unix:{socket}",
            "ALSA_CONFIG_PATH": f"/usr/share/alsa/alsa.conf:{alsa}",
            "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
        }
        self._sink = ("module-null-sink", f"sink_name={SINK}", f"rate={rate}", f"channels={channels}", "format=s16le")
        self._recorder: subprocess.Popen[bytes] | None = None
        self._start()

    def _start(self) -> None:
        flags = (
            "--daemonize=no --use-pid-file=no --exit-idle-time=-1 --disable-shm=yes --high-priority=no --realtime=no"
        )
        self._server = subprocess.Popen(
            [
                *("pulseaudio", "-n", *flags.split(), f"--log-target=file:{self._folder / 'log'}"),
                *("-L", f"module-native-protocol-unix socket={self._folder / 'native'} auth-anonymous=1"),
                *("-L", " ".join(self._sink)),
            ],
            env=self.environment,
            stderr=subprocess.DEVNULL,
        )

    def settle(self) -> None:
        """Wait until the server answers and audio flows. Raises ``RuntimeError`` with its log if it does not."""
        deadline = time.monotonic() + 10
        while self._control("info").returncode != 0:
            if time.monotonic() > deadline or self._server.poll() is not None:
                raise RuntimeError(f"PulseAudio did not start: {(self._folder / 'log').read_text()}")
            time.sleep(0.05)
        self._control("set-default-sink", SINK)
        self._control("set-default-source", f"{SINK}.monitor")
        # A recorder with low latency keeps the null sink from rendering in chunks of 2 s. The first chunk began before
        # the recorder started; when a second recorder has received something, that chunk is over.
        record = ["parec", "--latency-msec=20", "--raw"]
        if self._recorder is not None:
            self._recorder.kill()
            self._recorder.wait()
        self._recorder = subprocess.Popen(record, env=self.environment, stdout=subprocess.DEVNULL)
        with subprocess.Popen(record, env=self.environment, stdout=subprocess.PIPE) as second:
            assert second.stdout is not None
            second.stdout.read(1)
            second.kill()

    def _control(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(["pactl", *arguments], env=self.environment, capture_output=True, timeout=10)

    def play(self, file: Path) -> None:
        """Play a recording into the microphone; returns when it has been played."""
        subprocess.run(["paplay", file], env=self.environment, check=True, timeout=60)

    def vanish(self, how: str) -> None:
        """Remove the device: by a crash of the server, an unplugged or suspended device, or a server that hangs."""
        match how:
            case "server killed":
                self._server.kill()
            case "device unloaded":
                self._control("unload-module", "module-null-sink")
            case "device suspended":
                self._control("suspend-sink", SINK, "1")
            case "server stopped":
                self._server.send_signal(signal.SIGSTOP)

    def come_back(self, how: str) -> None:
        """Undo ``vanish``; for a new server or device, return when audio flows again."""
        match how:
            case "server killed":
                self._server.wait()
                self._start()
                self.settle()
            case "device unloaded":
                self._control("load-module", *self._sink)
                self.settle()
            case "device suspended":
                self._control("suspend-sink", SINK, "0")
            case "server stopped":
                self._server.send_signal(signal.SIGCONT)

    def close(self) -> None:
        for process in (self._recorder, self._server):
            if process is not None:
                process.kill()
                process.wait()


def _missing() -> str | None:
    programs = [name for name in ("pulseaudio", "pactl", "paplay", "parec") if shutil.which(name) is None]
    if programs:
        return f"{', '.join(programs)} missing (Debian: pulseaudio pulseaudio-utils libasound2-plugins)"
    if not sys.platform.startswith("linux"):
        return "PulseAudio over ALSA is Linux only"
    if ctypes.util.find_library("portaudio") is None:
        return "PortAudio missing (Debian: libportaudio2)"
    return None


@contextmanager
def running(rate: int = 44_100, channels: int = 1) -> Iterator[VirtualMicrophone]:
    """A working microphone with ``rate`` Hz and ``channels``. Skips the test, with the reason, if it cannot be made."""
    reason = _missing()
    if reason is not None:
        pytest.skip(reason)
    # The path of a socket is limited to 107 bytes; pytest's own folders are longer.
    with tempfile.TemporaryDirectory(prefix="mic") as folder:
        microphone = VirtualMicrophone(Path(folder), rate=rate, channels=channels)
        try:
            microphone.settle()
            yield microphone
        finally:
            microphone.close()
