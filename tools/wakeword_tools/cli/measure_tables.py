"""Tables with the results of calibration and evaluation."""

from collections.abc import Sequence

from rich.table import Table

from wakeword.cli.tables import table
from wakeword.format.operating_point import OperatingPoint, Rate
from wakeword_tools.measure.model_report import ModelReport
from wakeword_tools.measure.rates import Measured

_THRESHOLD = ".6g"
"""Enough digits to distinguish thresholds near 1."""


def rate(measured: Rate | None, *, form: str = ".1%") -> str:
    """A rate with its interval, in the same unit."""
    return "-" if measured is None else interval(measured.value, measured.low, measured.high, form=form)


def interval(value: float, low: float, high: float, *, form: str = ".1%") -> str:
    """``96.3 % (94.5 to 97.7)``, or without per cent in another ``form``."""
    if not form.endswith("%"):
        return f"{value:{form}} ({low:{form}} to {high:{form}})"
    ends = [f"{number:{form}}".rstrip("%") for number in (value, low, high)]
    return f"{ends[0]} % ({ends[1]} to {ends[2]})"


def points_table(points: Sequence[OperatingPoint], default: str | None) -> Table:
    """The measurements at each operating point, for ``calibrate``."""
    apart = any(point.recall_synthetic is not None for point in points)
    made = table("operating points, with 95 % intervals", *_heads(apart), "FA per hour", "kept on fresh data")
    for point in points:
        made.add_row(
            point.name + (" *" if point.name == default else ""),
            f"{point.threshold:{_THRESHOLD}}",
            interval(point.recall, point.recall_low, point.recall_high),
            *_shares(point, apart),
            rate(point.false_accepts_per_hour, form=".2f"),
            "-" if point.assurance is None else f"{point.assurance:.0%}",
        )
    return made


def _heads(apart: bool) -> list[str]:
    recalls = ["recall", "recall, synthetic"] if apart else ["recall"]
    return ["point", "threshold", *recalls, "FPR, negatives", "FPR, near negatives"]


def _shares(measured: OperatingPoint | Measured, apart: bool) -> list[str]:
    """The cells under the last of ``_heads``, after recall."""
    shares = [measured.fpr_negatives, measured.fpr_near_negatives]
    return [rate(share) for share in ([measured.recall_synthetic, *shares] if apart else shares)]


def report_table(label: str, report: ModelReport) -> Table:
    """One row for each figure."""
    made = table("thresholds chosen on these recordings; recall with 95 % intervals", "", label)
    if report.roc_auc is not None:
        made.add_row("ROC area", f"{report.roc_auc:.4f}")
    groups = {"recall at fpr={}": report.recall_at_fpr, "recall at fa_per_hour={}": report.recall_at_fa_per_hour}
    for name, recalls in groups.items():
        for target, recall in recalls.items():
            figure = f"{interval(recall.recall, recall.low, recall.high)} at {recall.threshold:{_THRESHOLD}}"
            made.add_row(name.format(target), figure)
    return made


def operating_table(label: str, report: ModelReport) -> Table:
    """Results of the operating points in a model's card on these recordings."""
    apart = any(point.measured.recall_synthetic is not None for point in report.operating_points.values())
    title = f"{label}: operating points as they are in the model"
    made = table(title, *_heads(apart), "FPR, mean", "FA per hour", "delay")
    for name, point in report.operating_points.items():
        made.add_row(
            name + (" *" if name == report.default_point else ""),
            f"{point.threshold:{_THRESHOLD}}",
            rate(point.measured.recall),
            *_shares(point.measured, apart),
            "-" if point.measured.fpr is None else f"{point.measured.fpr:.1%}".replace("%", " %"),
            rate(point.measured.false_accepts_per_hour, form=".2f"),
            "-" if (late := point.latency) is None else f"{late.median:.2f} s (95 %: {late.percentile_95:.2f})",
        )
    return made


def noise_table(label: str, report: ModelReport) -> Table:
    """Recall without and with noise."""
    conditions = {"as recorded": report, **{f"{snr} dB": noisy for snr, noisy in report.snr.items()}}
    made = table(f"{label}: recall with noise mixed in, SNR of the word", "", *conditions)
    for group in ("recall_at_fpr", "recall_at_fa_per_hour"):
        for target in getattr(report, group):
            recalls = [getattr(case, group)[target] for case in conditions.values()]
            name = f"{group.replace('_', ' ', 1).replace('at_', 'at ')}={target}"
            made.add_row(name, *(interval(recall.recall, recall.low, recall.high) for recall in recalls))
    for name in report.operating_points:
        points = [case.operating_points[name].measured for case in conditions.values()]
        made.add_row(f"recall, point {name}", *(rate(point.recall) for point in points))
        made.add_row("  FPR, negatives", *(rate(point.fpr_negatives) for point in points))
        if report.near_negatives:
            made.add_row("  FPR, near negatives", *(rate(point.fpr_near_negatives) for point in points))
    return made
