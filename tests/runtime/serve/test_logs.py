"""The log: a line for each message, whatever a client or the name of a file puts into it."""

import logging

import pytest

from wakeword.serve.logs import LogFormat, set_up_logs


@pytest.mark.parametrize("form", LogFormat)
def test_a_message_is_one_printable_line(
    form: LogFormat, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, ours = logging.getLogger(), logging.getLogger("wakeword")
    monkeypatch.setattr(root, "handlers", list(root.handlers))
    levels = root.level, ours.level
    try:
        set_up_logs(form, debug=False)
        logging.getLogger("wakeword.serve").warning("models/%s: refused", "\x1b[31m\nred\u2028\udcff.onnx")
    finally:
        root.setLevel(levels[0])
        ours.setLevel(levels[1])
    written = capsys.readouterr().err
    assert "red" in written
    assert written.endswith("\n")
    assert written[:-1].isprintable()
