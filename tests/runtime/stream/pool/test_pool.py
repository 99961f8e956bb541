"""Laws of the pool: each stream has the detections of a separate detector, whatever the others do."""

import gc
import inspect
import itertools
import threading
import tracemalloc
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pytest
import soxr
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import CHUNKS, band_model_bytes, bursts, in_chunks, random_model

from wakeword import (
    AudioFormatError,
    ClosedError,
    ConfigError,
    Detection,
    Detector,
    DetectorPool,
    Model,
    ModelError,
    PoolStream,
)
from wakeword.base.types import Samples
from wakeword.model.model import parse_model

EVENTS = {1.3: "low", 3.0: "high", 4.5: "low", 5.0: "high"}
pytestmark = pytest.mark.numeric

SIGNAL = bursts(7.3, EVENTS)
OTHER = bursts(6.2, {1.1: "high", 2.4: "low", 4.9: "low"}, seed=1)


def test_a_setting_has_one_type_and_default_in_a_detector_and_in_a_pool() -> None:
    of_detector = inspect.signature(Detector).parameters
    for made, own in ((DetectorPool, {"batch", "max_waiting"}), (DetectorPool.open, {"self", "name"})):
        parameters = inspect.signature(made).parameters
        assert own <= set(parameters)
        for name in set(parameters) - own:
            assert parameters[name] == of_detector[name]


def found_by(pool: DetectorPool, blocks: Mapping[PoolStream, Iterable[Samples]]) -> dict[PoolStream, list[Detection]]:
    """The detections if one block of each stream is pushed at a time, flush included."""
    found: dict[PoolStream, list[Detection]] = {stream: [] for stream in blocks}

    def process() -> None:
        for stream, detection in pool.process():
            found[stream].append(detection)

    for together in itertools.zip_longest(*blocks.values()):
        for stream, block in zip(blocks, together, strict=True):
            if block is not None:
                stream.push(block)
        process()
    for stream in blocks:
        stream.flush()
    process()
    return found


def alone(
    models: Model | Sequence[Model], signal: Samples, *, sample_rate: int = 16_000, threshold: float | None = None
) -> list[Detection]:
    """The detections of a separate detector."""
    detector = Detector(models, sample_rate=sample_rate, threshold=threshold)
    return detector.push(signal) + detector.flush()


def assert_same(found: list[Detection], expected: list[Detection], *, tolerance: float = 0.0) -> None:
    """The same detections, audio included; resampling in other pieces may change it by ``tolerance``."""
    assert [(hit.keyword, hit.start, hit.end) for hit in found] == [
        (hit.keyword, hit.start, hit.end) for hit in expected
    ]
    for hit, other in zip(found, expected, strict=True):
        assert hit.score == pytest.approx(other.score, abs=1e-4)
        np.testing.assert_allclose(hit.audio, other.audio, rtol=0, atol=tolerance)


@pytest.fixture(scope="session")
def three_models(low_model: Model, high_model: Model) -> list[Model]:
    """Windows of 98, 40 and 98 frames: their hops end at different frames."""
    return [low_model, parse_model(band_model_bytes("short", 1, window=40)), high_model]


# --- each stream is a detector


@pytest.mark.parametrize(("count", "batch"), [(1, 8), (2, 8), (3, 1), (7, 4), (13, 8)])
def test_streams_equal_separate_detectors(three_models: list[Model], count: int, batch: int) -> None:
    pool = DetectorPool(three_models, batch=batch)
    signals = [bursts(4, {1.2 + 0.07 * i: "low", 2.2 + 0.05 * i: "high"}, seed=i) for i in range(count)]
    streams = [pool.open() for _ in signals]
    found = found_by(pool, {s: in_chunks(signal, 1_280) for s, signal in zip(streams, signals, strict=True)})
    for stream, signal in zip(streams, signals, strict=True):
        assert len(found[stream]) == 3
        assert_same(found[stream], alone(three_models, signal))


@pytest.mark.parametrize(
    ("size", "hop"), [*((size, 8) for size in CHUNKS), (200_000, 8), (1_280, 10), (509, 98), (16_001, 98)]
)
def test_chunking_does_not_matter(low_model: Model, high_model: Model, size: int, hop: int) -> None:
    signal = SIGNAL[8_000:28_000] if size == 1 else SIGNAL
    # Windows that do not overlap find a burst anywhere in them.
    models = [parse_model(band_model_bytes("low", 1, pooling="max"))] if hop == 98 else [low_model, high_model]
    pool, detector = DetectorPool(models, hop=hop), Detector(models, hop=hop)
    stream, number = pool.open(), 0
    for block in in_chunks(signal, size):
        stream.push(block)
        found = [detection for _, detection in pool.process()]
        assert_same(found, detector.push(block))
        number += len(found)
        # Less than the next hop needs.
        assert stream.waiting < (hop + 2) / 100
    assert number
    stream.flush()
    assert_same([detection for _, detection in pool.process()], detector.flush())


