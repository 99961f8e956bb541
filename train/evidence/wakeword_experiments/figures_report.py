"""One way to write results: every figure of every seed as JSON, a Markdown page with tables, and a picture.

A *row* is one measurement: a flat dictionary such as ``{"method": "drocc", "distance": 1.2, "seed": 0, "auc": 99.1}``.
Everything in the Markdown tables is computed from the rows in the JSON file next to it.
"""

import datetime
import importlib.metadata
import json
import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy import stats

from wakeword.base.files import replacing, write_whole

Row = Mapping[str, Any]

_PACKAGES = ("wakeword", "torch", "numpy", "scipy", "scikit-learn")


def mean_and_spread(values: Iterable[float]) -> tuple[float, float]:
    """Mean and sample standard deviation (n - 1); the latter is NaN for a single value, both for none."""
    numbers = np.asarray(list(values), np.float64)
    mean = float(numbers.mean()) if len(numbers) else math.nan
    return mean, float(numbers.std(ddof=1)) if len(numbers) > 1 else math.nan


def mean_interval(values: Iterable[float], *, confidence: float = 0.95) -> tuple[float, float, float]:
    """Mean and the ends of Student's interval for it; the ends are NaN below two values."""
    numbers = list(values)
    mean, spread = mean_and_spread(numbers)
    if len(numbers) < 2:
        return mean, math.nan, math.nan
    half = float(stats.t.ppf((1 + confidence) / 2, len(numbers) - 1)) * spread / math.sqrt(len(numbers))
    return mean, mean - half, mean + half


def plus_minus(values: Iterable[float], *, digits: int = 1) -> str:
    """``"99.2 ± 0.3"``: mean and standard deviation; a single value alone, and a dash for none."""
    mean, spread = mean_and_spread(values)
    if math.isnan(mean):
        return "–"
    return f"{mean:.{digits}f}" + ("" if math.isnan(spread) else f" ± {spread:.{digits}f}")


def select(rows: Iterable[Row], **fields: object) -> list[Row]:
    """The rows that have all these values: ``select(rows, method="bce", seed=0)``."""
    return [row for row in rows if all(row.get(name) == value for name, value in fields.items())]


def distinct(rows: Iterable[Row], field: str) -> list[Any]:
    """The values of one field, each once, in order of appearance; rows without it are skipped."""
    return list(dict.fromkeys(row[field] for row in rows if field in row))


def markdown_table(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """A Markdown table, the first column to the left and the others to the right."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in (header, rule, *lines))


def pivot_table(rows: Sequence[Row], *, down: str, across: str, value: str, digits: int = 1) -> str:
    """A table of mean ± standard deviation of ``value`` over the rows that share ``down`` and ``across``."""
    columns = distinct(rows, across)

    def cell(line: object, column: object) -> str:
        return plus_minus((row[value] for row in select(rows, **{down: line, across: column})), digits=digits)

    lines = [[line, *(cell(line, column) for column in columns)] for line in distinct(rows, down)]
    return markdown_table(["", *map(str, columns)], lines)


def paired_difference(
    rows: Sequence[Row],
    *,
    field: str,
    better: object,
    worse: object,
    value: str,
    by: Sequence[str] = ("seed",),
) -> str:
    """``"+3.1 [0.4, 5.8] points over 10 pairs"``: the gain in ``value`` from ``worse`` to ``better``.

    Rows are paired by the fields ``by``, which identify one row of each; the interval is Student's at 95 %. The text says
    "within the noise" if the interval contains zero.
    """

    def key(row: Row) -> tuple[Any, ...]:
        return tuple(row[name] for name in by)

    base = {key(row): row[value] for row in select(rows, **{field: worse})}
    gains = [row[value] - base[key(row)] for row in select(rows, **{field: better}) if key(row) in base]
    mean, low, high = mean_interval(gains)
    verdict = ", within the noise" if low <= 0 <= high else ""
    return f"{mean:+.1f} [{low:.1f}, {high:.1f}] points over {len(gains)} pairs{verdict}"


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that the figures depend on."""
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in _PACKAGES}


def made_by(command: str) -> dict[str, object]:
    """When, with which versions and by which command figures were made, for their record."""
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    return {"date": date, "versions": versions(), "command": command}


def kept_rows(figures: Path, key: str) -> list[Any]:
    """The rows of a record that is there already; none without it."""
    return list(json.loads(figures.read_text(encoding="utf-8"))[key]) if figures.is_file() else []


def write_results(
    folder: Path,
    name: str,
    *,
    title: str,
    command: str,
    settings: Mapping[str, Any],
    rows: Sequence[Row],
    body: Sequence[str],
    figure: Figure | None = None,
    seconds: float | None = None,
) -> list[Path]:
    """Write ``NAME.json``, ``NAME.md`` and, with a ``figure``, ``NAME.png`` into ``folder``; return their paths.

    ``body``: paragraphs and tables of the Markdown page, in order; the picture comes first. ``settings``, which JSON must
    be able to hold, must suffice to repeat the run; ``seconds`` is the CPU time it took.
    """
    written = []
    record = {
        "title": title,
        "command": command,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "seconds": None if seconds is None else round(seconds, 1),
        "versions": versions(),
        "settings": settings,
        "rows": rows,
    }
    page = [f"# {title}"]
    if figure is not None:
        with replacing(folder / f"{name}.png") as temporary:
            figure.savefig(temporary, dpi=130, format="png", bbox_inches="tight")
        written.append(folder / f"{name}.png")
        page.append(f"![{title}]({name}.png)")
    took = "" if seconds is None else f" in {seconds:.0f} s of CPU time"
    page += [
        *body,
        f"Made by `{command}`{took}. All seeds, settings and versions: [{name}.json]({name}.json).",
    ]
    for suffix, text in (("json", _json(record)), ("md", "\n\n".join(page) + "\n")):
        write_whole(folder / f"{name}.{suffix}", text.encode())
        written.append(folder / f"{name}.{suffix}")
    return written


def _json(record: Mapping[str, Any]) -> str:
    """Indented, but with one line for each row of figures."""
    marks = [f"@row {number}@" for number in range(len(record["rows"]))]
    text = json.dumps({**record, "rows": marks}, indent=2, default=str)
    for mark, row in zip(marks, record["rows"], strict=True):
        text = text.replace(f'"{mark}"', json.dumps({k: _rounded(v) for k, v in row.items()}, default=str), 1)
    return text + "\n"


def _rounded(value: object) -> object:
    return round(value, 4) if isinstance(value, float) else value
