"""An hour in real time: ``wakeword listen --playback monitor`` between two virtual devices of PulseAudio.

One null sink is the loudspeaker, whose monitor is the reference; the monitor of the other is the microphone, which gets the
echo of a small loudspeaker in a measured room with a person's words below it.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wakeword import ConfigError
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword_experiments.figures_report import Row, write_results
from wakeword_experiments.playback.playback_scenes import playback_of, recordings, room_of, scene_of, speech_power

WORD, ROOM = "alexa", "chrome_kitchen"
_EVERY, _OWN_AT, _SAID_AT = 20.0, 5.0, 14.0
"""Every so many seconds the playback says the word at the second of these times, and a person at the third."""
_BELOW = 10.0
_TURN = 300.0
"""Seconds of music, then of read speech."""
_LATE = 3.0
"""Seconds after a word's end in which a line of the command is of it."""
_MAX_RECORDINGS = 1_000


@dataclass(frozen=True)
class Hour:
    """What both devices get, ``(n,)`` each, and when each word begins and ends in it, in seconds."""

    loudspeaker: Array
    microphone: Array
    own: list[tuple[float, float]]
    said: list[tuple[float, float]]


def hour_of(audio: Path, minutes: float) -> Hour:
    """Music and read speech in turns, which says the word of every other recording; the rest is said by a person."""
    clips = recordings(audio / "wake_words" / WORD, _MAX_RECORDINGS)
    turns = [
        playback_of(audio / ("music", "long_speech")[number % 2], _TURN, first=number)
        for number in range(int(np.ceil(60 * minutes / _TURN)))
    ]
    loudspeaker = np.concatenate(turns)[: int(60 * minutes * SAMPLE_RATE)]
    level = np.sqrt(np.mean(loudspeaker**2))
    own, said, words = [], [], []
    for number in range(int(60 * minutes / _EVERY)):
        word, other = clips[2 * number % len(clips)], clips[(2 * number + 1) % len(clips)]
        start = int((number * _EVERY + _OWN_AT) * SAMPLE_RATE)
        loudspeaker[start : start + len(word)] = word * 2 * level / np.sqrt(speech_power(word))
        own.append((start / SAMPLE_RATE, (start + len(word)) / SAMPLE_RATE))
        start = int((number * _EVERY + _SAID_AT) * SAMPLE_RATE)
        words.append((start, other))
        said.append((start / SAMPLE_RATE, (start + len(other)) / SAMPLE_RATE))
    microphone = scene_of(loudspeaker, [], room_of(audio / "rooms", ROOM), below=0).microphone
    for start, word in words:
        piece = slice(start, start + len(word))
        power = np.mean(microphone[piece] ** 2) * 10 ** (-_BELOW / 10)
        microphone[piece] += word * np.float32(np.sqrt(power / speech_power(word)))
    return Hour(loudspeaker, microphone, own, said)


@contextmanager
def _sound_server() -> Iterator[dict[str, str]]:
    """The environment of programs that use a private server with the sinks ``room`` and ``speaker``.

    Raises ``ConfigError`` where PulseAudio is not installed or does not start.
    """
    if missing := [name for name in ("pulseaudio", "pactl", "pacat", "parec") if shutil.which(name) is None]:
        raise ConfigError(f"expected PulseAudio, found no {missing[0]}: make system-deps installs it")
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        alsa = folder / "asound.conf"
        alsa.write_text("pcm.!default { type pulse }\nctl.!default { type pulse }\n")
        environment = {
            key: value for key, value in os.environ.items() if key not in ("DISPLAY", "DBUS_SESSION_BUS_ADDRESS")
        }
        environment |= {
            "XDG_RUNTIME_DIR": name,
            "PULSE_RUNTIME_PATH": f"{name}/pulse",
            "PULSE_STATE_PATH": f"{name}/state",
            "PULSE_COOKIE": f"{name}/cookie",
            "PULSE_SERVER": f"unix:{name}/native",
            "ALSA_CONFIG_PATH": f"/usr/share/alsa/alsa.conf:{alsa}",
        }
        sinks = [
            f"module-null-sink sink_name={one} rate={SAMPLE_RATE} channels=1 format=s16le"
            for one in ("room", "speaker")
        ]
        flags = (
            "-n --daemonize=no --use-pid-file=no --exit-idle-time=-1 --disable-shm=yes --high-priority=no --realtime=no"
        )
        modules = [f"module-native-protocol-unix socket={name}/native auth-anonymous=1", *sinks]
        command = ["pulseaudio", *flags.split(), f"--log-target=file:{name}/log", *(f"-L{one}" for one in modules)]
        _started(stack, command, environment)
        deadline = time.monotonic() + 10
        while subprocess.run(["pactl", "info"], env=environment, capture_output=True, check=False).returncode:
            if time.monotonic() > deadline:
                raise ConfigError(f"expected PulseAudio to start, got: {(folder / 'log').read_text()}")
            time.sleep(0.1)
        for what, default in (("sink", "speaker"), ("source", "room.monitor")):
            subprocess.run(["pactl", f"set-default-{what}", default], env=environment, check=True)
        for sink in ("room", "speaker"):  # a recorder keeps a null sink from rendering in chunks of 2 s
            keep = ["parec", f"--device={sink}.monitor", "--latency-msec=20", "--raw"]
            _started(stack, keep, environment, stdout=subprocess.DEVNULL)
        time.sleep(3)
        yield environment


