"""Laws for programs that embed the detector: no audio lost after a detection, suppression, and a clean end."""

import asyncio
import contextlib
import gc
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import soxr
from support.builders import band_model_bytes, bursts, in_chunks

from wakeword import BusyError, CallbackError, ClosedError, ConfigError, Detection, Detector, Model
from wakeword.audio.asynchronous import MAX_WAITING
from wakeword.base.types import Samples
from wakeword.model.model import parse_model

SIGNAL = bursts(7, {1.0: "low", 2.5: "high", 4.2: "low", 5.5: "high"})


@pytest.fixture(scope="module")
def low_model() -> Model:
    return parse_model(band_model_bytes("low", 1))


@pytest.fixture(scope="module")
def high_model() -> Model:
    return parse_model(band_model_bytes("high", -1))


class Blocks:
    """A source of given blocks, repeated without end if ``endless``."""

    sample_rate = 16_000

    def __init__(self, signal: Samples, *, size: int = 320, endless: bool = False) -> None:
        self._blocks, self._endless = in_chunks(signal, size), endless

    def blocks(self) -> Iterator[Samples]:
        yield from self._blocks
        while self._endless:
            yield from self._blocks


# --- the audio that follows


@pytest.mark.parametrize("size", [1, 160, 1_280, 40_000])
def test_a_follower_continues_where_the_detection_ended(low_model: Model, size: int) -> None:
    detector, heard, first = Detector(low_model), [], None
    signal = SIGNAL[:40_000]
    for block in in_chunks(signal, size):
        found = detector.push(block)
        if found and first is None:
            first, follower = found[0], detector.follow(found[0])
        if first is not None:
            heard.append(follower.read())
    assert first is not None
    after = np.concatenate(heard)
    np.testing.assert_array_equal(after, signal[round(16_000 * first.end) :])
    np.testing.assert_array_equal(
        np.concatenate([first.audio, after]), signal[round(16_000 * first.end) - len(first.audio) :]
    )
    assert follower.dropped == 0


def test_several_followers_are_independent_and_a_closed_one_gets_no_more(low_model: Model) -> None:
    detector = Detector(low_model)
    (hit,) = detector.push(SIGNAL[:24_000])
    one, other = detector.follow(hit), detector.follow(hit)
    one.read()
    with one:
        detector.push(SIGNAL[24_000:30_000])
    detector.push(SIGNAL[30_000:31_000])
    np.testing.assert_array_equal(one.read(), SIGNAL[24_000:30_000])
    assert len(one.read()) == 0
    np.testing.assert_array_equal(other.read(), SIGNAL[round(16_000 * hit.end) : 31_000])
    assert not other.ended
    detector.flush()
    assert other.ended


def test_a_detection_of_long_ago_or_of_the_future_cannot_be_followed(low_model: Model) -> None:
    detector = Detector(low_model)
    (hit,) = detector.push(SIGNAL[:24_000])
    detector.push(np.zeros(160_000, np.float32))
    with pytest.raises(ConfigError, match="last second"):
        detector.follow(hit)
    detector.reset()
    with pytest.raises(ConfigError, match="last second"):
        detector.follow(hit)


@pytest.mark.parametrize("size", [320, 30_000])
def test_recording_reads_the_next_audio_and_the_loop_continues_after_it(low_model: Model, size: int) -> None:
    detector, ends, recordings = Detector(low_model), [], []
    for hit in detector.run(Blocks(SIGNAL, size=size)):
        ends.append(hit.end)
        recordings.append(detector.record(hit, 1.5))
    # A word inside a recording is not reported.
    assert len(ends) == 2
    for end, recording in zip(ends, recordings, strict=True):
        first = round(16_000 * end)
        np.testing.assert_array_equal(recording, SIGNAL[first : first + 24_000])


@pytest.mark.parametrize("seconds", [-1.0, 0.0, float("nan"), float("inf")])
def test_a_refused_recording_changes_nothing(low_model: Model, seconds: float) -> None:
    signal = bursts(4, {1.0: "low", 2.2: "low"})
    expected = list(Detector(low_model, refractory=0).run(Blocks(signal)))
    detector = Detector(low_model, refractory=0)
    found, recordings = [], []
    for hit in detector.run(Blocks(signal)):
        found.append(hit)
        with pytest.raises(ConfigError, match="positive number of seconds"):
            detector.record(hit, seconds)
        with detector.follow(hit) as follower:
            recordings.append(follower.read())
    assert found == expected
    assert len(recordings) == len(expected) >= 2


