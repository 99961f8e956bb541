"""Numbers of things in messages."""

from wakeword.base.text import counted


def test_only_one_is_singular() -> None:
    assert [counted(number, "phoneme") for number in (0, 1, 2)] == ["0 phonemes", "1 phoneme", "2 phonemes"]
    assert [counted(number, "copy", "copies") for number in (0, 1, 2)] == ["0 copies", "1 copy", "2 copies"]
