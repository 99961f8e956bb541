"""What a person sees of ``wakeword listen`` on a terminal."""

import io
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from wakeword import Detection, MicrophoneStats
from wakeword.cli.formats import FORMATS, TERMINAL, FormatName, writer
from wakeword.cli.listen.meter import Meter


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("threshold", [0.001, 0.98, 0.9999])
def test_the_meter_shows_a_bar_and_the_threshold_on_a_screen_of_any_width(width: int, threshold: float) -> None:
    detector: Any = SimpleNamespace(keywords=["hey zorvella"], thresholds={"hey zorvella": threshold})
    stats = MicrophoneStats(12, 0.8, overflows=0, gaps=3, gap_seconds=1.5)
    console = Console(width=width, file=io.StringIO(), record=True)
    meter = Meter(detector)
    meter._held["hey zorvella"] = 1.0
    console.print(meter._table(-40.0, stats))
    word, level, losses = console.export_text().splitlines()
    assert f"threshold {threshold:.3f}" in word
    assert 10 <= len(re.sub("[^━╸╺]", "", word)) <= 40
    assert losses.rstrip() == "12 blocks lost, 3 gaps, 1.5 s"
    assert "-40 dB" in level


@pytest.mark.parametrize("plain", [True, False])
def test_a_person_gets_the_time_of_day_and_colour(plain: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Detection("low", 0.9, 1.0, 2.0, np.zeros(0, np.float32))
    lines = {}
    for form in (TERMINAL, FORMATS[FormatName.TEXT]):
        with monkeypatch.context() as patch:
            patch.delenv("NO_COLOR", raising=False)
            patch.setenv("TERM", "dumb" if plain else "xterm")
            stream = io.StringIO()
            writer(stream, *form)(None, found)
            lines[form] = stream.getvalue()
    for_a_person, text = lines.values()
    assert text == "1.000-2.000 s  low  0.9000\n"
    assert ("\x1b" in for_a_person) is not plain
    assert re.fullmatch(r"\d\d:\d\d:\d\d  " + re.escape(text), re.sub(r"\x1b\[[\d;]*m", "", for_a_person))
