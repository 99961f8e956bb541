"""Followers with asyncio, files at the pace of a microphone, and the end of what is said."""

import asyncio
import itertools
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.builders import bursts, in_chunks

from wakeword import ConfigError, Detector, EndOfSpeech, FileSource, Follower, Model
from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array, Samples
from wakeword.model.installed import assets_folder
from wakeword.stream.following import MAX_FOLLOWED_SECONDS


class EndOfLoudness(EndOfSpeech):
    """Takes what is loud for speech."""

    def _probability(self, chunk: Array) -> float:
        assert len(chunk) == 512
        return float(np.abs(chunk).mean())


SIGNAL = bursts(12, {1: "low", 5: "low", 9: "low"})


class Blocks:
    """A source that gives a signal as fast as it is taken."""

    sample_rate = SAMPLE_RATE

    def __init__(self, signal: Array, size: int = 1_600) -> None:
        self._signal, self._size = signal, size

    def blocks(self) -> Iterator[Samples]:
        yield from in_chunks(self._signal, self._size)


def after(end: float, seconds: float) -> Array:
    first = round(end * SAMPLE_RATE)
    return SIGNAL[first : first + round(seconds * SAMPLE_RATE)]


@pytest.mark.parametrize("pause", [0.0, 0.3])
def test_each_detection_of_a_stream_can_be_followed_however_far_the_source_has_gone_on(
    low_model: Model, pause: float
) -> None:
    async def listen() -> list[tuple[float, Array]]:
        detector, heard = Detector(low_model), []
        async for hit in detector.stream(Blocks(SIGNAL)):
            await asyncio.sleep(pause)  # the thread reads to the end of the signal meanwhile
            heard.append((hit.end, await detector.follow(hit).record(2.0)))
        return heard

    heard = asyncio.run(listen())
    assert len(heard) == 3
    for end, recorded in heard:
        np.testing.assert_array_equal(recorded, after(end, 2.0))


def test_a_follower_gives_its_audio_as_it_comes_and_ends_with_the_stream(low_model: Model) -> None:
    async def listen() -> tuple[float, list[Array]]:
        detector = Detector(low_model)
        async with aclosing(detector.stream(Blocks(SIGNAL))) as found:
            async for hit in found:
                return hit.end, [samples async for samples in detector.follow(hit)]
        raise AssertionError

    end, pieces = asyncio.run(listen())
    np.testing.assert_array_equal(np.concatenate(pieces), after(end, 60))
    assert all(len(piece) for piece in pieces)


def test_only_the_detection_at_hand_can_be_followed_late(low_model: Model) -> None:
    async def listen() -> None:
        detector = Detector(low_model)
        async with aclosing(detector.stream(Blocks(SIGNAL))) as found:
            first = await anext(found)
            await anext(found)
            await asyncio.sleep(0.3)
            with pytest.raises(ConfigError, match="follow it before the next detection is taken"):
                detector.follow(first)

    asyncio.run(listen())


def test_a_stream_that_is_left_keeps_no_followers(low_model: Model) -> None:
    async def listen(detector: Detector) -> None:
        async with aclosing(detector.stream(Blocks(SIGNAL))) as found:
            await anext(found)

    detector = Detector(low_model)
    asyncio.run(listen(detector))
    assert detector._followers._offers == {}


def test_audio_that_comes_from_another_thread_wakes_the_reader() -> None:
    async def read() -> list[int]:
        follower = Follower(np.zeros(0, np.float32))
        loop = asyncio.get_running_loop()
        task = asyncio.create_task(follower.record(1.0))
        for _ in range(3):
            await loop.run_in_executor(None, follower.push, np.ones(4_000, np.float32))
        await asyncio.sleep(0.05)
        assert not task.done()
        await loop.run_in_executor(None, follower.close)
        return [len(await task), len(await follower.record(1.0))]

    assert asyncio.run(asyncio.wait_for(read(), 20)) == [12_000, 0]


