"""A few seconds of a device, unprocessed."""

import queue
from collections.abc import Callable
from concurrent.futures import wait

import numpy as np

from wakeword.audio.pcm import INT16_STEP
from wakeword.base.errors import AudioDeviceError
from wakeword.checkup.findings import CheckRecording
from wakeword.microphone.device import Block, Device, InputStream, MicrophoneStats, find_device
from wakeword.microphone.portaudio import PORTAUDIO, leave_open_at_exit

# Devices begin with zeros, clicks, or an offset that fades.
_SETTLING_SECONDS = 0.3
_FIRST_BLOCK_SECONDS, _NEXT_BLOCK_SECONDS = 5.0, 2.0
# ALSA's virtual devices claim 32 and more, all copies.
_MAX_CHANNELS = 8
_CLOSE_SECONDS = 0.3


def record_device(
    wanted: int | str | None, seconds: float, *, opened: Callable[[Device], None], advance: Callable[[float], None]
) -> tuple[Device, CheckRecording]:
    """Record the device with that number or with that text in its name, at its native rate, with all its channels.

    Unlike in ``Microphone``, missing audio is not replaced by silence. ``opened`` is called when the first audio arrives,
    ``advance`` with the seconds recorded so far.

    Raises ``AudioDeviceError`` if PortAudio or the device is missing, cannot be opened, or delivers nothing.
    """
    device = PORTAUDIO.call(lambda: find_device(wanted))
    losses = MicrophoneStats()
    channels = device.channels if device.channels <= _MAX_CHANNELS else 2
    stream = PORTAUDIO.call(
        lambda: InputStream(device, channels, block_seconds=0.02, max_seconds=10.0, losses=losses),
        undo=InputStream.close,
    )
    try:
        blocks = [_get(stream, _FIRST_BLOCK_SECONDS)]
        opened(device)
        settling = round(_SETTLING_SECONDS * device.sample_rate)
        wanted_frames = settling + round(seconds * device.sample_rate)
        frames = len(blocks[0].samples)
        while frames < wanted_frames:
            blocks.append(_get(stream, _NEXT_BLOCK_SECONDS))
            frames += len(blocks[-1].samples)
            advance(min(seconds, max(0, frames - settling) / device.sample_rate))
    finally:
        if not wait([PORTAUDIO.submit(stream.close)], _CLOSE_SECONDS).done:
            leave_open_at_exit()
    samples = (
        np.concatenate([block.samples for block in blocks])[settling:wanted_frames].astype(np.float32) * INT16_STEP
    )
    return device, CheckRecording(samples, device.sample_rate, [block.stamp for block in blocks], losses.overflows)


def _get(stream: InputStream, seconds: float) -> Block:
    try:
        return stream.get(seconds)
    except queue.Empty:
        raise AudioDeviceError(
            f"'{stream.device.name}' has delivered no audio for {seconds:g} s; "
            "connect it again, or check whether the sound server suspends or mutes it"
        ) from None
