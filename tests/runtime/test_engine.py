"""Laws of the detector, with models that fire on low and on high bursts of noise and on nothing else."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import CHUNKS, band_model_bytes, bursts, in_chunks, random_model

from wakeword import AudioFormatError, ConfigError, Detection, Detector, FileSource, Model, ModelError
from wakeword.base.types import Samples
from wakeword.model.model import parse_model

HOP_SECONDS, WINDOW_SECONDS = 0.08, 0.995

EVENTS = {1.3: "low", 3.0: "high", 4.5: "low", 5.0: "high"}
pytestmark = pytest.mark.numeric

SIGNAL = bursts(7.3, EVENTS)


def detections(detector: Detector, signal: Samples, size: int | None = None) -> list[Detection]:
    """All detections in ``signal``, pushed in blocks of ``size``, flush included."""
    found = [hit for block in in_chunks(signal, size or len(signal)) for hit in detector.push(block)]
    return found + detector.flush()


def assert_same(found: list[Detection], expected: list[Detection]) -> None:
    """The same detections, every digit of the score and the audio included."""
    assert [(hit.keyword, hit.start, hit.end) for hit in found] == [
        (hit.keyword, hit.start, hit.end) for hit in expected
    ]
    for hit, other in zip(found, expected, strict=True):
        assert hit.score == other.score
        np.testing.assert_array_equal(hit.audio, other.audio)


class Blocks:
    """A source of given blocks; counts those that were read."""

    def __init__(self, signal: Samples, *, size: int = 1_280, sample_rate: int = 16_000) -> None:
        self.sample_rate = sample_rate
        self.taken = 0
        self._blocks = in_chunks(signal, size)

    def blocks(self) -> Iterator[Samples]:
        for block in self._blocks:
            self.taken += 1
            yield block


# --- what is found


def test_each_event_fires_once(low_model: Model, high_model: Model) -> None:
    found = detections(Detector([low_model, high_model]), SIGNAL)
    assert [hit.keyword for hit in found] == list(EVENTS.values())
    for hit, start in zip(found, EVENTS, strict=True):
        assert start < hit.end < start + 0.3 + HOP_SECONDS
        assert hit.end - hit.start == pytest.approx(WINDOW_SECONDS)
        assert hit.score >= 0.5


def test_another_word_never_fires(low_model: Model) -> None:
    assert detections(Detector(low_model), bursts(6, {1.0: "high", 3.0: "high", 4.0: "high"})) == []


@pytest.mark.parametrize("level", [0.0, 1e-4])
def test_silence_never_fires_and_stays_finite(low_model: Model, level: float) -> None:
    with np.errstate(all="raise"):
        detector = Detector([low_model, random_model("attention")], threshold=1.0)
        hiss = (level * np.random.default_rng(0).standard_normal(80_000)).astype(np.float32)
        for block in in_chunks(hiss, 1_280):
            assert detector.push(block) == []
            assert all(0 <= score < 1 for score in detector.scores.values())
        assert detector.flush() == []


# --- the length of blocks does not matter


@pytest.mark.parametrize("size", CHUNKS)
@pytest.mark.parametrize("hop", [8, 10])
def test_chunking_does_not_matter(low_model: Model, high_model: Model, size: int, hop: int) -> None:
    # Blocks of one sample cost a call each: two seconds are enough.
    signal = SIGNAL[: 16_000 * 2] if size == 1 else SIGNAL
    detector = Detector([low_model, high_model], hop=hop)
    expected = detections(detector, signal)
    assert expected
    assert_same(detections(detector, signal, size), expected)


@settings(max_examples=10)
@given(st.lists(st.integers(0, 40_000), min_size=1, max_size=12))
def test_random_cuts_do_not_matter(sizes: list[int]) -> None:
    model = parse_model(band_model_bytes("low", 1))
    pieces = np.split(SIGNAL, [cut for cut in np.cumsum(sizes) if cut < len(SIGNAL)])
    detector = Detector(model)
    found = [hit for piece in pieces for hit in detector.push(piece)] + detector.flush()
    assert_same(found, detections(Detector(model), SIGNAL))


@pytest.mark.parametrize("size", [160, 1_280])
def test_a_detection_is_returned_with_the_block_that_completes_its_window(low_model: Model, size: int) -> None:
    detector = Detector(low_model)
    for block in in_chunks(SIGNAL, size):
        for hit in detector.push(block):
            assert detector.seconds - size / 16_000 < hit.end <= detector.seconds


def test_the_caller_may_reuse_its_buffer(low_model: Model) -> None:
    detector, buffer, found = Detector(low_model), np.empty(160, np.float32), []
    for block in in_chunks(SIGNAL[: len(SIGNAL) // 160 * 160], 160):
        buffer[:] = block
        found += detector.push(buffer)
        buffer[:] = 0
    assert_same(found, detections(Detector(low_model), SIGNAL)[: len(found)])
    assert len(found) == 2


def test_keywords_that_share_a_stream_equal_separate_detectors(low_model: Model, high_model: Model) -> None:
    short = parse_model(band_model_bytes("short", 1, window=40))
    models = [low_model, high_model, short]
    for end in (16_000 * 7, 16_000 * 4 + 15_000, 16_000 * 4 + 10_000):
        together = detections(Detector(models), SIGNAL[:end], 1_280)
        alone = [detections(Detector(model), SIGNAL[:end], 1_280) for model in models]
        for model, expected in zip(models, alone, strict=True):
            assert_same([hit for hit in together if hit.keyword == model.card.phrase], expected)
        assert [hit.end for hit in together] == sorted(hit.end for hit in together)


@pytest.mark.parametrize("rate", [8_000, 11_025, 22_050, 44_100, 48_000])
def test_any_sample_rate_gives_the_detections_of_the_resampled_signal(low_model: Model, rate: int) -> None:
    recorded = soxr.resample(SIGNAL, 16_000, rate)
    found = detections(Detector(low_model, sample_rate=rate), recorded, 441)
    expected = detections(Detector(low_model), soxr.resample(recorded, rate, 16_000))
    # The hiss of a recording at 8 kHz has no high band: amplified, it sounds low too.
    assert len(expected) == 2 or rate == 8_000
    assert [(hit.start, hit.end) for hit in found] == [(hit.start, hit.end) for hit in expected]
    for hit, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(hit.audio, other.audio, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.int16, np.int32])
def test_integer_pcm_gives_the_same_detections(low_model: Model, dtype: type[np.signedinteger]) -> None:
    pcm = (SIGNAL.astype(np.float64) * np.iinfo(dtype).max).astype(dtype)
    found = detections(Detector(low_model), pcm, 320)
    assert [hit.end for hit in found] == [hit.end for hit in detections(Detector(low_model), SIGNAL)]


def test_one_channel_can_be_used(low_model: Model) -> None:
    stereo = np.stack([np.zeros_like(SIGNAL), SIGNAL], axis=1)
    assert detections(Detector(low_model, channel=0), stereo) == []
    assert_same(detections(Detector(low_model, channel=1), stereo), detections(Detector(low_model), SIGNAL))


# --- times and audio


@pytest.mark.parametrize("pre_roll", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("size", [160, 50_000])
def test_the_audio_of_a_detection_is_that_of_the_stream(low_model: Model, pre_roll: float, size: int) -> None:
    for hit in detections(Detector(low_model, pre_roll=pre_roll), SIGNAL, size):
        first, end = max(0, round(16_000 * (hit.start - pre_roll))), round(16_000 * hit.end)
        np.testing.assert_array_equal(hit.audio, SIGNAL[first:end])


def test_the_audio_is_right_far_into_a_stream(low_model: Model) -> None:
    detector = Detector(low_model)
    silence = np.zeros(16_000 * 100 + 123, np.float32)
    detector.push(silence)
    (hit,) = [hit for block in in_chunks(bursts(3, {1.0: "low"}), 333) for hit in detector.push(block)]
    assert 1.0 < hit.end - len(silence) / 16_000 < 1.4
    begin = round(16_000 * hit.end) - len(silence)
    np.testing.assert_array_equal(hit.audio[-8_000:], bursts(3, {1.0: "low"})[begin - 8_000 : begin])


def test_the_clock_is_that_of_the_stream(low_model: Model) -> None:
    detector = Detector(low_model, sample_rate=48_000)
    detector.push(np.zeros(48_000 * 2, np.int16))
    # The resampler holds a little back.
    assert detector.seconds == pytest.approx(2.0, abs=0.05)
    detector.reset()
    assert detector.seconds == 0


# --- the end of a stream


@pytest.mark.parametrize("extra", [0, 1, 700, 1_279])
def test_flush_covers_the_last_sample(low_model: Model, extra: int) -> None:
    # Windows end at 0.995, 1.975, 2.955 s: only the third contains the burst, and the recording ends before it.
    model = parse_model(band_model_bytes("low", 1, pooling="max"))
    signal = np.concatenate([np.zeros(extra, np.float32), bursts(2.25, {1.95: "low"})])
    (hit,) = detections(Detector(model, hop=98), signal)
    assert hit.end == len(signal) / 16_000
    assert hit.audio[-1] == signal[-1]


def test_flush_gives_no_keyword_more_windows_than_it_has_alone(low_model: Model) -> None:
    # One window of 0.2 s covers this clip; the next, of silence only, would fire. Those of ``low`` last a second.
    short, clip = random_model("mean", window=20), SIGNAL[21_000:22_600]
    for threshold, expected in ((0.30, ["marvin"]), (0.34, [])):
        found = detections(Detector([short, low_model], threshold=threshold), clip)
        assert [hit.keyword for hit in found] == expected
        assert_same(found, detections(Detector(short, threshold=threshold), clip))


@pytest.mark.parametrize("samples", [1, 160, 5_000, 15_919, 15_920])
def test_a_short_clip_is_one_window(samples: int) -> None:
    model = random_model()
    seen: list[Detection] = []
    detector = Detector(model, threshold=1e-9, on_detection=seen.append)
    clip = SIGNAL[20_000 : 20_000 + samples]
    (hit,) = detections(detector, clip, 160)
    padded = np.concatenate([clip, np.zeros(15_920 - samples, np.float32)])
    (expected,) = detections(Detector(model, threshold=1e-9), padded)
    assert hit.score == expected.score
    assert (hit.start, hit.end) == (0.0, samples / 16_000)
    np.testing.assert_array_equal(hit.audio, clip)
    assert seen == [hit]


def test_an_empty_stream_has_no_detections() -> None:
    detector = Detector(random_model(), threshold=1e-9)
    assert detector.flush() == []
    assert detections(detector, np.zeros((0,), np.int16), 160) == []


def test_flush_begins_a_new_stream(low_model: Model) -> None:
    detector = Detector(low_model)
    first = detections(detector, SIGNAL[:50_001], 160)
    assert_same(detections(detector, SIGNAL[:50_001], 160), first)


def test_reset_equals_new(low_model: Model, high_model: Model) -> None:
    detector = Detector([low_model, high_model])
    detector.push(SIGNAL[16_000:77_777])
    detector.reset()
    assert detector.scores == {"low": 0.0, "high": 0.0}
    assert_same(detections(detector, SIGNAL, 500), detections(Detector([low_model, high_model]), SIGNAL, 500))


@pytest.mark.parametrize(
    "bad",
    [np.array([np.nan], np.float32), np.zeros(10), np.zeros((2, 2, 2), np.int16), np.zeros((10, 2), np.float32)],
    ids=["NaN", "float64", "shape", "channels"],
)
@pytest.mark.parametrize("rate", [16_000, 48_000])
def test_a_refused_block_leaves_the_stream_unchanged(low_model: Model, bad: Samples, rate: int) -> None:
    detector, found = Detector(low_model, sample_rate=rate), []
    for block in in_chunks(SIGNAL, 1_000):
        found += detector.push(block)
        with pytest.raises(AudioFormatError, match="expected"):
            detector.push(bad)
    found += detector.flush()
    assert_same(found, detections(Detector(low_model, sample_rate=rate), SIGNAL, 1_000))


# --- sources


def test_a_file_equals_its_samples(low_model: Model, tmp_path: Path) -> None:
    path = tmp_path / "bursts.wav"
    soundfile.write(path, SIGNAL, 16_000, subtype="FLOAT")
    assert_same(list(Detector(low_model).run(FileSource(path))), detections(Detector(low_model), SIGNAL))


def test_run_uses_the_rate_of_its_source_and_begins_a_new_stream(low_model: Model) -> None:
    detector = Detector(low_model)
    detector.push(SIGNAL[:30_000])
    resampled = soxr.resample(SIGNAL, 16_000, 48_000)
    found = list(detector.run(Blocks(resampled, sample_rate=48_000)))
    assert_same(found, detections(Detector(low_model, sample_rate=48_000), resampled))
    assert_same(detections(detector, SIGNAL), detections(Detector(low_model), SIGNAL))


def test_run_can_be_left_early(low_model: Model) -> None:
    detector, source = Detector(low_model), Blocks(SIGNAL)
    run = detector.run(source)
    next(run)
    run.close()
    assert source.taken < len(in_chunks(SIGNAL, 1_280)) / 2
    assert_same(detections(detector, SIGNAL), detections(Detector(low_model), SIGNAL))


def test_the_callback_gets_what_push_returns(low_model: Model, high_model: Model) -> None:
    seen: list[Detection] = []
    found = detections(Detector([low_model, high_model], on_detection=seen.append), SIGNAL, 160)
    assert len(found) == 4
    assert seen == found


def test_the_async_iterator_gives_what_run_gives(low_model: Model) -> None:
    async def listen() -> list[Detection]:
        return [hit async for hit in Detector(low_model).stream(Blocks(SIGNAL))]

    assert_same(asyncio.run(listen()), detections(Detector(low_model), SIGNAL))


def test_the_async_iterator_hands_on_the_errors_of_its_source(low_model: Model) -> None:
    async def listen() -> None:
        async for _ in Detector(low_model).stream(Blocks(np.zeros(10, np.float64))):
            pytest.fail("detected something")

    with pytest.raises(AudioFormatError):
        asyncio.run(listen())


def test_the_async_iterator_stops_its_source_when_it_is_left(low_model: Model) -> None:
    class Endless(Blocks):
        def blocks(self) -> Iterator[Samples]:
            while True:
                yield from super().blocks()

    source, seen = Endless(SIGNAL), []

    async def listen() -> None:
        stream = Detector(low_model, on_detection=seen.append).stream(source)
        async for _ in stream:
            break
        await stream.aclose()

    asyncio.run(listen())
    for thread in [thread for thread in threading.enumerate() if thread.name == "wakeword"]:
        thread.join(5)
        assert not thread.is_alive()
    assert seen


def test_the_event_loop_is_never_blocked(low_model: Model) -> None:
    class Slow(Blocks):
        def blocks(self) -> Iterator[Samples]:
            started.wait(5)
            yield from super().blocks()

    started = threading.Event()

    async def listen() -> int:
        async def other() -> None:
            started.set()

        task = asyncio.create_task(other())
        count = 0
        async for _ in Detector(low_model).stream(Slow(SIGNAL)):
            count += 1
        await task
        return count

    assert asyncio.run(listen()) == 2


# --- settings


def test_it_is_a_context_manager(low_model: Model) -> None:
    with Detector(low_model) as detector:
        detector.push(SIGNAL[:1_000])
        assert detector.keywords == ["low"]
    assert detector.seconds == 0


def test_thresholds_come_from_the_point_or_from_the_caller(low_model: Model) -> None:
    assert Detector(low_model).thresholds == Detector(low_model, point="fpr=0.03").thresholds == {"low": 0.5}
    assert Detector(low_model, threshold=0.9).thresholds == {"low": 0.9}


def test_settings_out_of_range_are_refused(low_model: Model, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="one or more models"):
        Detector([])
    with pytest.raises(ConfigError, match="different keywords, got two of 'low'; leave one out"):
        Detector([low_model, low_model])
    with pytest.raises(ConfigError, match="operating point 'best'"):
        Detector(low_model, point="best")
    with pytest.raises(ConfigError, match="threshold"):
        Detector(low_model, threshold=0)
    with pytest.raises(ConfigError, match="hop"):
        Detector(low_model, hop=99)
    with pytest.raises(ModelError, match="could not read"):
        Detector(tmp_path / "missing.onnx")


def test_a_source_with_an_invalid_rate_leaves_the_detector_free(low_model: Model) -> None:
    detector = Detector(low_model)
    with pytest.raises(AudioFormatError, match="sample rate"):
        next(detector.run(Blocks(SIGNAL, sample_rate=1)))
    assert list(detector.run(Blocks(SIGNAL)))
