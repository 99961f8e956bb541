"""What cannot be seen is escaped, and nothing else is changed."""

import csv
import io
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeword import Detection
from wakeword.base.text import cell, is_printable, printable, shortened
from wakeword.cli.console import complain, note
from wakeword.cli.formats import FORMATS, FormatName, writer

NAMES = st.text(max_size=40) | st.text("\r\n\x1b\x9b\u2028\x85\x00\ud800\u202e=+-@,;\"'\tab", max_size=20)
NAMES |= st.text("a\u0301\u0e47\u20dd\u200d\n", max_size=40)


def detection(keyword: str) -> Detection:
    return Detection(keyword=keyword, start=0.5, end=1.0, score=0.9, audio=np.zeros(0, np.float32))


def written(form: FormatName, file: str | None, keyword: str, times: int = 2) -> str:
    stream = io.StringIO(newline="")
    write = writer(stream, *FORMATS[form])
    for _ in range(times):
        write(file, detection(keyword))
    return stream.getvalue()


@given(NAMES)
def test_escaped_text_is_one_line_without_control_characters(text: str) -> None:
    shown = printable(text)
    assert is_printable(shown)
    assert len(shown.splitlines()) <= 1
    assert not any(unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp") for one in shown)
    shown.encode("utf-8")
    assert (shown == text) == is_printable(text)


def test_marks_do_not_tower_over_other_lines() -> None:
    for mark in "\u0301\u0e47\u20dd":  # an accent, a vowel sign of Thai, and a circle
        for tower in (190 * mark, 190 * f"{mark}\u200d"):
            assert not is_printable(f"a{tower}")
            assert printable(f"a{tower}").count(mark) == 6


@pytest.mark.parametrize("text", ["hey marvin ü", "你好", "नमस्ते", "می\u200cخواهم", "C:\\audio\\new", "it's", ""])
def test_what_can_be_seen_stays(text: str) -> None:
    assert printable(text) == cell(text) == shortened(text) == text


def test_long_values_are_cut_and_stay_printable() -> None:
    assert shortened(10**7 * "a") == 77 * "a" + "..."
    assert shortened("\n" * 100) == 38 * "\\n" + "\\..."


@given(st.one_of(NAMES, st.text("\U000e0001\ud800\x1ba", min_size=70, max_size=90)), st.integers(10, 90))
def test_no_value_is_longer_than_asked_for(text: str, most: int) -> None:
    shown = shortened(text, most)
    assert len(shown) <= most
    assert shown == printable(text) or (shown.endswith("...") and printable(text).startswith(shown[:-3]))


@given(NAMES, NAMES)
def test_a_name_forges_no_line_of_any_format(file: str, keyword: str) -> None:
    plain = {form: written(form, "a.wav", "marvin").splitlines() for form in FORMATS}
    for form in FORMATS:
        lines = written(form, file, keyword)
        assert len(lines.splitlines()) == len(plain[form]), form
        assert not any(unicodedata.category(one) == "Cc" for one in lines if one != "\n"), form


@given(NAMES, NAMES)
def test_csv_has_a_row_for_each_detection_and_no_formula(file: str, keyword: str) -> None:
    rows = list(csv.reader(io.StringIO(written(FormatName.CSV, file, keyword), newline="")))
    assert [len(row) for row in rows] == [5, 5, 5]
    assert rows[1] == rows[2] == [cell(file), cell(keyword), "0.5", "1.0", "0.9"]
    assert not any(text.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for text in row)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\uff1d1"])
def test_a_formula_is_a_text(text: str) -> None:
    assert cell(text) == f"'{text}"


def test_messages_are_one_printable_line_of_readable_length(capsys: pytest.CaptureFixture[str]) -> None:
    note("a\nb\x1b[2J\u2028c")
    complain(FileNotFoundError(2, "No such file", "a\x1b]0;title\x07\r.wav"))
    complain(10**7 * "a")
    first, second, third = capsys.readouterr().err.split("\n")[:3]
    assert first == "a b\\x1b[2J c"
    assert second == "wakeword: a\\x1b]0;title\\x07 .wav: No such file"
    assert len(third) == 2_000
