"""The code on the pages about embedding and scanning runs unchanged."""

import re
from pathlib import Path

import pytest

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