def test_recording_ends_when_until_is_true(low_model: Model) -> None:
    detector = Detector(low_model)
    hit = next(run := detector.run(Blocks(SIGNAL)))
    recording = detector.record(hit, 60, until=lambda newest: float(np.abs(newest).max(initial=0)) < 1e-3)
    assert 1.3 <= hit.end + len(recording) / 16_000 <= 1.35
    run.close()
    with pytest.raises(ConfigError, match=r"detector\.run"):
        detector.record(hit, 1)


@pytest.mark.parametrize("missing", [320, 960])
def test_a_word_at_the_end_is_followed_by_nothing(missing: int) -> None:
    model = parse_model(band_model_bytes("low", 1, pooling="max"))
    signal = bursts(1.98, {1.6: "low"})[: round(16_000 * 1.955) - missing]
    detector = Detector(model, hop=98)
    recordings = [detector.record(hit, 3.0) for hit in detector.run(Blocks(signal))]
    assert [len(recording) for recording in recordings] == [0]


@pytest.mark.parametrize("seconds", [1.0, 6.0])
def test_keywords_detected_together_each_record_the_audio_after_them(low_model: Model, seconds: float) -> None:
    other = parse_model(band_model_bytes("also low", 1))
    signal = bursts(10, {1.0: "low"})
    detector = Detector([low_model, other])
    heard = [(hit.end, detector.record(hit, seconds)) for hit in detector.run(Blocks(signal, size=1_600))]
    assert len(heard) == 2
    for end, recording in heard:
        first = round(16_000 * end)
        np.testing.assert_array_equal(recording, signal[first : first + round(16_000 * seconds)])


def test_a_follower_without_references_gets_no_more_audio(low_model: Model) -> None:
    detector = Detector(low_model)
    (hit,) = detector.push(SIGNAL[:24_000])
    followers = [detector.follow(hit) for _ in range(10)]
    assert len(detector._followers) == 10
    del followers
    gc.collect()
    assert len(detector._followers) == 0


def test_recording_belongs_to_the_thread_of_the_loop(low_model: Model) -> None:
    async def listen(detector: Detector) -> None:
        async for hit in detector.stream(Blocks(SIGNAL)):
            with pytest.raises(ConfigError, match="use follow"):
                detector.record(hit, 1.0)

    asyncio.run(listen(Detector(low_model)))


# --- loops that go on elsewhere


def test_each_step_of_a_loop_may_be_taken_in_another_thread(low_model: Model) -> None:
    expected = list(Detector(low_model).run(Blocks(SIGNAL)))
    detector, found = Detector(low_model), []
    run = detector.run(Blocks(SIGNAL))

    def step() -> bool:
        hit = next(run, None)
        found.extend([] if hit is None else [hit])
        return hit is not None

    while in_new_thread(step):
        pass
    assert found == expected
    assert len(found) == 2


def test_recording_may_happen_in_another_thread_while_the_loop_waits(low_model: Model) -> None:
    detector = Detector(low_model)
    run = detector.run(Blocks(SIGNAL))
    hit = in_new_thread(lambda: next(run))
    recording = in_new_thread(lambda: detector.record(hit, 1.5))
    first = round(16_000 * hit.end)
    np.testing.assert_array_equal(recording, SIGNAL[first : first + 24_000])
    assert in_new_thread(lambda: next(run)).end > hit.end


