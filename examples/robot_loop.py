"""A control loop at a fixed rate that checks in each turn whether the wake word was spoken.

    python examples/robot_loop.py                                      # the default microphone, until Ctrl-C
    python examples/robot_loop.py --input assets/audio/sentences.flac  # a recording instead

The detector listens in a thread and puts its detections into a queue; the loop never waits for audio. If the microphone
fails, the loop ends with its error, so that the robot does not continue without hearing.
"""

import argparse
import queue
import threading
import time
from contextlib import closing, suppress

from wakeword import AudioSource, Detection, Detector, FileSource, Microphone, WakewordError

PERIOD = 0.02  # seconds of one turn: 50 Hz


class Ears:
    """Listens in a thread; ``poll`` never waits."""

    def __init__(self, detector: Detector, source: AudioSource) -> None:
        self._found: queue.SimpleQueue[Detection | Exception | None] = queue.SimpleQueue()
        self._detector = detector
        self._thread = threading.Thread(target=self._listen, args=(source,), daemon=True)
        self._thread.start()
        self.ended = False

    def _listen(self, source: AudioSource) -> None:
        end: Exception | None = None
        try:
            for detection in self._detector.run(source):
                self._found.put(detection)
        except Exception as error:  # raised by poll
            end = error
        self._found.put(end)

    def poll(self) -> Detection | None:
        """The next detection, if there is one. Raises what the source raised."""
        if self._found.empty():
            return None
        found = self._found.get()
        if isinstance(found, Exception):
            raise found
        self.ended = found is None
        return found

    def close(self) -> None:
        """Stop listening; returns when the thread has ended, or after a second."""
        self._detector.close()
        self._thread.join(timeout=1)


def drive(ears: Ears) -> None:
    """The robot: turns at a fixed rate until the source ends, or Ctrl-C."""
    turns, late = 0, 0.0
    due = time.monotonic()
    with suppress(KeyboardInterrupt):
        while not ears.ended:
            if (heard := ears.poll()) is not None:
                print(f"turn {turns}: {heard.keyword} ended at {heard.end:.2f} s; stopping the motors", flush=True)
            turns += 1
            due += PERIOD
            late = max(late, time.monotonic() - due)
            time.sleep(max(0.0, due - time.monotonic()))
    print(f"{turns} turns, the latest {1_000 * max(0.0, late):.1f} ms late", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="A control loop with ears.")
    parser.add_argument("--input", metavar="FILE", help="a recording instead of the microphone")
    file = parser.parse_args().input
    source = Microphone() if file is None else FileSource(file)
    with source, closing(Ears(Detector("jarvis"), source)) as ears:
        drive(ears)


if __name__ == "__main__":
    try:
        main()
    except WakewordError as error:  # for instance no microphone or file: one line that says what to do
        raise SystemExit(str(error)) from error