def _started(
    stack: ExitStack, command: list[str], environment: dict[str, str], **how: int
) -> "subprocess.Popen[bytes]":
    program = subprocess.Popen(command, env=environment, **how)  # type: ignore[call-overload]

    def end() -> None:
        program.terminate()
        program.wait()

    stack.callback(end)
    return program  # type: ignore[no-any-return]


def run_playback_hour(audio: Path, out: Path, *, minutes: float, command: str, report: Callable[[str], None]) -> None:
    """Listen for ``minutes`` in real time; write ``playback-hour.json`` and its page."""
    hour = hour_of(audio, minutes)
    report(f"{len(hour.said)} words of a person, {len(hour.own)} of the playback")
    lines: list[tuple[float, dict[str, Any]]] = []
    memory: list[float] = []
    with _sound_server() as environment, ExitStack() as stack:
        listen = [sys.executable, "-m", "wakeword", "listen", "--keyword", WORD, "--playback", "monitor", "--json"]
        program = _started(stack, listen, environment, stdout=subprocess.PIPE)

        def read() -> None:
            assert program.stdout is not None
            for line in program.stdout:
                lines.append((time.monotonic(), json.loads(line)))

        threading.Thread(target=read, daemon=True).start()
        time.sleep(8)
        began = time.monotonic()
        players = []
        for device, sound in (("speaker", hour.loudspeaker), ("room", hour.microphone)):
            file = Path(environment["XDG_RUNTIME_DIR"]) / f"{device}.raw"
            np.round(32_767 * np.clip(sound, -1, 1)).astype("<i2").tofile(file)
            form = ["--raw", "--format=s16le", f"--rate={SAMPLE_RATE}", "--channels=1", "--latency-msec=100"]
            players.append(["pacat", f"--device={device}", *form, str(file)])
        began = time.monotonic()
        for player in players:
            _started(stack, player, environment)
        for minute in range(int(np.ceil(minutes))):
            time.sleep(max(0.0, began + 60 * (minute + 1) - time.monotonic()))
            if program.poll() is not None:
                raise ConfigError(f"expected wakeword to listen for {minutes} min, it ended after {minute + 1}")
            memory.append(_resident(program.pid))
            report(f"minute {minute + 1}: {len(lines)} lines, {memory[-1]:.1f} MB")
        time.sleep(_LATE)
        seconds = _processor_seconds(program.pid)
    rows = _rows(hour, [(at - began, at - float(line["end"])) for at, line in lines], memory)
    write_results(
        out,
        "playback-hour",
        title="An hour beside a loudspeaker, in real time",
        command=command,
        settings={"minutes": minutes, "word": WORD, "room": ROOM, "below_db": _BELOW, "every": _EVERY},
        rows=rows,
        body=_page(rows[0]),
        seconds=seconds,
    )


def _resident(pid: int) -> float:
    """Megabytes of memory that a process holds."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _processor_seconds(pid: int) -> float:
    """What a process took of the processor so far."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _rows(hour: Hour, lines: list[tuple[float, float]], memory: list[float]) -> list[Row]:
    """``lines``: when each came, and how much later that was than its end in the stream, from some time on."""
    heard = [any(first < at < last + _LATE for at, _ in lines) for first, last in hour.said]
    woke = [any(first < at < last + _LATE for at, _ in lines) for first, last in hour.own]
    late = [delay for _, delay in lines]
    steady = memory[2:] or memory
    third = max(1, len(lines) // 3)
    return [
        {
            "measure": "hour",
            "said": len(heard),
            "found": sum(heard),
            "own": len(woke),
            "own_woke": sum(woke),
            "other": len(lines) - sum(heard) - sum(woke),
            "megabytes": [steady[0], steady[-1]],
            "delay_moved_s": float(np.median(late[-third:]) - np.median(late[:third])) if late else 0.0,
            "delay_range_s": float(np.ptp(late)) if late else 0.0,
            # When each came: where a player falls behind on a busy machine, words are later than planned.
            "lines_s": [round(at, 2) for at, _ in lines],
        }
    ]


def _page(row: Row) -> list[str]:
    return [
        "Music and read speech in turns of five minutes play into one virtual device of PulseAudio; the other records "
        f'their echo in a room, and "{WORD}" of a person {_BELOW:.0f} dB below it. `wakeword listen --playback monitor` '
        f"found {row['found']} of {row['said']} words of the person; {row['own_woke']} of {row['own']} words of the "
        f"playback woke it, and {row['other']} times nothing that was said. Its memory was {row['megabytes'][0]:.0f} MB "
        f"after three minutes and {row['megabytes'][1]:.0f} MB at the end. Its delay behind the stream moved by "
        f"{row['delay_moved_s']:+.2f} s from the first third to the last, all within {row['delay_range_s']:.2f} s.",
    ]
