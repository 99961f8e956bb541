"""Random use of a detector: valid and invalid blocks, calls in any order, a second thread.

After every call the detector must be in the state of a new one that has processed the same audio.
"""

import contextlib
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

import numpy as np

from fuzz.cases.blocks import described, right_block, sound, wrong_block
from fuzz.cases.laws import BrokenLawError
from wakeword import Detection, Detector, Model, WakewordError
from wakeword.audio.pcm import SAMPLE_RATE, PcmStream, to_mono
from wakeword.base.types import Array, Samples
from wakeword.format.verifier_card import FLOOR

RATES = (8_000, 16_000, 44_100, 48_000)
SCORE_TOLERANCE = 1e-3
"""Largest allowed difference of scores for different blocks: float32 sums depend on the size of a batch."""
FAR_BELOW = 0.5
"""In unchanging quiet, a score below this share of the threshold can be an older one, as it cannot fire."""
_MAX_SECONDS = 20.0
_HANG_SECONDS = 60.0


class Blocks:
    """An audio source with the given blocks."""

    def __init__(self, blocks: Sequence[Samples], sample_rate: int) -> None:
        self.sample_rate = sample_rate
        self._blocks = blocks

    def blocks(self) -> Iterator[Samples]:
        """The blocks, once."""
        yield from self._blocks


