"""Lost audio is reported, but not too often."""

import sys
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from wakeword import Detector, Microphone, Model
from wakeword.cli.listen.listen import LossWarning, monitoring

BLOCK = np.zeros((320, 1), np.int16)


def test_lost_blocks_are_reported_at_most_every_ten_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr("wakeword.cli.listen.listen.time.monotonic", lambda: now)
    counted = SimpleNamespace(dropped_blocks=0, overflows=0)
    warning = LossWarning(cast(Microphone, SimpleNamespace(stats=counted)))
    warning.update(BLOCK)
    assert capsys.readouterr().err == ""
    counted.dropped_blocks, counted.overflows = 2, 1
    warning.update(BLOCK)
    assert "3 block(s) of audio lost so far" in capsys.readouterr().err
    now += 5
    counted.dropped_blocks = 4
    warning.update(BLOCK)
    assert capsys.readouterr().err == ""
    now += 5
    warning.update(BLOCK)
    assert "5 block(s) of audio lost so far" in capsys.readouterr().err
    # Losses that were reported are not reported again.
    now += 60
    warning.update(BLOCK)
    assert capsys.readouterr().err == ""


def test_without_a_terminal_and_a_microphone_blocks_pass_in_silence(
    low_model: Model, capsys: pytest.CaptureFixture[str]
) -> None:
    source: Any = SimpleNamespace(sample_rate=16_000, blocks=lambda: iter([BLOCK]))
    with monitoring(Detector(low_model), source) as look:
        look(BLOCK)
    assert capsys.readouterr() == ("", "")


def test_the_meter_is_imported_for_a_terminal_only(cli: Any, play: Any) -> None:
    sys.modules.pop("wakeword.cli.listen.meter", None)
    assert play().status == 0
    assert "wakeword.cli.listen.meter" not in sys.modules