@pytest.mark.parametrize("pooling", ["last", "mean", "max", "attention"])
@pytest.mark.parametrize(("stack", "window"), [(1, 98), (2, 98), (2, 96), (1, 16), (2, 20)])
def test_scores_are_those_of_detectors(pooling: str, stack: int, window: int) -> None:
    model = random_model(pooling, stack, window=window)
    pool = DetectorPool(model, threshold=1.0, batch=2, gate=False)
    streams = [pool.open() for _ in range(3)]
    detectors = [Detector(model, threshold=1.0, gate=False) for _ in streams]
    parts = [SIGNAL[:70_000], OTHER[20_000:], SIGNAL[40_000:]]
    seen = set()
    for blocks in zip(*(in_chunks(part, 1_280) for part in parts), strict=False):
        for stream, detector, block in zip(streams, detectors, blocks, strict=True):
            stream.push(block)
            detector.push(block)
        pool.process()
        for stream, detector in zip(streams, detectors, strict=True):
            assert stream.scores["marvin"] == pytest.approx(detector.scores["marvin"], abs=1e-4)
            seen.add(stream.scores["marvin"])
    assert len(seen) > 50


def test_each_stream_has_its_own_rate_dtype_and_channels(low_model: Model, high_model: Model) -> None:
    models = [low_model, high_model]
    pool = DetectorPool(models)
    stereo = np.stack([np.zeros_like(OTHER), OTHER], axis=1)
    blocks = {}
    expected = []
    for rate in (8_000, 16_000, 44_100, 48_000):
        recorded = (32_767 * soxr.resample(SIGNAL, 16_000, rate)).astype(np.int16)
        blocks[pool.open(sample_rate=rate)] = in_chunks(recorded, 441)
        expected.append(alone(models, recorded, sample_rate=rate))
    blocks[pool.open(channel=1)] = in_chunks(stereo, 3_000)
    expected.append(alone(models, OTHER))
    blocks[pool.open(channel=0)] = in_chunks(stereo, 300)
    expected.append([])
    for found, wanted in zip(found_by(pool, blocks).values(), expected, strict=True):
        assert_same(found, wanted, tolerance=1e-5)


def test_thresholds_are_those_of_the_pool_or_of_the_stream(low_model: Model, high_model: Model) -> None:
    pool = DetectorPool([low_model, high_model])
    usual, deaf = pool.open(), pool.open(threshold={"low": 1.0})
    assert usual.thresholds == {"low": 0.5, "high": 0.5}
    assert deaf.thresholds == {"low": 1.0, "high": 0.5}
    assert pool.open(point={"high": "fpr=0.03"}).thresholds == usual.thresholds
    found = found_by(pool, {stream: in_chunks(SIGNAL, 1_280) for stream in (usual, deaf)})
    assert [hit.keyword for hit in found[usual]] == ["low", "high", "low", "high"]
    assert [hit.keyword for hit in found[deaf]] == ["high", "high"]


def test_a_detection_is_returned_when_its_window_is_complete(three_models: list[Model]) -> None:
    pool = DetectorPool(three_models)
    stream, number = pool.open(), 0
    for block in in_chunks(SIGNAL, 160):
        stream.push(block)
        for _, hit in pool.process():
            number += 1
            assert stream.seconds - 0.01 < hit.end <= stream.seconds
    assert number == 6


@pytest.mark.parametrize("level", [0.0, 3e-4])
def test_quiet_is_skipped_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, three_models: list[Model], level: float
) -> None:
    models = three_models[:2]
    quiet = (level * np.random.default_rng(2).standard_normal(16_000 * 9)).astype(np.float32)
    signal = np.concatenate([SIGNAL[16_000:50_000], quiet, OTHER[:50_000], quiet[:40_001]])
    expected = alone(models, signal)
    scored, counts = [], []
    score = DetectorPool._score

    def counting(pool: DetectorPool, streams: list[PoolStream], *rest: Any) -> None:
        scored.append(len(streams))
        score(pool, streams, *rest)

    monkeypatch.setattr(DetectorPool, "_score", counting)
    for gate in (True, False):
        pool = DetectorPool(models, gate=gate)
        stream = pool.open()
        assert_same(found_by(pool, {stream: in_chunks(signal, 1_000)})[stream], expected)
        counts.append(sum(scored))
        scored.clear()
    assert counts[0] < 0.7 * counts[1]


