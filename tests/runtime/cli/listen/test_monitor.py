"""Lost audio is reported, but not too often."""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from wakeword import Detector, Model
from wakeword.cli.listen.listen_command import monitoring
from wakeword.cli.listen.source import _reporting
from wakeword.microphone.device import DeviceEvent

BLOCK = np.zeros((320, 1), np.int16)


def test_audio_that_is_dropped_is_reported_at_most_every_ten_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr("wakeword.cli.listen.source.time.monotonic", lambda: now)
    report = _reporting()
    dropped = DeviceEvent("dropped", "0.5 s of audio were dropped", 0.5)
    report(dropped)
    assert capsys.readouterr().err == "wakeword: 0.5 s of audio were dropped\n"
    now += 5
    report(dropped)
    assert capsys.readouterr().err == ""
    # What happens to the device is always said.
    report(DeviceEvent("lost", "the device is gone", 0.0))
    assert capsys.readouterr().err == "wakeword: the device is gone\n"
    now += 5
    report(dropped)
    assert capsys.readouterr().err == "wakeword: 0.5 s of audio were dropped\n"


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
