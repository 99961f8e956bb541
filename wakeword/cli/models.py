"""``wakeword models``: the models that are known by name."""

import json
import shlex
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

import typer

from wakeword.base.text import printable
from wakeword.cli.console import note
from wakeword.cli.model_list import list_models
from wakeword.format.point_warnings import warnings
from wakeword.model.installed import names_model
from wakeword.model.installing import Installed, install_model, remove_model


class _Action(StrEnum):
    LIST = "list"
    INSTALL = "install"
    REMOVE = "remove"


def models(
    action: Annotated[_Action, typer.Argument(help="What to do.")] = _Action.LIST,
    what: Annotated[
        str | None, typer.Argument(metavar="[FILE|URL|NAME]", help="The model to install, or the name to remove.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Install under this name. Default: the model's phrase.")
    ] = None,
    sha256: Annotated[
        str | None, typer.Option("--sha256", metavar="HEX", help="Install only a file of this SHA-256.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Install in place of a model of the same name.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the models that are known by name, install one, or remove one.

    A model that is installed, from a file or an https address, is found by every command: --keyword NAME. The names of
    included models always mean these.
    """
    if (action is _Action.LIST) != (what is None):
        wanted = {_Action.LIST: "nothing after list", _Action.INSTALL: "a FILE or a URL", _Action.REMOVE: "a NAME"}
        raise typer.BadParameter(f"expected {wanted[action]}, got {'nothing' if what is None else repr(what)}")
    if action is not _Action.INSTALL and (name is not None or sha256 is not None or replace):
        raise typer.BadParameter("--name, --sha256 and --replace are options of models install")
    if action is _Action.INSTALL and what is not None and not what.endswith(".onnx") and names_model(what):
        raise typer.BadParameter(f"{what!r} is known already; try: wakeword listen --keyword {shlex.quote(what)}")
    if what is None:
        list_models(as_json=as_json)
    elif action is _Action.INSTALL:
        _install(install_model(what, name=name, sha256=sha256, replace=replace), as_json=as_json)
    else:
        removed = remove_model(what)
        print(json.dumps({"removed": str(removed)}) if as_json else f"removed {printable(removed)}")


def _install(installed: Installed, *, as_json: bool) -> None:
    card, digest = installed.model.card, installed.model.digest
    if as_json:
        entry = {
            "name": installed.name,
            "keyword": card.phrase,
            "file": str(installed.path),
            **asdict(installed.origin),
        }
        print(json.dumps(entry))
        return
    print(f"installed {printable(installed.path)}")
    print(f"SHA-256   {installed.origin.sha256}")
    print(f"word      {printable(card.phrase)}, version {printable(card.version)}, licence {printable(card.licence)}")
    print(f"digest    {'checked' if digest else 'none: an older schema, in which damage can go unnoticed'}")
    print(f"use       wakeword listen --keyword {shlex.quote(installed.name)}")
    if card.default_point is not None:
        for line in warnings(card.phrase, card.point()):
            note(line)