# --- streams join, end, begin again and leave


def test_flush_and_reset_begin_a_new_stream(three_models: list[Model]) -> None:
    pool = DetectorPool(three_models)
    stream = pool.open()
    stream.push(OTHER)
    stream.push(SIGNAL[:30_000])
    pool.process()
    stream.reset()
    assert stream.seconds == 0
    for end in (50_001, len(SIGNAL), 0, 3, 16_000):
        stream.push(SIGNAL[:end])
        assert stream.seconds == end / 16_000
        stream.flush()
        assert stream.seconds == 0
        # The time of the work does not matter: the next stream may already wait behind this one.
        stream.push(OTHER)
        stream.flush()
        detections = [detection for _, detection in pool.process()]
        assert_same(detections, alone(three_models, SIGNAL[:end]) + alone(three_models, OTHER))


def test_reset_drops_waiting_audio(low_model: Model) -> None:
    pool = DetectorPool(low_model)
    stream = pool.open()
    stream.push(SIGNAL)
    stream.flush()
    stream.push(SIGNAL[:5_000])
    stream.reset()
    assert stream.waiting == 0
    assert pool.process() == []
    stream.push(SIGNAL)
    stream.flush()
    assert_same([detection for _, detection in pool.process()], alone(low_model, SIGNAL))


def test_reset_cancels_a_flush() -> None:
    model = parse_model(band_model_bytes("low", 1, pooling="max"))
    clip = SIGNAL[20_000:26_000]
    assert alone(model, clip)
    pool = DetectorPool(model)
    stream = pool.open()
    stream.push(clip)
    assert pool.process() == []
    stream.flush()
    stream.reset()
    assert pool.process() == []


def test_a_closed_stream_does_not_affect_the_next(three_models: list[Model]) -> None:
    pool = DetectorPool(three_models)
    for end in (20_000, 28_000, 55_555):
        with pool.open() as stream:
            stream.push(SIGNAL[:end])
            pool.process()
        # It gets the slot of the other, which left during a burst.
        fresh = pool.open()
        assert_same(found_by(pool, {fresh: in_chunks(OTHER, 777)})[fresh], alone(three_models, OTHER))
        fresh.close()


def test_a_closed_stream_detects_and_accepts_nothing(low_model: Model) -> None:
    pool = DetectorPool(low_model)
    stream, stays = pool.open(name="kitchen"), pool.open()
    stream.push(SIGNAL)
    stays.push(SIGNAL)
    stream.close()
    stream.close()
    assert {each for each, _ in pool.process()} == {stays}
    for use in (partial(stream.push, SIGNAL), stream.flush, stream.reset):
        with pytest.raises(ClosedError, match="kitchen: expected an open stream"):
            use()


def test_a_closed_pool_accepts_nothing(low_model: Model) -> None:
    with DetectorPool(low_model) as pool:
        stream = pool.open()
        stream.push(SIGNAL)
    assert pool.process() == []
    with pytest.raises(ClosedError, match="open stream"):
        stream.push(SIGNAL)
    with pytest.raises(ClosedError, match="open pool"):
        pool.open()


@pytest.mark.parametrize(
    "bad",
    [np.array([np.nan], np.float32), np.zeros(10), np.zeros((2, 2, 2), np.int16), np.zeros((10, 2), np.float32)],
    ids=["NaN", "float64", "shape", "channels"],
)
@pytest.mark.parametrize("rate", [16_000, 48_000])
def test_a_bad_block_affects_no_stream(low_model: Model, bad: Samples, rate: int) -> None:
    pool = DetectorPool(low_model)
    good, poor = pool.open(sample_rate=rate), pool.open(sample_rate=rate, name="attic")
    found: dict[PoolStream, list[Detection]] = {good: [], poor: []}
    for block in in_chunks(SIGNAL, 2_000):
        for stream in (good, poor):
            stream.push(block)
        with pytest.raises(AudioFormatError, match="attic: expected"):
            poor.push(bad)
        for stream, detection in pool.process():
            found[stream].append(detection)
    expected = Detector(low_model, sample_rate=rate).push(SIGNAL)
    for detections in found.values():
        assert_same(detections, expected, tolerance=1e-5)


