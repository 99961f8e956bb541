"""What a person sees of ``wakeword listen`` on a terminal."""

import io
import re

import numpy as np
import pytest

from wakeword import Detection
from wakeword.cli.formats import FORMATS, TERMINAL, FormatName
from wakeword.cli.listen.meter import bar


@pytest.mark.parametrize("score", [-1.0, 0.0, 0.3, 0.999, 1.0, 2.0])
@pytest.mark.parametrize("threshold", [0.001, 0.5, 0.98, 1.0])
def test_the_bar_is_as_long_as_the_score_and_marks_the_threshold(score: float, threshold: float) -> None:
    drawn = bar(score, "cyan", threshold)
    assert drawn.cell_len == bar(score, "yellow").cell_len == 40
    assert drawn.plain.count("╋") == 1
    assert abs(drawn.plain.index("╋") - 40 * threshold) <= 1
    unmarked = bar(score, "cyan")
    empty = sum(span.end - span.start for span in unmarked.spans if span.style == "bright_black")
    assert 40 - empty == round(40 * min(1, max(0, score)))


@pytest.mark.parametrize("plain", [True, False])
def test_a_person_gets_the_time_of_day_and_colour(plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Detection("low", 0.9, 1.0, 2.0, np.zeros(0, np.float32))
    lines = {}
    for form in (TERMINAL, FORMATS[FormatName.TEXT]):
        with monkeypatch.context() as patch:
            patch.delenv("NO_COLOR", raising=False)
            patch.setenv("TERM", "dumb" if plain else "xterm")
            stream = io.StringIO()
            form.writer(stream)(None, found)
            lines[form] = stream.getvalue()
    for_a_person, text = lines.values()
    assert text == "1.000-2.000 s  low  0.9000\n"
    assert ("\x1b" in for_a_person) is not plain
    assert re.fullmatch(r"\d\d:\d\d:\d\d  " + re.escape(text), re.sub(r"\x1b\[[\d;]*m", "", for_a_person))
