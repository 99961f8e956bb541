"""Laws of a detector with a playback: its cut does not matter, silence changes nothing, own words do not wake."""

import logging
import threading
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from support.builders import bursts

from wakeword import AudioFormatError, Detection, Detector, DetectorPool, Model, load_model
from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import PcmStream
from wakeword.base.types import Array, Samples
from wakeword.model.installed import assets_folder
from wakeword_echo.own_sound import OwnSound

DEMO = assets_folder() / "audio" / "demo.flac"


@pytest.fixture(scope="module")
def marvin() -> Model:
    return load_model("marvin")


@pytest.fixture(scope="module")
def word() -> Array:
    """Six seconds of silence, then a recording of the word."""
    return np.concatenate((np.zeros(96_000, np.float32), read_audio(DEMO)[:51_200]))


def music(samples: int) -> Array:
    """Sound that hides the word: noise at the level of loud speech, some of it in bursts."""
    random = np.random.default_rng(3)
    return (0.12 * random.standard_normal(samples)).astype(np.float32)


def echo(reference: Array) -> Array:
    """The reference 60 ms later, and softer from there on."""
    random = np.random.default_rng(4)
    response = np.concatenate((np.zeros(960), random.standard_normal(800) * np.exp(-np.arange(800) / 150) * 0.15))
    found: Array = np.convolve(reference, response)[: len(reference)].astype(np.float32)
    return found


Found = list[tuple[float, float, float]]


def places(found: Sequence[Detection]) -> Found:
    return [(hit.start, hit.end, hit.score) for hit in found]


def cuts(signal: Samples, sizes: Sequence[int]) -> Iterator[Samples]:
    """The signal in blocks of these lengths in turn, then empty ones without end."""
    start = number = 0
    while True:
        size = sizes[number % len(sizes)]
        yield signal[start : start + size]
        start, number = start + size, number + 1


def pushed(
    detector: Detector, signal: Samples, playback: Samples | None, sizes: Sequence[int], own: Sequence[int] = ()
) -> Found:
    """What is found in ``signal``, pushed with the playback in blocks of other lengths."""
    found: list[Detection] = []
    parts = cuts(playback if playback is not None else signal, own or sizes)
    for block in cuts(signal, sizes):
        if not len(block):
            break
        found += detector.push(block, None if playback is None else next(parts))
    return places(found + detector.flush())


def test_the_word_above_its_own_loudspeaker_is_found_whatever_the_blocks(marvin: Model, word: Array) -> None:
    reference = music(len(word))
    microphone = word + echo(reference)
    detector = Detector(marvin)
    assert not pushed(detector, microphone, None, [1_600])
    expected = pushed(detector, microphone, reference, [len(word)])
    assert len(expected) == 1
    for sizes, own in (([160], [160]), ([509, 4_000], [2_255]), ([320], [640, 0]), ([16_001], [9_000, 23_002])):
        assert pushed(detector, microphone, reference, sizes, own) == expected
    source = _Blocks(microphone, 700)
    assert places(list(detector.run(source, playback=_Blocks(reference, 1_111)))) == expected
    with DetectorPool(marvin) as pool:
        stream = pool.open()
        for start in range(0, len(word), 1_280):
            stream.push(microphone[start : start + 1_280], reference[start : start + 1_280])
        stream.flush()
        found = [hit for _, hit in pool.process()]
    assert [(hit.start, hit.end) for hit in found] == [one[:2] for one in expected]


def test_a_playback_that_stops_and_starts_may_be_cut_anywhere_too(marvin: Model, word: Array) -> None:
    """It begins in the middle of a block, pauses for two seconds, and goes on over the word."""
    reference = music(len(word))
    reference[:9_001] = reference[60_000:92_345] = 0
    microphone = word + echo(reference)
    detector = Detector(marvin)
    expected = pushed(detector, microphone, reference, [len(word)])
    assert len(expected) == 1
    for sizes, own in (([160], [160]), ([509, 4_000], [2_255]), ([320], [640, 0]), ([16_001], [9_000, 23_002])):
        assert pushed(detector, microphone, reference, sizes, own) == expected


class _Blocks:
    sample_rate = 16_000

    def __init__(self, signal: Array, size: int) -> None:
        self._signal, self._size = signal, size

    def blocks(self) -> Iterator[Array]:
        yield from (self._signal[start : start + self._size] for start in range(0, len(self._signal), self._size))


class _Played(_Blocks):
    """Blocks that are played one after the other, as a microphone's clock allows it."""

    def __init__(self, signal: Array, *, is_live: bool) -> None:
        super().__init__(signal, 1_600)
        self.is_live = is_live
        # One block more than needed: where the clocks seem to differ, a sample of the next one is.
        self._may, self._has = threading.Semaphore(1), threading.Semaphore(0)

    def play(self) -> None:
        self._may.release()
        if self.is_live:
            assert self._has.acquire(timeout=5)

    def blocks(self) -> Iterator[Array]:
        for block in super().blocks():
            self._may.acquire()
            yield block
            self._has.release()