def test_a_thousand_streams_join_and_leave_without_using_memory(low_model: Model) -> None:
    pool = DetectorPool(low_model, pre_roll=0)

    def visit(number: int) -> None:
        for i in range(number):
            with pool.open() as stream:
                stream.push(SIGNAL[: 16_000 if i % 50 == 0 else 160 * (i % 20)])
                if i % 3:
                    pool.process()

    visit(20)
    tracemalloc.start()
    try:
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        visit(1_000)
        pool.process()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # One stream takes at least 100 kB.
    assert after - before < 50_000


# --- suppression


def test_suppression_equals_that_of_a_detector(three_models: list[Model]) -> None:
    """Whether the work is done immediately or at the end."""
    for late in (False, True):
        for first, last, level in ((10, 30, None), (10, 80, 0.9), (0, 20, None), (85, 120, 0.999999)):
            pool, detector = DetectorPool(three_models), Detector(three_models)
            stream = pool.open()
            found, expected = [], []
            for blocks, during in ((slice(first), False), (slice(first, last), True), (slice(last, None), False)):
                for block in in_chunks(SIGNAL, 1_280)[blocks]:
                    if during:
                        with stream.suppressed(level), detector.suppressed(level):
                            stream.push(block)
                            expected += detector.push(block)
                    else:
                        stream.push(block)
                        expected += detector.push(block)
                    if not late:
                        found += [detection for _, detection in pool.process()]
            found += [detection for _, detection in pool.process()]
            assert_same(found, expected)


# --- random use


@lru_cache
def _models(number: int) -> list[Model]:
    band = [parse_model(band_model_bytes("low", 1)), parse_model(band_model_bytes("high", -1))]
    short = parse_model(band_model_bytes("short", 1, window=40, pooling="max"))
    return [[random_model("attention", 2)], band, [*band, short], [random_model("mean", 2, window=90), short]][number]


@dataclass
class Follow:
    """A stream of the pool, the detector that it must equal, and the detections of both."""

    stream: PoolStream
    detector: Detector
    signal: Samples
    tolerance: float
    place: int = 0
    found: list[Detection] = field(default_factory=list)
    expected: list[Detection] = field(default_factory=list)

    def act(self, action: str, size: int) -> None:
        """Do the same to both."""
        if action == "push":
            block = self.signal[self.place : self.place + size]
            self.place += len(block)
            self.stream.push(block)
            self.expected += self.detector.push(block)
        elif action == "flush":
            self.stream.flush()
            self.expected += self.detector.flush()
        else:
            with pytest.raises(AudioFormatError):
                self.stream.push(np.zeros(size + 1))


ACTIONS = st.sampled_from(["push"] * 12 + ["flush", "bad", "reset", "close", "open", "open", "process", "process"])


@settings(max_examples=40)
@given(
    st.integers(0, 3),
    st.sampled_from([1, 3, 8]),
    st.booleans(),
    st.lists(
        st.tuples(ACTIONS, st.integers(0, 5), st.sampled_from([0, 1, 160, 1_280, 5_000, 40_000])),
        min_size=5,
        max_size=60,
    ),
)
def test_random_use(models: int, batch: int, gate: bool, calls: list[tuple[str, int, int]]) -> None:
    pool = DetectorPool(_models(models), batch=batch, gate=gate)
    follows: list[Follow] = []
    opened = itertools.count()

    def open_one() -> None:
        number = next(opened)
        rate = (16_000, 8_000, 48_000)[number % 3]
        signal = soxr.resample(np.roll(SIGNAL, 9_000 * number), 16_000, rate) if number % 4 else 0 * SIGNAL
        follows.append(
            Follow(
                pool.open(sample_rate=rate),
                Detector(_models(models), sample_rate=rate),
                signal,
                0.0 if rate == 16_000 else 1e-5,
            )
        )

    def process() -> None:
        of = {follow.stream: follow for follow in follows}
        for stream, detection in pool.process():
            of[stream].found.append(detection)
        for follow in follows:
            assert follow.stream.seconds == follow.detector.seconds
            assert_same(follow.found, follow.expected, tolerance=follow.tolerance)

    open_one()
    for action, which, size in calls:
        if action == "open" or not follows:
            open_one()
        elif action == "process":
            process()
        elif action == "close":
            process()
            follows.pop(which % len(follows)).stream.close()
        elif action == "reset":
            process()  # so that both have found the same
            follow = follows[which % len(follows)]
            follow.stream.reset()
            follow.detector.reset()
        else:
            follows[which % len(follows)].act(action, size)
    process()


# --- threads


def test_a_pool_closes_while_others_open_streams(low_model: Model) -> None:
    pool, errors = DetectorPool([low_model]), []

    def open_many() -> None:
        try:
            while True:
                pool.open()
        except ClosedError:
            pass
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=open_many) for _ in range(4)]
    for thread in threads:
        thread.start()
    kept = [pool.open() for _ in range(50)]
    pool.close()
    for thread in threads:
        thread.join(60)
    assert errors == []
    assert all(stream.closed for stream in kept)


