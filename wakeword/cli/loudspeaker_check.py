"""``doctor --playback``: sweeps through the loudspeaker, recorded by the microphone."""

import threading

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE, PcmStream
from wakeword.base.errors import WakewordError
from wakeword.checkup.findings import Finding
from wakeword.checkup.sweep import diagnose_loudspeaker, two_sweeps
from wakeword.cli.console import note
from wakeword.cli.options import number_or_name
from wakeword.microphone.microphone import Microphone
from wakeword.takes.playback import play

_SECONDS_BEFORE, _SECONDS_AFTER = 1.0, 1.5


def examine_loudspeaker(device: str | None) -> list[Finding]:
    """Play, record and judge. Raises ``AudioDeviceError`` without a microphone or a loudspeaker."""
    sound = two_sweeps()
    failures: list[WakewordError] = []

    def played() -> None:
        try:
            play(sound)
        except WakewordError as error:
            failures.append(error)

    started: int | None = None
    with Microphone(number_or_name(device)) as microphone:
        note(f"playing two sweeps to '{microphone.name}': do not speak for {len(sound) / SAMPLE_RATE:.0f} s")
        pcm = PcmStream(microphone.sample_rate)
        pieces = [np.zeros(0, np.float32)]
        player = threading.Thread(target=played, name="wakeword-sweep", daemon=True)
        for block in microphone.blocks():
            pieces.append(pcm.push(block))
            length = sum(map(len, pieces))
            if started is None and length >= _SECONDS_BEFORE * SAMPLE_RATE:
                started = length
                player.start()
            if failures:
                raise failures[0]
            if started is not None and length >= started + len(sound) + _SECONDS_AFTER * SAMPLE_RATE:
                break
    assert started is not None
    return diagnose_loudspeaker(np.concatenate(pieces), started)