class _Losing(_Blocks):
    """A microphone that never gives the samples ``lost``, and the clock: ``now`` is in seconds."""

    def __init__(self, signal: Array, lost: range, played: _Played) -> None:
        super().__init__(signal, 1_600)
        self.now, self._lost, self._played = 0.0, lost, played

    def blocks(self) -> Iterator[Array]:
        for number, block in enumerate(super().blocks()):
            self.now += 0.1
            self._played.play()
            if 1_600 * number not in self._lost:
                yield block


@pytest.mark.parametrize("is_live", [True, False])
def test_a_live_playback_goes_on_with_the_newest_after_the_microphone_has_lost_seconds(
    is_live: bool, marvin: Model, word: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file does not: its samples belong to the microphone's by their number."""
    word = np.concatenate((np.zeros(8 * 16_000, np.float32), word))
    reference = music(len(word))
    played = _Played(reference, is_live=is_live)
    microphone = _Losing(word + echo(reference), range(32_000, 80_000), played)
    monkeypatch.setattr("wakeword_echo.own_sound.time.monotonic", lambda: microphone.now)
    assert len(list(Detector(marvin).run(microphone, playback=played))) == is_live


def test_a_silent_playback_changes_no_digit(marvin: Model, word: Array) -> None:
    detector = Detector(marvin)
    expected = pushed(detector, word, None, [1_600])
    assert len(expected) == 1
    assert pushed(detector, word, np.zeros_like(word), [1_600]) == expected
    # One that is silent for ever, and one that stopped.
    assert pushed(detector, word, np.zeros(0, np.float32), [1_600]) == expected
    assert pushed(detector, word, music(16_000)[:1_600], [1_600]) != []
    assert (
        places(list(detector.run(_Blocks(word, 800), playback=_Blocks(np.zeros(8_000, np.float32), 160)))) == expected
    )


def test_a_word_of_the_playback_does_not_wake(marvin: Model, word: Array) -> None:
    """Also before anything of the echo can be taken out: it is the first sound."""
    microphone = echo(word) + 1e-4 * music(len(word))
    detector = Detector(marvin)
    assert len(pushed(detector, microphone, None, [1_600])) == 1
    assert pushed(detector, microphone, word, [1_600]) == []
    # The same word from someone else wakes, whatever plays.
    assert len(pushed(detector, word, bursts(len(word) / 16_000, {}), [1_600])) == 1


def test_the_microphone_as_its_own_playback_wakes_as_without_one(marvin: Model, word: Array) -> None:
    detector = Detector(marvin)
    assert pushed(detector, word, word, [1_600]) == pushed(detector, word, None, [1_600]) != []


def test_an_answer_that_was_given_early_ends_where_the_next_one_begins() -> None:
    size, at, total = 1_600, 48_000, 128_000
    first, second = music(total), music(total)[::-1].copy()
    played = np.concatenate((first[:at], second[: total - at]))
    microphone = echo(played)
    starts = range(0, total, size)
    early, along = (OwnSound(PcmStream(16_000), window=16_000) for _ in range(2))
    given = {0: first, at: second[: total - at]}
    rows = [early.push(microphone[start : start + size], given.get(start)) for start in starts]
    expected = [along.push(microphone[start : start + size], played[start : start + size]) for start in starts]
    assert np.array_equal(np.concatenate(rows), np.concatenate(expected))


def test_a_playback_may_have_another_rate_and_channels(marvin: Model, word: Array) -> None:
    wide = np.repeat(music(len(word)), 3)
    reference = np.stack((wide, np.zeros_like(wide)), axis=1)
    converted = PcmStream(48_000)
    microphone = word + echo(np.concatenate((converted.push(reference), converted.flush())))
    assert len(pushed(Detector(marvin, playback_rate=48_000), microphone, reference, [1_600], [4_800])) == 1


@pytest.mark.parametrize(
    "bad", [np.full(100, np.nan, np.float32), np.zeros(100), "music", np.ones(61 * 16_000, np.int16)]
)
def test_a_bad_playback_is_refused_and_leaves_the_stream(bad: Samples, marvin: Model, word: Array) -> None:
    detector = Detector(marvin)
    expected = pushed(detector, word, None, [1_600])
    found = detector.push(word[:100_000])
    with pytest.raises(AudioFormatError, match=r"^playback: "):
        detector.push(word[:1_600], bad)
    found += detector.push(word[100_000:])
    assert places(found + detector.flush()) == expected


def test_a_playback_that_stays_behind_is_told_once_and_waited_for_no_longer(
    marvin: Model, word: Array, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        found = pushed(Detector(marvin), word, music(1_600), [1_600], [160])
    assert len(found) == 1
    assert len([record for record in caplog.records if "0.5 s behind" in record.message]) == 1
