"""Playing a recording over the loudspeaker."""

from collections.abc import Callable
from functools import partial
from operator import methodcaller
from typing import TypeVar

import soxr

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import AudioDeviceError
from wakeword.base.types import Array
from wakeword.microphone.portaudio import PORTAUDIO, sounddevice_module

_PIECE_SECONDS = 0.1
"""Length of the pieces in which a recording is passed to PortAudio: the longest time that a signal may have to wait."""

_Result = TypeVar("_Result")


def play(recording: Array) -> None:
    """Play ``(samples,)`` float32 at 16 kHz on the default output device.

    Raises ``AudioDeviceError`` if there is none, or it does not play. The stream is always closed
    when this returns or raises.
    """
    close = methodcaller("close", ignore_errors=True)
    # For writing: a stream with a callback could crash the interpreter while it ends.
    settings = {"channels": 1, "dtype": "float32", "latency": "high"}
    stream = PORTAUDIO.call(lambda: _tried(partial(sounddevice_module().OutputStream, **settings)), undo=close)
    try:
        PORTAUDIO.call(partial(_tried, stream.start))
        samples = soxr.resample(recording, SAMPLE_RATE, stream.samplerate)
        step = max(1, round(_PIECE_SECONDS * stream.samplerate))
        for start in range(0, len(samples), step):
            PORTAUDIO.call(partial(_tried, partial(stream.write, samples[start : start + step])))
        PORTAUDIO.call(partial(_tried, stream.stop))  # when all that was written has been played
    finally:
        PORTAUDIO.call(partial(close, stream))


def _tried(call: Callable[[], _Result]) -> _Result:
    """What ``call`` returns; ``AudioDeviceError`` if PortAudio refuses it."""
    try:
        return call()
    except (ValueError, sounddevice_module().PortAudioError) as error:
        raise AudioDeviceError(f"the recording could not be played: {error}") from error
