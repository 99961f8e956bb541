"""The code on the first pages, and on those about embedding and scanning, runs unchanged."""

import re
from pathlib import Path

import pytest

from wakeword import FileSource

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("page", "blocks", "printed"), [("embedding", 3, "for the recogniser"), ("scan", 1, " s: 0.")])
def test_the_code_of_the_page_runs(
    page: str, blocks: int, printed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    found = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(found) >= blocks
    for block in found:
        exec(compile(block, f"{page}.md", "exec"), {})
    assert printed in capsys.readouterr().out


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_program_of_a_first_page_hears_the_demo_recording(
    page: str, cli, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In place of a microphone. The line that the pages show is what a terminal has for its first word."""
    recording, text = ROOT / "assets" / "audio" / "sentences.flac", (ROOT / page).read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    monkeypatch.setattr("wakeword.Microphone", lambda: FileSource(recording))
    exec(compile(program, page, "exec"), {})
    assert capsys.readouterr().out.count("jarvis at ") == 3
    first = cli("listen", "--keyword", "jarvis", "--input", recording).out.partition("\n")[0].partition(": ")[2]
    for name in ("README.md", "docs/listen.md"):
        assert re.search(
            rf"^# \d\d:\d\d:\d\d  {re.escape(first)}$", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE
        )
