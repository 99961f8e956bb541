"""``wakeword models``: the models that are known by name."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wakeword.base.errors import ModelError
from wakeword.base.files import file_sha256
from wakeword.base.text import printable
from wakeword.cli.console import complain, note
from wakeword.cli.options import JsonOption
from wakeword.cli.ranges import option
from wakeword.format.card import ModelCard
from wakeword.format.point_warnings import hourly_shown, positives, recall_shown, warnings_of
from wakeword.model.installed import model_name, named, names_model, shipped_models, user_models
from wakeword.model.installing import install_model, remove_model
from wakeword.model.model import read_model


class _Action(StrEnum):
    LIST = "list"
    INSTALL = "install"
    REMOVE = "remove"


def models(
    action: Annotated[_Action, typer.Argument(help="What to do.")] = _Action.LIST,
    what: Annotated[
        str | None, typer.Argument(metavar="[FILE|NAME]", help="The model to install, or the name to remove.")
    ] = None,
    name: Annotated[
        str | None, option("--name", "Install under this name. Default: the model's phrase.", "NAME")
    ] = None,
    replace: Annotated[bool, option("--replace", "Install in place of a model of the same name.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List the models that are known by name, install one, or remove one.

    A model that is installed is found by every command: --keyword NAME. The names of included models always mean these.
    """
    if (action is _Action.LIST) != (what is None):
        wanted = {_Action.LIST: "nothing after list", _Action.INSTALL: "a FILE", _Action.REMOVE: "a NAME"}
        raise typer.BadParameter(f"expected {wanted[action]}, got {'nothing' if what is None else repr(what)}")
    if (action is not _Action.INSTALL and (name is not None or replace)) or (action is not _Action.LIST and as_json):
        raise typer.BadParameter("--name and --replace are options of models install, --json of models list")
    if action is _Action.INSTALL and what is not None and not what.endswith(".onnx") and names_model(what):
        raise typer.BadParameter(f"{what!r} is known already; try: wakeword listen --keyword {shlex.quote(what)}")
    if what is None:
        _list_models(as_json=as_json)
    elif action is _Action.INSTALL:
        _tell(install_model(what, name=name, replace=replace))
    else:
        print(f"removed {printable(remove_model(what))}")


def _tell(installed: Path) -> None:
    card = read_model(installed).card
    print(f"installed {printable(installed)}")
    print(f"SHA-256   {file_sha256(installed)}")
    print(f"word      {printable(card.phrase)}, version {printable(card.edition)}")
    print(f"use       wakeword listen --keyword {shlex.quote(installed.stem)}")
    if card.default_point is not None:
        for line in warnings_of([(card.phrase, card.point())]):
            note(line)


@dataclass(frozen=True)
class _Listed:
    """A model that is known by a name."""

    name: str
    path: Path
    card: ModelCard
    included: bool

    def entry(self) -> dict[str, object]:
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
            "default_point": None if point is None else asdict(point),
            "warnings": [] if point is None else warnings_of([(self.card.phrase, point)]),
        }


def _list_models(*, as_json: bool) -> None:
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
    listed = []
    for name, path in paths.items():
        try:
            card = read_model(path).card
        except ModelError as error:
            complain(error)
        else:
            listed.append(_Listed(name, path, card, included))
    return listed


def _print(listed: Sequence[_Listed]) -> None:
    heads = ("keyword", "version", "size", "default point", "recall (95 %)", "positives", "false/h", "from")
    print_columns([heads, *map(_row, listed)])
    cards = [model.card for model in listed if model.card.default_point is not None]
    for line in warnings_of((card.phrase, card.point()) for card in cards):
        note(line)


def _row(model: _Listed) -> tuple[str, ...]:
    card = model.card
    # Commands take the phrase too, unless the model was given a name of another kind.
    shown = card.phrase if model_name(card.phrase) == model_name(model.name) else f"{model.name} ({card.phrase})"
    place = "included" if model.included else str(model.path.parent)
    size = f"{model.path.stat().st_size / 1000:.0f} kB"
    if card.default_point is None:
        return shown, card.version, size, "none", "", "", "", place
    point = card.point()
    recall = "{:.3f} ({:.3f}-{:.3f})".format(*recall_shown(point))
    often = "" if (rate := hourly_shown(point)) is None else f"{rate:.2f}"
    return shown, card.version, size, point.name, recall, positives(point), often, place


def print_columns(rows: Sequence[tuple[str, ...]]) -> None:
    """Print rows of cells in columns."""
    shown = [tuple(map(printable, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
