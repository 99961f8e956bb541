"""``wakeword models`` and ``wakeword info``: what the models say of themselves."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from wakeword import OperatingPoint
    from wakeword.model import Model


def models() -> None:
    """List the shipped models."""
    from wakeword.cli.console import complain, note
    from wakeword.cli.evidence import positives, warnings
    from wakeword.errors import ModelError
    from wakeword.model import read_model, shipped_models

    shipped = shipped_models()
    if not shipped:
        raise ModelError("expected shipped models, found none; is the installation complete?")
    rows = [("keyword", "version", "size", "default point", "threshold", "recall (95 %)", "positives")]
    doubts: list[str] = []
    broken = False
    for path in shipped.values():
        try:
            card = read_model(path).card
        except ModelError as error:
            complain(error)
            broken = True
            continue
        default = ("none", "", "", "")
        if card.default_point is not None:
            point = card.point()
            default = (*_point(point), positives(point))
            doubts += warnings(card.phrase, point)
        rows.append((card.phrase, card.version, f"{path.stat().st_size / 1000:.0f} kB", *default))
    _print_table(rows)
    for doubt in doubts:
        note(doubt)
    if broken:
        raise typer.Exit(1)


def info(
    model: Annotated[str, typer.Argument(help="A shipped keyword or a model file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the card as JSON.")] = False,
) -> None:
    """Show everything that a model says of itself."""
    import json

    from wakeword.model import load_model

    loaded = load_model(model)
    if as_json:
        print(json.dumps(json.loads(loaded.card.to_json()), indent=2))
    else:
        _print_card(loaded)


def _print_card(model: "Model") -> None:
    from wakeword.cli.console import note
    from wakeword.cli.evidence import warnings
    from wakeword.model import SELF_TEST_TOLERANCE

    card = model.card
    features = card.features
    seconds = features.samples_in(card.window) / features.sample_rate
    print(f"keyword     {card.phrase}")
    print(f"version     {card.version}")
    print(f"licence     {card.licence}")
    print(f"window      {card.window} frames ({seconds:.3f} s), taken {card.stack} at a time")
    print(f"self-test   logit {card.self_test.logit:.4f} +- {SELF_TEST_TOLERANCE:g}: passed")
    print(f"schema      {card.schema}")
    print("\nfeatures")
    _print_tree({"fingerprint": features.fingerprint, **vars(features)})
    print("\noperating points" + ("" if card.operating_points else ": none; calibrate the model or give a threshold"))
    if card.operating_points:
        _print_table(
            [("", "name", "threshold", "recall (95 %)", "measured on")]
            + [
                ("*" if point.name == card.default_point else "", *_point(point), point.data)
                for point in card.operating_points
            ]
        )
    if card.training:
        print("\ntraining")
        _print_tree(card.training)
    for doubt in dict.fromkeys(doubt for point in card.operating_points for doubt in warnings(card.phrase, point)):
        note(doubt)


def _point(point: "OperatingPoint") -> tuple[str, str, str]:
    recall = f"{point.recall:.3f} ({point.recall_low:.3f}-{point.recall_high:.3f})"
    # Thresholds for rare false accepts lie near to 1; so many digits tell them apart.
    return point.name, f"{point.threshold:.6g}", recall


def _print_tree(values: Any, indent: int = 2) -> None:
    width = max((len(str(key)) for key in values), default=0)
    for key, value in values.items():
        if isinstance(value, dict) and value:
            print(f"{'':{indent}}{key}")
            _print_tree(value, indent + 2)
        else:
            print(f"{'':{indent}}{key:<{width}}  {value}")


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
