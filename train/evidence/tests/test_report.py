"""Results on disk: the page agrees with the rows, and the JSON can be read back."""

import json
import math

import pytest
from matplotlib.figure import Figure

from wakeword_experiments.figures_report import (
    markdown_table,
    mean_and_spread,
    mean_interval,
    paired_difference,
    pivot_table,
    plus_minus,
    write_results,
)

ROWS = [
    {"method": method, "seed": seed, "distance": distance, "auc": base + seed + distance}
    for method, base in (("near", 80.0), ("far", 90.0))
    for seed in range(3)
    for distance in (1, 2)
]


def test_spread_is_that_of_a_sample() -> None:
    assert mean_and_spread([1, 2, 3]) == (2, 1)
    assert math.isnan(mean_and_spread([4])[1])
    assert plus_minus([4]) == "4.0"
    assert plus_minus([1, 2, 3]) == "2.0 ± 1.0"
    assert plus_minus([]) == "–"


def test_interval_is_students() -> None:
    mean, low, high = mean_interval([1, 2, 3])
    # 4.3027 is the 97.5 % quantile of Student's t with two degrees of freedom.
    assert (mean, high - mean) == (2, pytest.approx(4.3027 / math.sqrt(3), rel=1e-4))
    assert low == pytest.approx(2 * mean - high)


def test_each_mean_is_in_its_place_in_the_table() -> None:
    table = pivot_table(ROWS, down="method", across="distance", value="auc")
    assert table.splitlines() == [
        "|  | 1 | 2 |",
        "| --- | ---: | ---: |",
        "| near | 82.0 ± 1.0 | 83.0 ± 1.0 |",
        "| far | 92.0 ± 1.0 | 93.0 ± 1.0 |",
    ]


def test_markdown_table_is_as_wide_as_its_header() -> None:
    assert {line.count("|") for line in markdown_table(["a", "b", "c"], [[1, 2, 3]]).splitlines()} == {4}


def test_gains_are_paired_and_noise_is_called_noise() -> None:
    clear = paired_difference(ROWS, field="method", better="far", worse="near", value="auc", by=("seed", "distance"))
    assert clear == "+10.0 [10.0, 10.0] points over 6 pairs"
    noisy = [
        {"method": m, "seed": s, "auc": v} for s, (a, b) in enumerate([(1, 2), (2, 1)]) for m, v in (("a", a), ("b", b))
    ]
    assert paired_difference(noisy, field="method", better="a", worse="b", value="auc").endswith("within the noise")


def test_results_are_written_and_can_be_read_back(tmp_path) -> None:
    figure = Figure()
    figure.subplots().plot([0, 1])
    settings = {"seeds": [0, 1, 2], "radius": 0.2}
    written = write_results(
        tmp_path,
        "near-far",
        title="Near and far",
        command="python -m wakeword_experiments near",
        settings=settings,
        rows=ROWS,
        body=["One paragraph."],
        figure=figure,
        seconds=1.26,
    )
    assert sorted(path.name for path in written) == sorted(path.name for path in tmp_path.iterdir())
    record = json.loads((tmp_path / "near-far.json").read_text())
    assert record["rows"] == ROWS
    assert record["settings"] == settings
    assert record["seconds"] == 1.3
    page = (tmp_path / "near-far.md").read_text()
    for part in (
        "# Near and far",
        "near-far.png",
        "One paragraph.",
        "`python -m wakeword_experiments near`",
        "near-far.json",
    ):
        assert part in page
    assert (tmp_path / "near-far.png").read_bytes().startswith(b"\x89PNG")
