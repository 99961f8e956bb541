"""The log: a line for each message, whatever a client or the name of a file puts into it."""

import logging
from types import SimpleNamespace

import pytest

from wakeword_serve import logs
from wakeword_serve.logs import ClientWarnings, set_up_logs


def test_a_message_is_one_printable_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    root, ours = logging.getLogger(), logging.getLogger("wakeword")
    monkeypatch.setattr(root, "handlers", list(root.handlers))
    levels = root.level, ours.level
    try:
        set_up_logs(debug=False)
        logging.getLogger("wakeword.serve").warning("models/%s: refused", "\x1b[31m\nred\u2028\udcff.onnx")
    finally:
        root.setLevel(levels[0])
        ours.setLevel(levels[1])
    written = capsys.readouterr().err
    assert " warning: models/" in written
    assert "red" in written
    assert written.endswith("\n")
    assert written[:-1].isprintable()


def test_a_client_cannot_fill_the_log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(logs, "time", SimpleNamespace(monotonic=lambda: now))
    warnings = ClientWarnings()
    caplog.set_level(logging.WARNING, "wakeword.serve")
    for number in range(1_000):
        warnings.warn(f"client:{number}", "expected less", "not-allowed")
        now += 0.05
    warnings.warn("other:1", "expected another word", "unknown-wake-word")
    lines = list(caplog.messages)
    assert lines == [*(f"client:{number}: expected less" for number in range(5)), "other:1: expected another word"]
    now += 60.0
    warnings.warn("client:x", "expected less", "not-allowed")
    assert caplog.messages[len(lines) :] == ["client:x: expected less"]