def in_new_thread(call):
    """The result of a call in a thread of its own, as an executor with many threads may use."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(call).result(30)


def test_a_consumer_that_is_slow_makes_the_source_wait_and_loses_nothing(low_model: Model) -> None:
    read = 0

    class Counted(Blocks):
        def blocks(self) -> Iterator[Samples]:
            nonlocal read
            for block in super().blocks():
                read += 1
                yield block

    word = bursts(1.5, {0.3: "low"})
    source = Counted(np.tile(word, 3 * MAX_WAITING), size=len(word))

    async def listen() -> list[float]:
        found, ends = Detector(low_model).stream(source), []
        ends.append((await anext(found)).end)
        waiting_for = time.monotonic() + 30
        before = -1
        while read != before or read < MAX_WAITING:  # until the source stands still
            assert time.monotonic() < waiting_for
            before = read
            await asyncio.sleep(0.3)
        assert read <= MAX_WAITING + 4
        ends += [hit.end async for hit in found]
        return ends

    ends = asyncio.run(listen())
    assert ends == [hit.end for hit in Detector(low_model).run(Blocks(np.tile(word, 3 * MAX_WAITING)))]
    assert len(ends) > 2 * MAX_WAITING


# --- while the assistant speaks


def test_nothing_fires_while_suppressed(low_model: Model, high_model: Model) -> None:
    detector, found = Detector([low_model, high_model]), []
    for second, block in enumerate(in_chunks(SIGNAL, 16_000)):
        if second in (1, 2):
            with detector.suppressed():
                found += detector.push(block)
        else:
            found += detector.push(block)
    assert [(hit.keyword, round(hit.start) >= 3) for hit in found] == [("low", True), ("high", True)]


def test_a_raised_threshold_applies_while_suppressed(low_model: Model) -> None:
    plain = {hit.end: hit.score for hit in Detector(low_model).push(SIGNAL)}
    for level in (0.7, 0.9999):
        detector = Detector(low_model)
        with detector.suppressed(0.3), detector.suppressed(level):
            found = detector.push(SIGNAL)
        assert all(hit.score >= level for hit in found)
        assert len(found) == (2 if level == 0.7 else 0)
        assert len(plain) == 2
        detector.reset()
        assert [hit.end for hit in detector.push(SIGNAL)] == list(plain)


def test_a_lower_level_does_not_end_a_higher_one_before_or_inside_it(low_model: Model) -> None:
    """The word is spoken at 1.0 s; that time stays suppressed, even if a lower level applies before, around or after."""
    in_sequence, nested = Detector(low_model), Detector(low_model)
    found = in_sequence.push(SIGNAL[:15_000])
    with in_sequence.suppressed():
        found += in_sequence.push(SIGNAL[15_000:16_500])
    with in_sequence.suppressed(0.01):
        found += in_sequence.push(SIGNAL[16_500:17_000])
    found += in_sequence.push(SIGNAL[17_000:40_000])
    with nested.suppressed(0.01):
        with nested.suppressed():
            found += nested.push(SIGNAL[:16_500])
        found += nested.push(SIGNAL[16_500:17_000])
    found += nested.push(SIGNAL[17_000:40_000])
    assert found == []
    assert [hit.keyword for hit in nested.push(SIGNAL[40_000:])] == ["low"]


def test_a_callback_may_wait_for_a_thread_that_uses_the_detector(low_model: Model) -> None:
    detector = Detector(low_model)

    def use(hit: Detection) -> None:
        def other() -> None:
            with detector.suppressed():
                pass

        thread = threading.Thread(target=other)
        thread.start()
        thread.join(10)
        assert not thread.is_alive()

    detector.on_detection = use
    assert len(detector.push(SIGNAL)) == 2


def test_a_callback_that_fails_loses_no_audio(low_model: Model) -> None:
    detector, seen = Detector(low_model), []

    def fail(hit: Detection) -> None:
        seen.append(hit)
        raise RuntimeError("the lamp is broken")

    detector.on_detection = fail
    with pytest.raises(CallbackError, match=r"2 calls of a callback failed, .*lamp is broken") as failed:
        detector.push(SIGNAL)
    assert [type(one) for one in failed.value.failures] == [RuntimeError, RuntimeError]
    assert failed.value.__cause__ is failed.value.failures[0]
    assert detector.seconds == len(SIGNAL) / 16_000
    assert len(seen) == 2


def test_a_callback_that_fails_loses_no_detection(low_model: Model) -> None:
    """Not even a detection of another word at the same moment, or at the end of the stream."""
    both = [low_model, parse_model(band_model_bytes("also low", 1))]
    block = bursts(3, {1.0: "low", 2.3: "low"})[:38_560]  # 2.41 s
    whole, detector, seen = Detector(both), Detector(both), []
    expected = [whole.push(block), whole.flush()]

    def fail(hit: Detection) -> None:
        seen.append(hit)
        raise RuntimeError(f"lamp {len(seen)} is broken")

    detector.on_detection = fail
    found = []
    for call in (lambda: detector.push(block), detector.flush):
        with pytest.raises(CallbackError, match="lamp") as failed:
            call()
        found.append(failed.value.detections)
    assert [len(some) for some in found] == [2, 2]
    assert [[hit.end for hit in some] for some in found] == [[hit.end for hit in some] for some in expected]
    assert len(seen) == 4
    assert detector.seconds == 0


# --- thresholds for each keyword


def test_points_and_thresholds_may_differ_between_keywords(low_model: Model, high_model: Model) -> None:
    both = [low_model, high_model]
    assert Detector(both, threshold={"high": 0.9}).thresholds == {"low": 0.5, "high": 0.9}
    assert Detector(both, point={"low": "fpr=0.03"}).thresholds == {"low": 0.5, "high": 0.5}
    with pytest.raises(ConfigError, match=r"keywords among \['low', 'high'\], got one for \['hihg'\]"):
        Detector(both, threshold={"hihg": 0.9})
    with pytest.raises(ConfigError, match="operating point 'best'"):
        Detector(both, point={"low": "best"})


# --- bytes in, yes or no out


def test_bytes_give_the_same_detections_as_samples(low_model: Model) -> None:
    pcm = (SIGNAL * 32_767).astype(np.int16)
    detector, other = Detector(low_model), Detector(low_model)
    for block in in_chunks(pcm, 160):
        assert detector.process_streaming(block.astype("<i2").tobytes()) == bool(other.push(block))
    assert not detector.process_streaming(b"")


# --- the end


def test_a_closed_detector_accepts_nothing_and_can_be_closed_again(low_model: Model) -> None:
    detector = Detector(low_model)
    (hit,) = detector.push(SIGNAL[:24_000])
    follower = detector.follow(hit)
    detector.close()
    detector.close()
    assert follower.ended
    assert detector.seconds == 0
    for call in (lambda: detector.push(SIGNAL), detector.flush, lambda: detector.process_streaming(b"ab")):
        with pytest.raises(ClosedError, match="expected an open detector"):
            call()


def test_closing_interrupts_a_long_push_of_another_thread(low_model: Model) -> None:
    detector, began = Detector(low_model, gate=False), threading.Event()
    detector.on_detection = lambda hit: began.set()
    found: list[Detection] = []
    hours = np.tile(SIGNAL, 500)
    thread = threading.Thread(target=lambda: found.extend(detector.push(hours)))
    thread.start()
    assert began.wait(30)
    started = time.monotonic()
    detector.close()
    assert time.monotonic() - started < 1
    thread.join(10)
    assert not thread.is_alive()
    assert 0 < len(found) < 1_000


def test_closing_from_the_callback_and_from_another_thread_ends_a_run(low_model: Model) -> None:
    detector = Detector(low_model)
    detector.on_detection = lambda hit: detector.close()
    assert len(list(detector.run(Blocks(SIGNAL, endless=True)))) <= 1
    other = Detector(low_model)
    timer = threading.Timer(0.1, other.close)
    timer.start()
    assert all(hit.keyword == "low" for hit in other.run(Blocks(SIGNAL, endless=True)))
    timer.join()


def test_a_stream_that_was_left_is_released_before_the_next_one(low_model: Model) -> None:
    async def listen(detector: Detector) -> list[Detection]:
        async with contextlib.aclosing(detector.stream(Blocks(SIGNAL, endless=True))) as found:
            async for _ in found:
                with pytest.raises(BusyError, match="still listens"):
                    detector.push(SIGNAL)
                with pytest.raises(BusyError, match="still listens"):
                    list(detector.run(Blocks(SIGNAL)))
                break
        return detector.push(SIGNAL)

    found = asyncio.run(listen(Detector(low_model)))
    assert [hit.end for hit in found] == [hit.end for hit in Detector(low_model).push(SIGNAL)]


def test_a_listener_that_stops_repeatedly_detects_each_time(low_model: Model) -> None:
    """At another rate than the detector's own: audio left in the resampler must not reach the next stream."""
    source = Blocks(soxr.resample(SIGNAL, 16_000, 48_000), size=960)
    source.sample_rate = 48_000

    async def listen() -> list[float]:
        detector, ends = Detector(low_model), []
        for _ in range(3):
            async with contextlib.aclosing(detector.stream(source)) as found:
                async for hit in found:
                    ends.append(hit.end)
                    break
        return ends

    ends = asyncio.run(listen())
    assert len(ends) == 3
    assert len(set(ends)) == 1