def test_streams_are_fed_opened_and_closed_while_others_are_processed(low_model: Model, high_model: Model) -> None:
    models = [low_model, high_model]
    pool, expected = DetectorPool(models), alone(models, SIGNAL)
    found: dict[PoolStream, list[Detection]] = {}
    errors: list[BaseException] = []
    done = threading.Event()

    def feed(number: int) -> None:
        try:
            for turn in range(3):
                with pool.open() as passing:
                    passing.push(OTHER[: 10_000 * turn])
                stream = pool.open()
                found[stream] = []
                for block in in_chunks(SIGNAL, 1_600 + 100 * number):
                    stream.push(block)
                stream.flush()
        except BaseException as error:
            errors.append(error)

    def process() -> None:
        try:
            while not done.is_set():
                for stream, detection in pool.process():
                    found[stream].append(detection)
        except BaseException as error:
            errors.append(error)

    feeders = [threading.Thread(target=feed, args=(number,)) for number in range(4)]
    workers = [threading.Thread(target=process) for _ in range(2)]
    for thread in feeders + workers:
        thread.start()
    for thread in feeders:
        thread.join(60)
    done.set()
    for thread in workers:
        thread.join(60)
    for stream, detection in pool.process():
        found[stream].append(detection)
    assert errors == []
    assert len(found) == 12
    for detections in found.values():
        assert_same(sorted(detections, key=lambda hit: hit.end), expected)


def test_nothing_waits_for_the_network(monkeypatch: pytest.MonkeyPatch, low_model: Model) -> None:
    """During a call of the network, streams can be fed, opened, reset and closed."""
    pool = DetectorPool(low_model)
    busy, gone, restarted, ending = (pool.open() for _ in range(4))
    ending.push(SIGNAL[:39_000])
    pool.process()
    inside, go_on = threading.Event(), threading.Event()
    advance = type(pool._scorers[0]).advance

    def slow(*args: object) -> list[float | None]:
        inside.set()
        assert go_on.wait(30)
        return advance(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(type(pool._scorers[0]), "advance", slow)
    for stream in (busy, gone, restarted):
        stream.push(SIGNAL[:40_000])
    ending.flush()
    found: list[tuple[PoolStream, Detection]] = []
    thread = threading.Thread(target=lambda: found.extend(pool.process()))
    thread.start()
    assert inside.wait(30)
    pool.open().push(OTHER)
    busy.push(SIGNAL[40_000:])
    gone.close()
    restarted.reset()
    ending.push(SIGNAL[:600])
    go_on.set()
    thread.join(30)
    assert not thread.is_alive()
    # The detections of ``gone`` and ``restarted`` do not count any more.
    assert [stream for stream, _ in found] == [busy]
    # The first hop of a new stream is short: it is due before the next hop of the old stream would have been.
    pool.process()
    assert ending.waiting == 0


# --- settings


def test_settings_out_of_range_are_refused(low_model: Model) -> None:
    with pytest.raises(ConfigError, match="one or more models"):
        DetectorPool([])
    with pytest.raises(ConfigError, match="different keywords"):
        DetectorPool([low_model, low_model])
    with pytest.raises(ConfigError, match="operating point 'best'"):
        DetectorPool(low_model, point="best")
    with pytest.raises(ConfigError, match="threshold"):
        DetectorPool(low_model, threshold=0)
    for model, hop in ((low_model, 99), (random_model("last", 2), 7)):
        with pytest.raises(ConfigError, match=r"expected a hop of 1\.\.98"):
            DetectorPool(model, hop=hop)
    with pytest.raises(ModelError, match="could not read"):
        DetectorPool("missing.onnx")
    pool = DetectorPool(low_model)
    with pytest.raises(ConfigError, match="threshold"):
        pool.open(threshold=2.0)
    with pytest.raises(ConfigError, match="among"):
        pool.open(threshold={"other": 0.5})


def test_streams_that_are_dropped_without_close_free_their_slots() -> None:
    pool = DetectorPool(random_model("attention", 2))
    taken = []
    for _ in range(2):
        streams = [pool.open() for _ in range(20)]
        for stream in streams:
            stream.push(np.full(20_000, 0.1, np.float32) * np.sin(np.arange(20_000, dtype=np.float32)))
        pool.process()
        taken.append(pool._slots._number)
        del streams, stream
        gc.collect()
        pool.process()
    assert taken[0] == taken[1] >= 20
