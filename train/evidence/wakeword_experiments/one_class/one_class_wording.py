"""Sentences and tables that the pages of several experiments share."""

from collections.abc import Mapping, Sequence
from typing import Any

from wakeword_experiments.figures_report import Row, distinct, mean_and_spread, paired_difference, select
from wakeword_experiments.one_class.baselines import Tuned
from wakeword_experiments.one_class.published import Published

SPREAD = "Mean ± standard deviation over {} seeds."
FAIR = "Every method chose among six settings on validation data, which is not used for any figure here."


def tuned_record(chosen: Mapping[str, Tuned]) -> dict[str, Any]:
    """The chosen settings of each method, and the results of all, for the record."""
    return {name: {"chosen": tuned.settings, "validation_auc": tuned.validation_auc} for name, tuned in chosen.items()}


def against(rows: Sequence[Row], method: str, value: str, *, by: Sequence[str] = ("seed",), over: str = "seeds") -> str:
    """The paired gains of a method over each of the others, as a list."""
    others = [name for name in distinct(rows, "method") if name != method]
    gains = [
        f"{o} {paired_difference(rows, field='method', better=method, worse=o, value=value, by=by)}" for o in others
    ]
    return "; ".join(gains) + f". Brackets: 95 % intervals over {over}."


def mean_of_seed(rows: Sequence[Row], value: str) -> list[dict[str, Any]]:
    """The mean of ``value`` over all rows of a method and seed, for each of them."""
    return [
        {
            "method": method,
            "seed": seed,
            value: mean_and_spread(r[value] for r in select(rows, method=method, seed=seed))[0],
        }
        for method in distinct(rows, "method")
        for seed in distinct(rows, "seed")
    ]


def published_line(figures: Published, where: str) -> str:
    """The paper's figures in one sentence."""
    listed = "; ".join(f"{method} {figures.line(method)}" for method in figures.rows)
    return f"Published (Goyal et al., 2020, {figures.source}), {where}: {listed}."
