"""The list of ``wakeword models``: included models and the models in the user's folder."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer

from wakeword.base.errors import ModelError
from wakeword.base.text import printable
from wakeword.cli.console import complain, note
from wakeword.format.card import ModelCard
from wakeword.format.operating_point import OperatingPoint
from wakeword.format.point_warnings import hourly_shown, positives, recall_shown, warnings_of
from wakeword.model.installed import model_name, named, shipped_models, user_models
from wakeword.model.installing import Origin, origin_of
from wakeword.model.model import read_model, read_model_bytes
from wakeword.model.versions import Version, Versions


@dataclass(frozen=True)
class _Listed:
    """A model that is known by a name."""

    name: str
    path: Path
    card: ModelCard
    included: bool
    versions: tuple[Version, ...] = ()
    """The version in force and those before it, the newest first, of a model that `wakeword improve` replaced."""
    origin: Origin | None = None
    """Where an installed model came from; ``None`` for a file that was put into the folder by other means."""

    @property
    def place(self) -> str:
        """Where it came from, in words."""
        if self.included:
            return "included"
        if self.origin is None:
            return f"{self.path.parent}"
        return f"{self.origin.source}, {self.origin.installed[:10]}"

    def entry(self) -> dict[str, Any]:
        """For JSON."""
        point = None if self.card.default_point is None else self.card.point()
        return {
            "name": self.name,
            "keyword": self.card.phrase,
            "version": self.card.version,
            "licence": self.card.licence,
            "file": str(self.path),
            "bytes": self.path.stat().st_size,
            "stages": 1 if self.card.verifier is None else 2,
            "included": self.included,
            "source": None if self.origin is None else self.origin.source,
            "sha256": None if self.origin is None else self.origin.sha256,
            "installed": None if self.origin is None else self.origin.installed,
            "versions": [asdict(one) for one in self.versions],
            "default_point": None if point is None else _entry_of(point),
            "warnings": [] if point is None else warnings_of([(self.card.phrase, point)]),
        }


def list_models(*, as_json: bool) -> None:
    """Print all models that are known by a name. Exit status 1 if one of them cannot be read.

    Raises ``ModelError`` if the package has none.
    """
    shipped, own = shipped_models(), user_models()
    if not shipped:
        raise ModelError("expected shipped models, found none; is the installation complete?")
    usable = {name: path for name, path in own.items() if named(name, shipped) is None}
    listed = _read(shipped, included=True) + _read(usable, included=False)
    for name in sorted(set(own) - set(usable)):
        complain(f"{printable(own[name])} is not used: {name!r} means the included model; rename the file")
    if as_json:
        print(json.dumps([one.entry() for one in listed], indent=1, allow_nan=False))
    else:
        _print(listed)
    if len(listed) < len(shipped) + len(usable):
        raise typer.Exit(1)


def _read(paths: dict[str, Path], *, included: bool) -> list[_Listed]:
    """The models with their cards; those that cannot be read are reported and left out."""
    found = []
    for name, path in paths.items():
        try:
            card = read_model(path).card
            origin = None if included else origin_of(path, read_model_bytes(path))
            history = () if included else tuple(Versions(path).history())
        except ModelError as error:
            complain(error)
        else:
            found.append(_Listed(name, path, card, included, history if len(history) > 1 else (), origin))
    return found


def _print(listed: Sequence[_Listed]) -> None:
    rows: list[tuple[str, ...]] = [
        ("keyword", "version", "size", "default point", "recall (95 %)", "positives", "false/h", "from")
    ]
    rows += [_row(one) for one in listed]
    print_columns(rows)
    for one in listed:
        for number, version in zip(range(len(one.versions), 0, -1), one.versions, strict=True):
            print(f"{printable(one.name)}, version {number}{_told(version)}")
    for line in warnings_of(
        (one.card.phrase, one.card.point()) for one in listed if one.card.default_point is not None
    ):
        note(line)


def _row(one: _Listed) -> tuple[str, ...]:
    card = one.card
    # Commands take the phrase too, unless the model was given a name of another kind.
    shown = card.phrase if model_name(card.phrase) == model_name(one.name) else f"{one.name} ({card.phrase})"
    size = f"{one.path.stat().st_size / 1000:.0f} kB"
    if card.default_point is None:
        return shown, card.version, size, "none", "", "", "", one.place
    point = card.point()
    name, _, recall = point_cells(point)
    rate = hourly_shown(point)
    return shown, card.version, size, name, recall, positives(point), "" if rate is None else f"{rate:.2f}", one.place


def _told(version: Version) -> str:
    """What was measured when a version was installed."""
    if version.parent is None:
        return ": the first one"
    count = {name: round(value) for name, value in version.figures.items()}
    try:
        return (
            f", {version.installed[:10]}: ended {count['false_fixed']} of {count['false_before']} false wakes, began "
            f"{count['false_new']}, lost {count['takes_lost']} of {count['takes']} true ones and {count['voices_lost']} of "
            f"{count['voices']} voices"
        )
    except KeyError:  # written by another release
        return f", {version.installed[:10]}"


def point_cells(point: OperatingPoint) -> tuple[str, str, str]:
    """Name, threshold and recall of a point."""
    recall = "{:.3f} ({:.3f}-{:.3f})".format(*recall_shown(point))
    # Thresholds for rare false accepts are close to 1: with fewer digits they would look the same.
    return point.name, f"{point.threshold:.6g}", recall


def _entry_of(point: OperatingPoint) -> dict[str, Any]:
    rate = point.false_accepts_per_hour
    return {
        "name": point.name,
        "threshold": point.threshold,
        "recall": point.recall,
        "recall_low": point.recall_low,
        "recall_high": point.recall_high,
        "positives": point.positives,
        "synthetic": point.synthetic,
        "false_accepts_per_hour": None if rate is None else rate.value,
        "hours": None if rate is None else rate.trials,
        "by_folds": None if point.by_folds is None else asdict(point.by_folds),
    }


def print_columns(rows: Sequence[tuple[str, ...]]) -> None:
    """Print rows of cells in columns."""
    shown = [tuple(map(printable, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
