"""``wakeword listen --playback``."""

from pathlib import Path

import numpy as np
import pytest
import soundfile


def test_what_is_played_is_taken_out(cli, play, models: Path, recordings: Path) -> None:
    """What the recording holds is played 50 ms before it, in another colour: a sound of its own, twice."""
    samples, rate = soundfile.read(recordings / "first.wav", dtype="float32")
    coloured = np.convolve(samples, [0.6, 0.0, 0.0, 0.3])[: len(samples)]
    reference = np.concatenate((coloured[800:], np.zeros(800))).astype(np.float32)
    soundfile.write(recordings / "played.wav", reference, rate)
    assert len(play().out.splitlines()) == 2
    result = play("--playback", recordings / "played.wav")
    assert (result.status, result.out) == (0, "")


def test_a_monitor_needs_its_recorder(play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    result = play("--playback", "monitor")
    assert result.status == 1
    assert "expected the program parec" in result.err
