"""Attack: one detector or one pool, used by several threads at the same time, in any order of calls."""

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import numpy as np

from fuzz.cases.blocks import right_block, sound, wrong_block
from fuzz.cases.laws import BrokenLawError, Case, check_message
from fuzz.cases.use import Blocks
from wakeword import Detection, Detector, DetectorPool, Model, WakewordError, load_model
from wakeword.audio.pcm import SAMPLE_RATE

Call = Callable[[Random], object]
_HANG_SECONDS = 30.0
_MAX_CALLS = 25
_LOW = 1e-3
"""A threshold that fires often, and that models of two stages allow."""


class LampError(Exception):
    """Raised by a callback: the caller's own error, which comes to it as the cause of a ``CallbackError``."""


def prepare() -> Case:
    """Cases: ``detector`` or ``pool`` for one that is like a new one after two to five threads used it."""
    model = load_model("marvin")
    models = [model.stage_one(), model]

    def case(random: Random, folder: Path) -> str:
        used = random.choice(models)
        (_use_detector if random.random() < 0.6 else _use_pool)(used, random)
        return "used"

    return case


def _use_detector(model: Model, random: Random) -> None:
    caller = _Callback(random.random() < 0.3)
    detector = Detector(model, threshold=random.choice((_LOW, 0.5)), on_detection=caller)
    caller.calls = (detector.reset, detector.flush, lambda: detector.scores, lambda: detector.push(_block(Random(1))))
    if random.random() < 0.1:
        caller.calls += (detector.close,)
    everything: list[Call] = [
        lambda r: detector.push(_block(r)),
        lambda r: detector.push(_block(r)),
        lambda r: detector.push(wrong_block(r)),
        lambda r: detector.flush(),
        lambda r: detector.reset(),
        lambda r: detector.process_streaming(r.randbytes(r.randrange(4_000))),
        lambda r: (detector.scores, detector.seconds, detector.thresholds, detector.keywords, detector.is_asleep),
        lambda r: _suppressing(detector, r),
        lambda r: _listening(detector, r),
        lambda r: _following(detector),
        lambda r: detector.record(_detection(detector), r.choice((0.1, 0.0, -1.0, float("nan")))),
    ]
    if random.random() < 0.2:
        everything.append(lambda r: detector.close() if r.random() < 0.2 else None)
    run_threads(everything, random)
    caller.calls, caller.raises = (), False
    with contextlib.suppress(WakewordError):  # it may be closed
        detector.reset()
        _expect_new(detector, Detector(model, threshold=detector.thresholds[model.card.phrase]), random)


def _use_pool(model: Model, random: Random) -> None:
    pool = DetectorPool(model, threshold=random.choice((_LOW, 0.5)), batch=random.choice((1, 3, 8)))
    streams = [pool.open(name=str(number)) for number in range(random.randrange(1, 5))]

    def reopened(r: Random) -> None:
        place = r.randrange(len(streams))
        streams[place].close()
        streams[place] = pool.open(sample_rate=r.choice((8_000, 16_000, 48_000)))

    everything: list[Call] = [
        lambda r: r.choice(streams).push(_block(r)),
        lambda r: r.choice(streams).push(_block(r)),
        lambda r: r.choice(streams).push(wrong_block(r)),
        lambda r: pool.process(),
        lambda r: pool.process(),
        lambda r: r.choice(streams).flush(),
        lambda r: r.choice(streams).reset(),
        lambda r: (r.choice(streams).scores, r.choice(streams).waiting, r.choice(streams).seconds),
        lambda r: r.choice(streams).suppressed(r.choice((None, 0.5))).__enter__(),
        reopened,
        lambda r: r.choice(streams).close() if r.random() < 0.2 else None,
    ]
    if random.random() < 0.1:
        everything.append(lambda r: pool.close() if r.random() < 0.2 else None)
    run_threads(everything, random)
    with contextlib.suppress(WakewordError):  # it may be closed
        stream = pool.open(threshold=0.5)
        pool.process()
        signal = sound(random.randrange(2**32), 2 * SAMPLE_RATE)
        stream.push(signal)
        pool.process()
        other = Detector(model, threshold=0.5)
        other.push(signal)
        found, expected = stream.scores, other.scores
        if any(abs(found[name] - score) > 1e-3 for name, score in expected.items()):
            raise BrokenLawError(f"a new stream has scores {found}, a detector {expected}")
    pool.close()


class _Callback:
    """Called at detections: makes a random call of the detector, and raises if it ``raises``."""

    def __init__(self, raises: bool) -> None:
        self.calls: tuple[Callable[[], object], ...] = ()
        self.raises = raises
        self._count = 0

    def __call__(self, detection: Detection) -> None:
        self._count += 1
        if self.calls and self._count <= 3:  # it calls itself through push
            with contextlib.suppress(WakewordError):
                self.calls[self._count % len(self.calls)]()
        if self.raises:
            raise LampError("on_detection")


def run_threads(calls: Sequence[Call], random: Random) -> None:
    """Make random calls from two to five threads. Each ends, with its result or a ``WakewordError`` of one line."""
    faults: list[BaseException] = []

    def use(seed: int) -> None:
        own = Random(seed)
        for _ in range(own.randrange(_MAX_CALLS)):
            try:
                own.choice(calls)(own)
            except WakewordError as error:
                try:
                    check_message(str(error))
                except BrokenLawError as fault:
                    faults.append(fault)
            except BaseException as fault:
                faults.append(fault)

    threads = [
        threading.Thread(target=use, args=(random.randrange(2**32),), daemon=True)
        for _ in range(random.randrange(2, 6))
    ]
    ending = time.monotonic() + _HANG_SECONDS
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, ending - time.monotonic()))
    if any(thread.is_alive() for thread in threads):
        raise BrokenLawError(f"a thread hangs after {_HANG_SECONDS:.0f} s")
    if faults:
        raise BrokenLawError(f"a call in a thread raised {type(faults[0]).__name__}: {faults[0]}") from faults[0]


def _block(random: Random) -> np.ndarray:
    return np.asarray(right_block(random, channels=False))


def _suppressing(detector: Detector, random: Random) -> None:
    with detector.suppressed(random.choice((None, 0.5))):
        detector.push(_block(random))


def _listening(detector: Detector, random: Random) -> None:
    blocks = [_block(random) for _ in range(random.randrange(5))]
    listening = detector.run(Blocks(blocks, random.choice((8_000, 16_000, 44_100))))
    for detection in listening:
        if random.random() < 0.3:
            detector.record(detection, 0.2)
        if random.random() < 0.3:
            break
    getattr(listening, "close", lambda: None)()


def _following(detector: Detector) -> None:
    with detector.follow(_detection(detector)) as follower:
        follower.read()


def _detection(detector: Detector) -> Detection:
    return Detection("", 1.0, 0.0, detector.seconds, np.zeros(0, np.float32))


def _expect_new(detector: Detector, other: Detector, random: Random) -> None:
    """Scores and detections equal those of a new detector, in every digit."""
    signal = sound(random.randrange(2**32), 2 * SAMPLE_RATE)
    found, expected = detector.push(signal), other.push(signal)
    if detector.scores != other.scores or found != expected:
        raise BrokenLawError(f"not like a new one after threads: {detector.scores}, not {other.scores}")