def test_invalid_sources_and_models_are_refused(low_model: Model) -> None:
    with pytest.raises(ConfigError, match=r"FileSource\('talk.wav'\), got 'talk.wav'"):
        next(Detector(low_model).run("talk.wav"))
    for wrong in (None, 3, [low_model, 3]):
        with pytest.raises(ConfigError, match="expected keywords, model files or models"):
            Detector(wrong)
    closed = Detector(low_model)
    closed.close()
    with pytest.raises(ClosedError):
        list(closed.run(Blocks(SIGNAL)))


def test_closing_ends_an_async_stream(low_model: Model) -> None:
    async def listen() -> int:
        detector, count = Detector(low_model), 0
        async for _ in detector.stream(Blocks(SIGNAL, endless=True)):
            count += 1
            detector.close()
        return count

    assert asyncio.run(asyncio.wait_for(listen(), 30)) >= 1


def test_ten_thousand_resets_leave_a_new_detector(low_model: Model) -> None:
    detector = Detector(low_model)
    for number in range(10_000):
        if number % 100 == 0:
            detector.push(SIGNAL[:20_000])
        detector.reset()
    assert [(h.end, h.score) for h in detector.push(SIGNAL)] == [
        (h.end, h.score) for h in Detector(low_model).push(SIGNAL)
    ]