def test_an_awaited_recording_ends_with_until_and_checks_its_settings() -> None:
    async def read() -> list[int]:
        follower = Follower(np.zeros(0, np.float32))
        for bad in (0.0, -1.0, float("nan")):
            with pytest.raises(ConfigError, match="seconds to record"):
                await follower.record(bad)
        follower.push(np.ones(1_000, np.float32))
        recorded = await follower.record(60.0, until=lambda samples: bool(samples.any()))
        return [len(recorded), len(await follower.record(0.02)), len(follower.read())]

    assert asyncio.run(asyncio.wait_for(read(), 20)) == [512, 320, 168]


def test_a_follower_that_nobody_reads_yet_keeps_its_beginning() -> None:
    follower = Follower(np.zeros(0, np.float32))
    for number in range(round(MAX_FOLLOWED_SECONDS) + 5):
        follower.push(np.full(SAMPLE_RATE, number, np.float32))
    kept = follower.read()
    assert kept[0] == 0
    assert len(kept) == MAX_FOLLOWED_SECONDS * SAMPLE_RATE
    assert follower.dropped == 5 * SAMPLE_RATE


# --- the same recording whatever the blocks

SAID = np.clip(5 * bursts(9, {1: "low", 1.6: "low", 7: "low"}), -1, 1)
"""A word, another after it, and one more after a long pause."""
SIZES = [160, 1_000, 16_000, 150_000]


def end_of_loudness() -> EndOfSpeech:
    return EndOfLoudness(threshold=0.3, silence=0.6)


def expected_recording(detection_end: float) -> Array:
    """What follows a detection, up to the 32 ms with which its end is known."""
    first, until = round(detection_end * SAMPLE_RATE), end_of_loudness()
    pieces = (SAID[start : start + 512] for start in range(first, len(SAID), 512))
    return np.concatenate(list(itertools.takewhile(lambda piece: not until(piece), pieces)))


@pytest.mark.parametrize("pause", [0.0, 0.3])
@pytest.mark.parametrize("size", SIZES)
def test_an_awaited_recording_ends_at_the_same_sample_and_leaves_the_rest(
    low_model: Model, size: int, pause: float
) -> None:
    async def listen() -> tuple[float, list[Array]]:
        detector = Detector(low_model)
        async with aclosing(detector.stream(Blocks(SAID, size))) as found:
            hit = await anext(found)
            await asyncio.sleep(pause)
            follower = detector.follow(hit)
            return hit.end, [
                await follower.record(10.0, until=end_of_loudness()),
                await follower.record(1.0),
                await follower.record(10.0),
            ]

    end, recordings = asyncio.run(listen())
    first = round(end * SAMPLE_RATE)
    assert 2.46 < end + len(recordings[0]) / SAMPLE_RATE < 2.56
    assert len(recordings[1]) == SAMPLE_RATE
    np.testing.assert_array_equal(np.concatenate(recordings), SAID[first:])
    np.testing.assert_array_equal(recordings[0][:-512], expected_recording(end))


@pytest.mark.parametrize("size", SIZES)
def test_a_recording_in_a_loop_is_the_awaited_one(low_model: Model, size: int) -> None:
    detector = Detector(low_model)
    hit = next(run := detector.run(Blocks(SAID, size)))
    recorded = detector.record(hit, 10.0, until=end_of_loudness())
    run.close()
    np.testing.assert_array_equal(recorded[:-512], expected_recording(hit.end))


def test_a_source_that_runs_ahead_of_until_takes_nothing_out_of_a_recording() -> None:
    seconds = [np.full(SAMPLE_RATE, number, np.float32) for number in range(200)]

    async def read() -> Array:
        follower = Follower(seconds[0])

        def until(piece: Array) -> bool:
            for second in seconds[1:]:  # all of it while the first piece is looked at
                follower.push(second)
            seconds[1:] = []
            return False

        return await follower.record(50.0, until=until)

    np.testing.assert_array_equal(asyncio.run(read()), np.repeat(np.arange(50, dtype=np.float32), SAMPLE_RATE))


# --- files at the pace of a microphone


