"""``wakeword models`` and ``wakeword info``: the contents of the models' cards."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from wakeword.card import ModelCard
from wakeword.cli.console import complain, note
from wakeword.errors import ModelError
from wakeword.escaping import printable
from wakeword.evidence import positives, warnings
from wakeword.model import SELF_TEST_TOLERANCE, Model, load_model, read_model, shipped_models
from wakeword.operating_point import OperatingPoint
from wakeword.verify.card import VerifierCard


def models() -> None:
    """List the shipped models."""
    shipped = shipped_models()
    if not shipped:
        raise ModelError("expected shipped models, found none; is the installation complete?")
    cards = _read_cards(shipped.values())
    rows: list[tuple[str, ...]] = [
        ("keyword", "version", "size", "default point", "threshold", "recall (95 %)", "positives")
    ]
    rows += [_row(path, card) for path, card in cards.items()]
    _print_table(rows)
    for card in cards.values():
        if card.default_point is not None:
            for warning in warnings(card.phrase, card.point()):
                note(warning)
    if len(cards) < len(shipped):
        raise typer.Exit(1)


def _read_cards(paths: Iterable[Path]) -> dict[Path, ModelCard]:
    """The cards of the models; those that cannot be read are reported and left out."""
    cards = {}
    for path in paths:
        try:
            cards[path] = read_model(path).card
        except ModelError as error:
            complain(error)
    return cards


def _row(path: Path, card: ModelCard) -> tuple[str, ...]:
    size = f"{path.stat().st_size / 1000:.0f} kB"
    if card.default_point is None:
        return card.phrase, card.version, size, "none", "", "", ""
    point = card.point()
    return card.phrase, card.version, size, *_point(point), positives(point)


def info(
    model: Annotated[str, typer.Argument(help="A shipped keyword or a model file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the card as JSON.")] = False,
) -> None:
    """Show everything that a model's card contains."""
    loaded = load_model(model)
    if as_json:
        print(json.dumps(json.loads(loaded.card.to_json()), indent=2))
    else:
        _print_card(loaded)


def _print_card(model: Model) -> None:
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
            rows.append(("*" if point.name == card.default_point else "", *_point(point), point.data))
        _print_table(rows)
    if card.training:
        print("\ntraining")
        _print_tree(card.training)
    for warning in dict.fromkeys(line for point in card.operating_points for line in warnings(card.phrase, point)):
        note(warning)


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


def _point(point: OperatingPoint) -> tuple[str, str, str]:
    recall = f"{point.recall:.3f} ({point.recall_low:.3f}-{point.recall_high:.3f})"
    # Thresholds for rare false accepts are close to 1: with fewer digits they would look the same.
    return point.name, f"{point.threshold:.6g}", recall


def _print_tree(values: Mapping[str, Any], indent: int = 2) -> None:
    width = max((len(printable(key)) for key in values), default=0)
    for key, value in values.items():
        name = printable(key)
        if isinstance(value, dict) and value:
            print(f"{'':{indent}}{name}")
            _print_tree(value, indent + 2)
        else:
            print(f"{'':{indent}}{name:<{width}}  {printable(value)}")


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    shown = [tuple(map(printable, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
