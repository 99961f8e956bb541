"""The whole card of a model as text, in lines of 80 columns."""

import textwrap
from collections.abc import Mapping
from typing import Any

from wakeword.base.text import printable
from wakeword.cli.model_list import point_cells, print_columns
from wakeword.format.verifier_card import VerifierCard
from wakeword.model.model import SELF_TEST_TOLERANCE, Model

_COLUMNS = 80
_LEAST = 30
"""Columns of a text, however long the name before it is."""


def print_whole_card(model: Model) -> None:
    """Print everything. Raises ``ModelError`` if the second stage cannot be used."""
    card = model.card
    features = card.features
    seconds = features.samples_in(card.window) / features.sample_rate
    digest = "without a digest: damage can go unnoticed" if model.digest is None else f"SHA-256 {model.digest[:16]}..."
    print()
    _print_tree(
        {
            "window": f"{card.window} frames ({seconds:.3f} s), taken {card.stack} at a time",
            "self-test": f"logit {card.self_test.logit:.4f} +- {SELF_TEST_TOLERANCE:g}: passed",
            "schema": f"{card.schema}, {digest}",
        },
        0,
    )
    if card.verifier is not None:
        _print_second_stage(model, card.verifier)
    print("\nfeatures")
    _print_tree({"fingerprint": features.fingerprint, **vars(features)})
    print("\noperating points" + ("" if card.operating_points else ": none; calibrate the model or give a threshold"))
    if card.operating_points:
        rows = [("", "name", "threshold", "recall (95 %)")]
        for point in card.operating_points:
            rows.append(("*" if point.name == card.default_point else "", *point_cells(point)))
        print_columns(rows)
        print("\nmeasured on")
        _print_tree({point.name: point.data for point in card.operating_points})
    if card.training:
        print("\ntraining")
        _print_tree(card.training)


def print_entry(name: str, text: str) -> None:
    """Print a name and its text, in lines of 80 columns with the text below itself."""
    width = max(_LEAST, _COLUMNS - len(name))
    lines = textwrap.wrap(text, width, break_on_hyphens=False) or [""]
    for number, line in enumerate(lines):
        print(f"{name if number == 0 else '':{len(name)}}{line}".rstrip())


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
            print_entry(f"{'':{indent}}{name:<{width}}  ", printable(value))
