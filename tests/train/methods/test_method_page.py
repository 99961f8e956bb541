"""The code on the page about the method runs as printed."""

import re
from pathlib import Path

import torch

PAGE = Path(__file__).parents[3] / "docs/method.md"


def test_the_code_of_the_page_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            exec(compile(block, str(PAGE), "exec"), {})
