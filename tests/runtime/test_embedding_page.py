"""The code on the page about embedding runs as it stands there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_code_of_the_page_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs/embedding.md").read_text(encoding="utf-8"), flags=re.DOTALL
    )
    assert len(blocks) > 2
    for block in blocks:
        exec(compile(block, "embedding.md", "exec"), {})
    assert "seconds for the recogniser" in capsys.readouterr().out
