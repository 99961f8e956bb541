"""The log: a line for each message, whatever a client or the name of a file puts into it."""

import json
import logging

import pytest

from wakeword_serve.logs import ClientWarnings, LogFormat, set_up_logs


def logged(
    form: LogFormat,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *message: str,
    extra: dict[str, str] | None = None,
) -> str:
    """What is written of a warning."""
    root, ours = logging.getLogger(), logging.getLogger("wakeword")
    monkeypatch.setattr(root, "handlers", list(root.handlers))
    levels = root.level, ours.level
    try:
        set_up_logs(form, debug=False)
        logging.getLogger("wakeword.serve").warning(*message, extra=extra)
    finally:
        root.setLevel(levels[0])
        ours.setLevel(levels[1])
    return capsys.readouterr().err


@pytest.mark.parametrize("form", LogFormat)
def test_a_message_is_one_printable_line(
    form: LogFormat, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = logged(form, capsys, monkeypatch, "models/%s: refused", "\x1b[31m\nred\u2028\udcff.onnx")
    assert "red" in written
    assert written.endswith("\n")
    assert written[:-1].isprintable()


@pytest.mark.parametrize(
    ("message", "shown"),
    [(("connected",), "10.0.0.7:1: connected"), (("found, from %s", "10.0.0.7:1"), "warning: found, from 10.0.0.7:1")],
)
def test_a_line_about_a_client_says_which(
    message: tuple[str, ...], shown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = {form: logged(form, capsys, monkeypatch, *message, extra={"peer": "10.0.0.7:1"}) for form in LogFormat}
    assert written[LogFormat.TEXT].endswith(f" {shown}\n")
    assert json.loads(written[LogFormat.JSON])["peer"] == "10.0.0.7:1"


def test_a_client_cannot_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    warnings = ClientWarnings(lambda: now)
    caplog.set_level(logging.WARNING, "wakeword.serve")
    for number in range(1_000):
        warnings.warn(f"client:{number}", "expected less", "not-allowed")
        now += 0.05
    warnings.warn("other:1", "expected another word", "unknown-wake-word")
    lines = caplog.messages
    assert lines == [*(f"client:{number}: expected less" for number in range(5)), "other:1: expected another word"]
    now += 60.0
    warnings.summarise()
    warnings.summarise()
    assert caplog.messages[len(lines) :] == ["995 further warnings 'not-allowed' in 110 s are not shown"]
    warnings.warn("client:x", "expected less", "not-allowed")
    assert caplog.messages[-1] == "client:x: expected less"
