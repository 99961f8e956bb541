"""Opens what ``wakeword listen --playback`` names: the monitor of the output, a device that records it, or a file."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.audio.sources import AudioSource, FileSource, StdinSource
from wakeword.base.errors import AudioDeviceError
from wakeword.cli.console import without_native_messages
from wakeword.cli.options import number_or_name
from wakeword.microphone.microphone import Microphone

_MONITOR = "monitor"
_RECORDER = ("parec", "--device=@DEFAULT_MONITOR@", "--raw", "--format=s16le", "--channels=1", "--latency-msec=20")
_SECONDS_TO_FAIL = 0.5
_MAX_BEHIND = 0.5
"""Seconds of a device's audio that wait: older than that, an echo would come before its reference."""


class _Monitor(StdinSource):
    is_live = True
    """What is not read in time is old: see ``PlaybackReader``."""


@contextmanager
def open_playback(name: str) -> Iterator[AudioSource]:
    """The source, open inside ``with``. Raises ``AudioDeviceError`` and ``AudioFileError`` if it cannot be opened."""
    if name == _MONITOR:
        with _monitor() as source:
            yield source
    elif Path(name).is_file():
        yield FileSource(name)
    else:
        with without_native_messages(), Microphone(number_or_name(name), channels=2, max_seconds=_MAX_BEHIND) as device:
            yield device


@contextmanager
def _monitor() -> Iterator[AudioSource]:
    """The monitor of the default output, by PulseAudio's recorder: PortAudio does not list monitors."""
    if shutil.which(_RECORDER[0]) is None:
        raise AudioDeviceError(
            "--playback monitor: expected the program parec, found none; install pulseaudio-utils (with PipeWire too), or "
            "give a device that records what is played"
        )
    process = subprocess.Popen(
        [*_RECORDER, f"--rate={SAMPLE_RATE}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        try:
            process.wait(_SECONDS_TO_FAIL)
        except subprocess.TimeoutExpired:
            pass
        else:
            assert process.stderr is not None
            said = process.stderr.read().decode(errors="replace").strip().splitlines()
            reason = said[-1] if said else "no reason given"
            raise AudioDeviceError(
                f"--playback monitor: expected an output of PulseAudio or PipeWire, parec ended: {reason}; make one with: "
                "pactl load-module module-null-sink"
            )
        assert process.stdout is not None
        yield _Monitor(stream=cast(BinaryIO, process.stdout))
    finally:
        process.kill()
        process.wait()
