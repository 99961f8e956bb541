"""Laws of the table of what the recogniser hears for each phoneme."""

from hypothesis import given
from hypothesis import strategies as st

from scripts.count_confusions import aligned
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
