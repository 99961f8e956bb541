"""Skeleton of a voice assistant: wake word, then a command, then an answer.

    python examples/assistant.py                                      # the default microphone
    python examples/assistant.py --input assets/audio/sentences.flac  # a recording instead

The recogniser gets one continuous recording: half a second before the wake word, the word, and everything after it until
the speaker is silent. During a turn, which includes the assistant's own voice, nothing is detected. Put your speech
recognition into ``recognise`` and your player into ``say``; neither may block, or unprocessed audio accumulates.
"""

import argparse
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from wakeword import Detection, Detector, EndOfSpeech, FileSource, Microphone, WakewordError

RATE = 16_000  # sample rate of all audio from the detector
BLOCK_SECONDS = 0.02
LONGEST, PAUSE = 8.0, 0.8  # seconds of a command, and of the silence that ends it


def recognise(audio: NDArray[np.float32]) -> str:
    """Stand-in for speech recognition: 16 kHz mono audio to text."""
    return f"{len(audio) / RATE:.2f} s of audio"


def say(text: str) -> float:
    """Stand-in for a player: starts to speak and immediately returns the duration in seconds."""
    print(f"assistant: I heard {text}", flush=True)
    return 1.5


def turn(detector: Detector, detection: Detection) -> Iterator[None]:
    """One turn of the conversation. Each ``yield`` lets the detector take the next block."""
    print(f"{detection.end:.2f} s: {detection.keyword}", flush=True)
    with detector.suppressed():
        with detector.follow(detection) as follower:
            is_over, heard = EndOfSpeech(silence=PAUSE), [detection.audio, follower.read()]
            while not is_over(heard[-1]) and sum(map(len, heard[1:])) < LONGEST * RATE:
                yield
                heard.append(follower.read())
        end = detector.seconds + say(recognise(np.concatenate(heard)))
        while detector.seconds < end:
            yield


def main() -> None:
    parser = argparse.ArgumentParser(description="A voice assistant without a recogniser and a voice.")
    parser.add_argument("--input", metavar="FILE", help="a recording instead of the microphone")
    file = parser.parse_args().input
    source = Microphone(reconnect=True) if file is None else FileSource(file)
    with source, suppress(KeyboardInterrupt):
        detector = Detector("jarvis", sample_rate=source.sample_rate)
        size = round(BLOCK_SECONDS * source.sample_rate)
        current_turn: Iterator[None] = iter(())
        for block in source.blocks():
            for start in range(0, len(block), size):  # a file's blocks last 0.1 s
                for detection in detector.push(block[start : start + size]):
                    current_turn = turn(detector, detection)
                next(current_turn, None)


if __name__ == "__main__":
    try:
        main()
    except WakewordError as error:  # for instance no microphone or file: one line that says what to do
        raise SystemExit(str(error)) from error