class Fuzzer:
    """One detector, the audio of its stream so far, and random calls.

    ``random`` determines everything: the same seed makes the same calls. ``make`` builds the detector, and others to
    compare with. Every method raises ``BrokenLawError`` if a law is broken.
    """

    def __init__(
        self,
        models: Sequence[Model],
        random: Random,
        make: Callable[..., Detector] = Detector,
    ) -> None:
        self._random = random
        self._models, self._make = models, make
        # The lowest one that fires at nearly every window.
        lowest = 1e-6 if all(model.card.verifier is None for model in models) else FLOOR
        self._threshold = random.choice((lowest, 0.3, 0.9, 1.0))
        self._rate = random.choice(RATES)
        self._settings: dict[str, Any] = {
            "channel": random.choice((None, 0)),
            "hop": random.choice((1, 2, 4)) * math.lcm(4, *(model.card.stack for model in models)),
            "refractory": random.choice((0, 100)),
            "pre_roll": random.choice((0.0, 0.5, 5.0)),
            "gate": random.random() < 0.8,
        }
        self.calls: list[str] = []
        """The calls made, for finding the cause of a fault."""
        self._pushed: list[Array] = []
        self._detector = self._new()

    def run(self, calls: int) -> None:
        """Make ``calls`` random calls, then compare."""
        actions: list[tuple[Callable[[], None], int]] = [
            (self._push, 12),
            (self._push_wrong, 4),
            (self._compare, 2),
            (self._flush, 1),
            (self._reset, 2),
            (self._push_suppressed, 2),
            (self._push_bytes, 1),
            (self._follow, 2),
            (self._run_source, 1),
            (self._disturb, 1),
            (self._close_while_pushing, 1),
        ]
        weighted = [action for action, weight in actions for _ in range(weight)]
        for _ in range(calls):
            self._call(self._random.choice(weighted))
            if sum(len(block) for block in self._pushed) > _MAX_SECONDS * self._rate:
                self._call(self._reset)
        self._call(self._compare)
        self._call(self._reset)

    def _call(self, action: Callable[[], None]) -> None:
        self.calls.append(action.__name__.strip("_"))
        try:
            action()
        except BrokenLawError:
            raise
        # An allowed WakewordError is caught where it is allowed: no error is allowed here.
        except Exception as error:
            raise BrokenLawError(f"{self.calls[-1]} raised {type(error).__name__}: {error}") from error

    # --- calls

    def _push(self) -> None:
        self._push_known(right_block(self._random))

    def _push_wrong(self) -> None:
        block = wrong_block(self._random)
        try:
            self._detector.push(block)
        except WakewordError:
            return
        raise BrokenLawError(f"accepted {described(block)}")

    def _push_suppressed(self) -> None:
        level = self._random.choice((None, 0.5, 0.999))
        block = right_block(self._random, channels=False)
        with self._detector.suppressed(level):
            found = self._push_known(block)
        if any(level is None or one.score < level for one in found):
            raise BrokenLawError(f"detected {found} while suppressed up to {level}")

    def _push_bytes(self) -> None:
        block = right_block(self._random, channels=False)
        audio = np.asarray(2**15 * to_mono(block).clip(-1, 1 - 2**-15), "<i2")
        try:
            self._detector.process_streaming(audio.tobytes())
        except WakewordError:
            return  # the stream has several channels
        self._pushed.append(to_mono(audio.astype(np.int16)))

    def _push_known(self, block: Samples) -> list[Detection]:
        try:
            found = self._detector.push(block)
        except WakewordError:
            return []  # another number of channels than before
        self._pushed.append(to_mono(block, channel=self._settings["channel"]))
        # The caller can reuse its buffer.
        block[...] = 1
        self._check(found)
        return found

    def _follow(self) -> None:
        """A follower reads the stream from the end of the detection on, without a gap."""
        found = self._push_known(right_block(self._random, channels=False))
        if not found:
            return
        pieces = []
        with self._detector.follow(found[-1]) as follower:
            for _ in range(self._random.randrange(4)):
                pieces.append(follower.read())
                self._push_known(right_block(self._random, channels=False))
            pieces.append(follower.read())
        stream = PcmStream(self._rate).push(np.concatenate(self._pushed))
        expected = stream[round(found[-1].end * SAMPLE_RATE) :]
        read = np.concatenate(pieces)
        if len(read) != len(expected) or np.abs(read - expected).max(initial=0) > 1e-5:
            raise BrokenLawError(f"a follower read {len(read)} samples that are not the {len(expected)} of the stream")

    def _flush(self) -> None:
        self._check(self._detector.flush(), at_end=True)
        self._expect_new("flush")

    def _reset(self) -> None:
        self._detector.reset()
        self._expect_new("reset")

    def _run_source(self) -> None:
        blocks = [right_block(self._random) for _ in range(self._random.randrange(6))]
        if self._random.random() < 0.3:
            blocks.append(wrong_block(self._random))
        listening = self._detector.run(Blocks(blocks, self._random.choice(RATES)))
        leave_early = self._random.random() < 0.5
        try:
            for _ in listening:
                if leave_early:
                    break
        except WakewordError:
            pass
        # Closed now, as happens when a loop is left and its iterator is garbage-collected.
        getattr(listening, "close", lambda: None)()
        self._expect_new("run")

    def _disturb(self) -> None:
        """While one thread pushes, another makes calls that are allowed from any thread at any time."""
        detector = self._detector
        calls: list[Callable[[], object]] = [
            detector.reset,
            lambda: detector.scores,
            lambda: detector.seconds,
            lambda: detector.suppressed(0.5).__enter__(),
            lambda: detector.follow(Detection("", 1.0, 0.0, detector.seconds, np.zeros(0, np.float32))).read(),
        ]
        with self._pushing():
            for _ in range(self._random.randrange(20)):
                # The audio for the follower may no longer be kept.
                with contextlib.suppress(WakewordError):
                    self._random.choice(calls)()
        self._detector, self._pushed = self._new(), []

    def _close_while_pushing(self) -> None:
        """One thread closes, another pushes: in any order, each succeeds or raises a ``WakewordError``."""
        with self._pushing() as thread:
            if self._random.random() < 0.5:
                thread.join(0.001 * self._random.randrange(5))
            self._detector.close()
            self._detector.close()
        self._detector, self._pushed = self._new(), []

    @contextmanager
    def _pushing(self) -> Iterator[threading.Thread]:
        """Another thread pushes meanwhile; it must end, with no error except ``WakewordError``."""
        blocks = [right_block(self._random) for _ in range(20)]
        faults: list[BaseException] = []

        def push() -> None:
            for block in blocks:
                try:
                    self._detector.push(block)
                except WakewordError:
                    pass
                except BaseException as error:
                    faults.append(error)

        thread = threading.Thread(target=push, daemon=True)
        thread.start()
        yield thread
        thread.join(_HANG_SECONDS)
        if thread.is_alive():
            raise BrokenLawError("push hangs")
        if faults:
            raise BrokenLawError(f"push raised {type(faults[0]).__name__}: {faults[0]}") from faults[0]

    # --- laws

    def _compare(self) -> None:
        """The detector equals a new one that has processed all the audio in one block."""
        other = self._new()
        if self._pushed:
            other.push(np.concatenate(self._pushed))
        if abs(other.seconds - self._detector.seconds) > 1e-9:
            raise BrokenLawError(f"processed {self._detector.seconds} s of {other.seconds} s")
        for keyword, score in self._detector.scores.items():
            if not 0 <= score <= 1:
                raise BrokenLawError(f"a score of {score}")
            if not same_score(score, other.scores[keyword], self._threshold):
                raise BrokenLawError(f"a score of {score}, in one block {other.scores[keyword]}")

    def _expect_new(self, after: str) -> None:
        """The detector equals a new one, bit for bit."""
        self._pushed = []
        other = self._new()
        if self._detector.seconds or self._detector.scores != other.scores:
            raise BrokenLawError(f"after {after} at {self._detector.seconds} s with {self._detector.scores}")
        seed = self._random.randrange(2**32)
        for number in range(3):
            block = sound(seed + number, self._rate // 2)
            found, expected = self._detector.push(block), other.push(block)
            same_audio = all(np.array_equal(a.audio, b.audio) for a, b in zip(found, expected, strict=False))
            if found != expected or not same_audio or self._detector.scores != other.scores:
                raise BrokenLawError(
                    f"after {after} not like a new one: {self._detector.scores}, {found}, not {other.scores}, {expected}"
                )
        self._detector.reset()

    def _check(self, found: Sequence[Detection], *, at_end: bool = False) -> None:
        for one in found:
            # After flush, a new stream has begun, whose time is 0.
            is_in_time = 0 <= one.start < one.end and (at_end or one.end <= self._detector.seconds + 1e-9)
            is_sound = one.audio.dtype == np.float32 and one.audio.ndim == 1 and bool(np.isfinite(one.audio).all())
            if not (is_in_time and is_sound and self._threshold <= one.score <= 1):
                raise BrokenLawError(f"a detection {one} with audio {described(one.audio)}")

    def _new(self) -> Detector:
        return self._make(self._models, threshold=self._threshold, sample_rate=self._rate, **self._settings)


def same_score(score: float, other: float, threshold: float) -> bool:
    """Whether two scores agree: equal within the tolerance, or both too low to fire, as one can be older."""
    return abs(score - other) <= SCORE_TOLERANCE or max(score, other) < FAR_BELOW * threshold
