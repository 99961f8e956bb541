"""An assistant that speaks while it listens: the wake word interrupts it, its own voice does not.

    python examples/barge_in.py                                      # the default microphone and loudspeaker
    python examples/barge_in.py --input assets/audio/sentences.flac  # a recording instead, without a sound

It needs the extra ``echo``. The detector gets each block of the microphone together with what the loudspeaker got in that
time. Put the voice of your assistant into ``answer``.
"""

import argparse
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from wakeword import Detector, FileSource, Microphone, WakewordError

SECONDS = 20.0  # of an answer


def answer(rate: int) -> NDArray[np.float32]:
    """Stand-in for speech synthesis: a chord that swells and falls."""
    time = np.arange(int(SECONDS * rate)) / rate
    chord = sum(np.sin(2 * np.pi * pitch * time) for pitch in (220, 277, 330, 1_100))
    return (0.05 * chord * np.sin(np.pi * time) ** 2).astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description="An assistant that can be interrupted.")
    parser.add_argument("--input", metavar="FILE", help="a recording instead of the microphone")
    file = parser.parse_args().input
    source = Microphone(reconnect=True) if file is None else FileSource(file)
    rate = source.sample_rate
    player = None
    if file is None:
        import sounddevice

        player = sounddevice.OutputStream(samplerate=rate, channels=1, dtype="float32")
        player.start()
    voice = np.zeros(0, np.float32)  # what is still to be said
    with source, suppress(KeyboardInterrupt):
        detector = Detector("jarvis", sample_rate=rate)
        for block in source.blocks():
            said, voice = voice[: len(block)], voice[len(block) :]
            # Silence too, so that the player's delay stays the same.
            said = np.pad(said, (0, len(block) - len(said)))
            if player is not None:
                player.write(said)
            for detection in detector.push(block, playback=said):
                was_speaking = len(voice) > 0
                print(f"{detection.end:.2f} s: {'interrupted' if was_speaking else 'speaks'}", flush=True)
                voice = voice[:0] if was_speaking else answer(rate)


if __name__ == "__main__":
    try:
        main()
    except WakewordError as error:  # for instance no microphone or file: one line that says what to do
        raise SystemExit(str(error)) from error