def test_a_file_comes_no_faster_than_it_was_recorded(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", SIGNAL[:8_000], SAMPLE_RATE)
    source = FileSource(tmp_path / "a.wav", realtime=True)
    started, seconds = time.monotonic(), 0.0
    blocks = []
    for block in source.blocks():
        blocks.append(block)
        seconds += len(block) / SAMPLE_RATE
        assert time.monotonic() - started >= seconds - 1e-3
    np.testing.assert_array_equal(np.concatenate(blocks), np.concatenate(list(FileSource(tmp_path / "a.wav").blocks())))
    with pytest.raises(ConfigError, match="realtime"):
        FileSource(tmp_path / "a.wav", realtime=1)  # type: ignore[arg-type]


# --- the end of what is said


def ends_at(signal: Array, size: int, **settings: float) -> float | None:
    """The second at which speech has ended."""
    end = EndOfLoudness(**settings)
    taken = itertools.accumulate(map(len, in_chunks(signal, size)))
    return next(
        (count / SAMPLE_RATE for block, count in zip(in_chunks(signal, size), taken, strict=True) if end(block)), None
    )


def levels(*parts: tuple[float, float]) -> Array:
    return np.concatenate([np.full(round(seconds * SAMPLE_RATE), level, np.float32) for level, seconds in parts])


@pytest.mark.parametrize("size", [100, 512, 1_600, 5_000])
def test_speech_ends_when_it_has_been_quiet_for_long_enough(size: int) -> None:
    said = levels((0, 1.0), (0.9, 1.0), (0, 0.5), (0.9, 0.5), (0, 3.0))
    late = (size + 512) / SAMPLE_RATE
    assert 3.8 - 0.04 <= (ends_at(said, size, silence=0.8) or 0) <= 3.8 + late + 0.04
    assert 2.3 - 0.04 <= (ends_at(said, size, silence=0.3) or 0) <= 2.3 + late + 0.04
    assert ends_at(said[: 3 * SAMPLE_RATE], size, silence=0.8) is None
    assert 4.0 - 0.04 <= (ends_at(levels((0, 9.0)), size, patience=4.0) or 0) <= 4.0 + late + 0.04


def test_speech_goes_on_down_to_a_lower_probability() -> None:
    assert ends_at(levels((0.9, 1.0), (0.4, 2.0)), 512) is None
    assert ends_at(levels((0.9, 1.0), (0.3, 2.0)), 512) is not None
    assert ends_at(levels((0.4, 6.0)), 512, patience=4.0) is not None


def test_another_recording_begins_anew() -> None:
    end = EndOfLoudness()
    assert end(levels((0.9, 1.0), (0, 1.0)))
    assert end.has_spoken
    end.reset()
    assert not end.has_spoken
    assert not end(levels((0, 1.0)))


@pytest.mark.parametrize(
    "bad", [{"silence": 0}, {"patience": -1}, {"threshold": 0}, {"threshold": 1.1}, {"silence": "1"}]
)
def test_settings_out_of_range_are_refused(bad: dict) -> None:
    with pytest.raises(ConfigError):
        EndOfLoudness(**bad)


def test_silero_hears_speech_and_its_end() -> None:
    word = read_audio(assets_folder() / "audio" / "marvin-f4.flac")
    end = EndOfSpeech(silence=0.5, patience=2.0)
    assert not end(word[: round(0.7 * SAMPLE_RATE)])
    assert end.has_spoken
    assert end(np.concatenate([word[round(0.7 * SAMPLE_RATE) :], np.zeros(2 * SAMPLE_RATE, np.float32)]))
    end.reset()
    assert end(1e-4 * np.random.default_rng(0).standard_normal(3 * SAMPLE_RATE).astype(np.float32))
    assert not end.has_spoken


def test_silero_works_in_the_thread_that_asks() -> None:
    """Threads that wait for one another stand still where other programs keep the cores busy."""
    code = """if True:
        import time
        import numpy as np
        from wakeword import EndOfSpeech
        end = EndOfSpeech(patience=60)
        all_threads, own_thread = time.process_time(), time.thread_time()
        end(np.zeros(50 * 16_000, np.float32))
        print((time.process_time() - all_threads) / (time.thread_time() - own_thread))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 1.2
