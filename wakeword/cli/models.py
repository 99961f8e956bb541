"""``wakeword models`` and ``wakeword info``: the models that are known by name, and the contents of their cards."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated, Any

import typer

from wakeword.base.text import printable
from wakeword.cli.completion import model_names
from wakeword.cli.console import note
from wakeword.cli.model_list import list_models, point_cells, print_columns
from wakeword.format.point_warnings import warnings, warnings_of
from wakeword.format.verifier_card import VerifierCard
from wakeword.model.installed import names_model
from wakeword.model.installing import Installed, install_model, remove_model
from wakeword.model.model import SELF_TEST_TOLERANCE, Model, load_model


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


def info(
    model: Annotated[
        str,
        typer.Argument(autocompletion=model_names, help="A model that `wakeword models` lists, or a model file."),
    ],
    everything: Annotated[bool, typer.Option("--all", help="Show the configuration of the training too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole card as JSON.")] = False,
) -> None:
    """Show what a model's card contains."""
    loaded = load_model(model)
    if as_json:
        print(json.dumps(json.loads(loaded.card.to_json()), indent=2))
    else:
        _print_card(loaded, everything=everything)


def _print_card(model: Model, *, everything: bool) -> None:
    card = model.card
    features = card.features
    seconds = features.samples_in(card.window) / features.sample_rate
    print(f"keyword     {printable(card.phrase)}")
    print(f"version     {printable(card.version)}")
    print(f"licence     {printable(card.licence)}")
    print(f"window      {card.window} frames ({seconds:.3f} s), taken {card.stack} at a time")
    print(f"self-test   logit {card.self_test.logit:.4f} +- {SELF_TEST_TOLERANCE:g}: passed")
    digest = "without a digest: damage can go unnoticed" if model.digest is None else f"SHA-256 {model.digest[:16]}..."
    print(f"schema      {card.schema}, {digest}")
    if card.verifier is not None:
        _print_second_stage(model, card.verifier)
    print("\nfeatures")
    _print_tree({"fingerprint": features.fingerprint, **vars(features)})
    print("\noperating points" + ("" if card.operating_points else ": none; calibrate the model or give a threshold"))
    if card.operating_points:
        rows = [("", "name", "threshold", "recall (95 %)", "measured on")]
        for point in card.operating_points:
            rows.append(("*" if point.name == card.default_point else "", *point_cells(point), point.data))
        print_columns(rows)
    if card.training:
        print("\ntraining" + ("" if everything else " (--all shows its configuration)"))
        _print_tree(card.training if everything else _outline(card.training))
    for line in warnings_of((card.phrase, point) for point in card.operating_points):
        note(line)


def _outline(training: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a training that are one value, and how much data of each kind it used."""
    found = {key: value for key, value in training.items() if not isinstance(value, Mapping)}
    for split in ("data", "validation"):
        kinds = training.get(split)
        if isinstance(kinds, Mapping):
            found[split] = ", ".join(_amount(kind, used) for kind, used in kinds.items())
    return found


def _amount(kind: str, used: Any) -> str:
    """For instance ``851 positive (840 synthetic)``."""
    if not isinstance(used, Mapping):
        return f"{kind} {used}"
    synthetic = used.get("synthetic")
    return f"{used.get('clips', '?')} {kind}" + (f" ({synthetic} synthetic)" if synthetic else "")


def _print_second_stage(model: Model, verifier: VerifierCard) -> None:
    """What the second stage does. Raises ``ModelError`` if it cannot be used."""
    stage = model.second_stage
    rate = verifier.candidates_per_hour
    print("\nsecond stage")
    values: dict[str, Any] = {
        "looks": f"from logit {verifier.gate:.4g} of the first stage on, and for {verifier.span} frames after it",
        "candidates": "not measured" if rate is None else f"{rate.value:.3g} an hour ({rate.low:.3g}-{rate.high:.3g})",
        "phonemes": " | ".join(" ".join("/".join(one) for one in variant) for variant in verifier.phonemes) or "none",
        "fusion": vars(verifier.fusion),
        "embedding": verifier.embedding_digest[:16],
        "recogniser": (verifier.phonemes_digest or "none")[:16],
        "self-test": f"logit {verifier.self_test:.4f} +- {SELF_TEST_TOLERANCE:g}: {'passed' if stage else 'not run'}",
        "chosen on": verifier.data or "unknown",
        "alone": ", ".join(
            f"{point.name} {point.threshold:.6g}{' *' if point.name == verifier.stage_one_default else ''}"
            for point in verifier.stage_one_points
        )
        or "no points of the first stage",
    }
    _print_tree(values)


def _print_tree(values: Mapping[str, Any], indent: int = 2) -> None:
    width = max((len(printable(key)) for key in values), default=0)
    for key, value in values.items():
        name = printable(key)
        if isinstance(value, dict) and value:
            print(f"{'':{indent}}{name}")
            _print_tree(value, indent + 2)
        else:
            print(f"{'':{indent}}{name:<{width}}  {printable(value)}")
