"""The arithmetic of who heard a word first."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wakeword_serve.arbitration import ArrivalClock, WordAnswers, first_to_hear, lead_of, rises

RATE = 16_000


def speech(seed: int) -> np.ndarray:
    """A second with syllables: noise that is loud at some places."""
    random = np.random.default_rng(seed)
    loud = np.repeat(random.random(10) ** 3, RATE // 10)
    return (loud * random.standard_normal(RATE)).astype(np.float32)


def late(
    sound: np.ndarray, milliseconds: float, *, noise: float = 0.01, gain: float = 1.0, seed: int = 0
) -> np.ndarray:
    shift = round(16 * milliseconds)
    moved = np.concatenate((np.zeros(max(0, shift)), sound, np.zeros(max(0, -shift))))
    moved = moved[: len(sound)] if shift >= 0 else moved[-shift : len(sound) - shift]
    return (gain * (moved + noise * np.random.default_rng(seed).standard_normal(len(sound)))).astype(np.float32)


@pytest.mark.parametrize("milliseconds", [-20.0, -8.0, -1.0, 0.0, 1.0, 5.0, 9.0, 25.0])
@pytest.mark.parametrize("gain", [0.1, 1.0])
def test_the_lead_is_what_the_sound_took(milliseconds: float, gain: float) -> None:
    sound = speech(1)
    lead = lead_of(rises(late(sound, -milliseconds, gain=gain)), rises(sound))
    assert lead.seconds == pytest.approx(milliseconds / 1_000, abs=1e-3)
    assert lead.likeness > 0.5


@given(st.floats(-20, 20), st.integers(0, 100))
@settings(max_examples=20, deadline=None)
def test_two_recordings_agree_on_which_was_first(milliseconds: float, seed: int) -> None:
    one, other = rises(speech(seed)), rises(late(speech(seed), milliseconds))
    assert lead_of(one, other).seconds == pytest.approx(-lead_of(other, one).seconds, abs=1e-4)


@given(st.lists(st.floats(-25, 25), min_size=1, max_size=5), st.randoms())
@settings(max_examples=20, deadline=None)
def test_the_earliest_is_chosen_whatever_came_first(leads: list[float], random) -> None:
    sound = speech(2)
    others = [(f"peer {number}", late(sound, -one, seed=number)) for number, one in enumerate(leads)]
    chosen, lead = first_to_hear(sound, dict(others))
    random.shuffle(others)
    assert first_to_hear(sound, dict(others)) == (chosen, lead)
    assert lead == pytest.approx(max(0.0, *leads) / 1_000 if max(leads) > 0 else 0.0, abs=1.5e-3)
    assert (chosen is None) == (lead == 0)


@pytest.mark.parametrize("other", [np.zeros(RATE, np.float32), 0.1 * speech(7), late(speech(1), 455)])
def test_one_that_does_not_have_the_sound_is_not_chosen(other: np.ndarray) -> None:
    assert first_to_hear(late(speech(1), 5), {"other": other}) == (None, 0.0)


def test_silence_is_no_sound() -> None:
    silence = np.zeros(RATE, np.float32)
    assert first_to_hear(silence, {"other": silence, "another": speech(1)}) == (None, 0.0)


# --- clocks


def arrive(clock: ArrivalClock, delays: list[float], *, begin: float = 100.0, chunk: float = 0.03) -> None:
    """Chunks in real time; no chunk overtakes another."""
    now = 0.0
    for number, delay in enumerate(delays, 1):
        now = max(now, begin + number * chunk + delay)
        clock.arrived(now, number * chunk)


@given(st.lists(st.floats(0, 0.3), min_size=20, max_size=400), st.floats(0, 1e6))
def test_a_delay_that_varies_does_not_move_a_clock(delays: list[float], begin: float) -> None:
    clock = ArrivalClock()
    arrive(clock, [*delays, 0.0], begin=begin)
    # A delay holds back what follows, so the last chunk may be late too.
    assert -1e-6 <= clock.start - begin <= 0.3 + 1e-6
    arrive(clock := ArrivalClock(), [0.0, *delays[:150]], begin=begin)
    assert clock.start == pytest.approx(begin, abs=1e-6)


def test_a_gap_moves_a_clock_before_a_word_can_end_and_a_late_chunk_never() -> None:
    clock = ArrivalClock()
    arrive(clock, [0.0] * 100)
    clock.arrived(103.03 + 0.4, 3.03)
    assert clock.start == pytest.approx(100)
    for number in range(102, 115):  # ten seconds without audio, which never comes
        clock.arrived(110 + number * 0.03, number * 0.03)
    assert clock.start == pytest.approx(110)


@given(st.floats(0.6, 5), st.floats(0, 0.25), st.integers(1, 60))
def test_what_comes_at_once_after_a_stall_never_moves_a_clock(stall: float, takes: float, following: int) -> None:
    clock = ArrivalClock()
    arrive(clock, [0.0] * 100)
    late = int(stall / 0.03)
    for number in range(late):
        clock.arrived(103 + stall + takes * number / late, 3 + (number + 1) * 0.03)
        assert clock.start == pytest.approx(100, abs=1e-6)
    for number in range(following):
        clock.arrived(103 + stall + takes + number * 0.03, 3 + (late + number) * 0.03)
        assert clock.start == pytest.approx(100, abs=0.03)


@given(st.lists(st.floats(0.5, 30), min_size=2, max_size=200))
def test_what_waited_for_the_server_never_moves_a_clock_later(lateness: list[float]) -> None:
    clock = ArrivalClock()
    arrive(clock, [0.0] * 100)
    for number, late in enumerate(lateness, 101):
        clock.arrived(100 + number * 0.03 + late, number * 0.03, waited=True)
        assert clock.start == pytest.approx(100)
    for number in range(len(lateness) + 101, len(lateness) + 115):  # the rest of a gap that was seen in time
        clock.arrived(140 + number * 0.03, number * 0.03)
    assert clock.start == pytest.approx(140)


def test_a_clock_that_runs_slower_is_followed() -> None:
    clock = ArrivalClock()
    for number in range(1, 100_000):
        clock.arrived(number * 0.03 * 1.0001, number * 0.03)
    assert clock.start == pytest.approx(0.0001 * 3_000, abs=2e-3)


def test_faster_than_real_time_no_moment_is_in_the_future() -> None:
    clock = ArrivalClock()
    for number in range(1, 1_000):
        clock.arrived(5.0 + number * 1e-3, number * 0.03)
        assert clock.heard_at(number * 0.03) <= 5.0 + number * 1e-3 + 1e-9


# --- answers


@given(st.lists(st.tuples(st.floats(0, 5), st.sampled_from("abc")), max_size=30))
def test_within_seven_tenths_there_is_one_answer_and_never_none(words: list[tuple[float, str]]) -> None:
    answers, given_ = WordAnswers(), list[float]()
    for heard, peer in words:
        if answers.to(heard, peer) is None:
            answers.add(heard, peer)
            given_.append(heard)
    for number, one in enumerate(given_):
        assert all(abs(one - other) > 0.7 for other in given_[:number])
    for heard, _ in words:
        assert any(-0.7 <= heard - one <= 1.7 for one in given_)


def test_who_was_held_back_is_so_when_it_finds_the_word_again_and_no_one_else() -> None:
    answers = WordAnswers()
    answers.add(10.0, "near")
    assert answers.to(11.3, "far") is None  # another word
    assert answers.to(10.2, "far") == answers.to(10.9, "late") == "near"
    assert answers.to(11.3, "far") == "near"
    assert answers.to(11.3, "hall") is None
    assert answers.to(11.8, "far") is None
