"""The page of the paper's figures holds each of them, and ours from the records beside it."""

import json
from pathlib import Path

import pytest

from wakeword.base.errors import DataError
from wakeword_experiments.one_class import published
from wakeword_experiments.one_class.one_class_comparison import COMPARISONS, compare, comparison_page

ROWS = {
    "sphere": [{"distance": 1.2, "method": "DROCC", "seed": s, "auc": 90.0 + s} for s in (0, 2)],
    "sine": [{"distance": 2.0, "method": "kNN", "seed": 0, "auc": 99.0}],
    "half-zeros": [{"method": "BCE", "seed": 0, "recall": 60.0}],
    "tabular": [{"data": "Made", "method": "kNN", "seed": 0, "f1": 50.0}],
    "one-class-audio": [
        {"keyword": word, "method": "kNN", "seed": s, "auc": auc}
        for word, auc in (("up", 60.0), ("go", 70.0))
        for s in "ab"
    ],
    "wake-words": [
        {"regime": regime, "label": "bce", "word": "up", "seed": 0, "recall@3": recall}
        for regime, recall in (("paper", 40.0), ("seen", 90.0))
    ],
}


def records(folder: Path) -> Path:
    for name, rows in ROWS.items():
        (folder / f"{name}.json").write_text(json.dumps({"rows": rows}))
    return folder


def test_every_figure_of_the_paper_is_beside_ours(tmp_path) -> None:
    rows = compare(records(tmp_path))
    shown = [row["paper"] for row in rows if row["paper"] is not None]
    assert len(shown) == sum(len(values) for one in COMPARISONS for values in one.figures.rows.values())
    found = {(row["experiment"], row["method"], row["column"]): row["ours"] for row in rows if row["ours"] is not None}
    assert found == {
        ("sphere", "DROCC", 1.2): 91,
        ("sine", "kNN", 2.0): 99,
        ("half-zeros", "BCE", "recall at 3 % FPR"): 60,
        ("tabular", "kNN", "Made"): 50,
        ("one-class-audio", "kNN", "one word"): 65,
        ("wake-words", "bce", "mean over words"): 40,
    }


def test_the_page_is_written_from_the_records(tmp_path) -> None:
    comparison_page(records(tmp_path), "made by hand")
    page = (tmp_path / "paper.md").read_text()
    assert "| DROCC | 99.44 / 91.0 ± 1.4 |" in page
    assert "| GOAD | 61 / – | 72 / – | 51 / – | – |" in page
    (tmp_path / "sine.json").unlink()
    with pytest.raises(DataError, match=r"sine\.json, found none"):
        compare(tmp_path)


@pytest.mark.parametrize(
    "one", [*(one.figures for one in COMPARISONS), published.WAKE_WORDS], ids=lambda one: one.source
)
def test_the_paper_has_a_figure_for_each_column(one: published.Published) -> None:
    assert {len(values) for values in one.rows.values()} == {len(one.columns)}
    assert all(0 <= value <= 100 for values in one.rows.values() for value in values)
