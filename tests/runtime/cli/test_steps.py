"""Laws of the display of long work: a step with what is done of it."""

import pytest

from wakeword.cli.job_options import audio_progress
from wakeword.cli.steps import Steps, steps_shown


def test_what_is_done_never_falls_and_is_at_most_all() -> None:
    steps = Steps("a step", lambda steps: None, print)
    found = []
    for done in (0.0, 0.5, 0.3, 1.2, 0.9):
        steps.share(done)
        found.append(steps.done)
    assert found == [0, 0.5, 0.5, 1, 1]


def test_without_a_terminal_a_line_comes_every_half_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 1_000.0
    monkeypatch.setattr("wakeword.cli.steps.time.monotonic", lambda: now)
    with steps_shown("scanning") as steps:
        for number, taken in enumerate([60.0, 5.0] * 4, 1):
            now += taken
            steps.share(0.05 * number, "2 audio hours a second")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"scanning: {done}%, 2 audio hours a second" for done in (5, 15, 25, 35)]
    with audio_progress("scanning", 0.0) as report:
        report(0.0, 0.0)
