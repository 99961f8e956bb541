"""Laws of the table of what the recogniser hears for each phoneme."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scripts.count_confusions import aligned, sounds_wrong
from scripts.ear.ear_speech import SpokenUtterance, Way
from wakeword.base.types import Array
from wakeword.verify.phoneme_verifier import BLANK
from wakeword_tools.texts.recogniser import IPA, LEFT_OUT

phonemes = st.lists(st.sampled_from(sorted(IPA)), max_size=8)


@given(phonemes)
def test_what_was_heard_right_is_aligned_for_nothing(said: list[str]) -> None:
    pairs, edits = aligned(said, [IPA[one].split()[0] for one in said])
    assert edits == 0
    assert pairs == [(one, IPA[one].split()[0]) for one in said]


@given(phonemes, st.lists(st.sampled_from("abdefklmnsz"), max_size=8))
def test_every_phoneme_stands_once_in_its_order(said: list[str], heard: list[str]) -> None:
    pairs, edits = aligned(said, heard)
    assert [phoneme for phoneme, _ in pairs] == said
    tokens = iter(heard)
    assert all(any(token == one for one in tokens) for _, token in pairs if token != LEFT_OUT)
    assert edits <= len(said) + len(heard)


def test_a_phoneme_that_was_left_out_does_not_shift_the_others() -> None:
    pairs, edits = aligned(["M", "AA", "R", "V", "IH", "N"], ["m", "ɑ", "f", "ɪ", "n"])
    assert pairs == [("M", "m"), ("AA", "ɑ"), ("R", LEFT_OUT), ("V", "f"), ("IH", "ɪ"), ("N", "n")]
    assert edits < 2


SOUNDS = ("a", "b", "s", "t")
few = st.lists(st.sampled_from(SOUNDS), max_size=6)


class Heard:
    """A recogniser that hears these sounds, each followed by a blank."""

    tokens = (*SOUNDS, BLANK)

    def __init__(self, sounds: list[str]) -> None:
        self._frames = [one for sound in sounds for one in (sound, BLANK)]

    def log_probabilities(self, samples: Array) -> Array:
        return np.array([[float(token == one) for token in self.tokens] for one in self._frames], np.float32).reshape(
            -1, 5
        )


@given(few, few)
def test_the_edits_that_are_counted_are_the_fewest(said: list[str], heard: list[str]) -> None:
    def wrong(sounds: list[str]) -> int:
        spoken = SpokenUtterance("someone", ((Way(tuple(said), True),),), np.zeros(16, np.float16))
        edits, count = sounds_wrong(Heard(sounds), [spoken])  # type: ignore[arg-type]
        assert count == len(said)
        return edits

    edits = wrong(heard)
    assert abs(len(said) - len(heard)) <= edits <= max(len(said), len(heard))
    assert (edits == 0) == (said == heard)
    # One more or one less changes it by one at most, and a path of such steps leads to what was said.
    steps = [wrong(heard[:at] + said[at:]) for at in range(max(map(len, (said, heard))) + 1)]
    assert wrong([*heard, "a"]) - edits in (-1, 0, 1)
    assert steps[0] == 0
    assert steps[-1] == edits
