"""Attack: cards with strange contents, behind a sound digest, so that what reads them is reached."""

import contextlib
import io
import json
import math
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from fuzz.cases.blocks import sound
from fuzz.cases.laws import BrokenLawError, Case, check_message
from fuzz.cases.mutation import flipped
from fuzz.cases.protobuf_cases import metadata, with_metadata
from fuzz.cases.sealing import sealed
from wakeword import ConfigError, Detector
from wakeword.cli.info import info
from wakeword.format.card import METADATA_KEY
from wakeword.format.operating_point import OperatingPoint
from wakeword.model.installed import shipped_models
from wakeword.model.model import parse_model

# fmt: off
_NUMBERS = (
    0, -1, 1, 2, 2**31, 2**63, 10**400, -(10**400), 0.0, -0.0, 1.0, 0.5, 5e-324, 1e308, -5.0, math.nan, math.inf, -math.inf,
    True, 1.0000000000000002,
)
_TEXTS = (
    "", " ", "x" * 201, "x" * 200_000, "\0", "\x1b[2J", "\x9b31m", "a\nb", "a\r", "\u2028", "\u202e", "\ud800", "é", "𝓍",
    "=1+1",
    "../../x", "/etc/x", "$(touch pwned)", "`x`", "%s%n", "{0.__class__}", "a\tb", "fpr=0.03",
    "\n\n2\n00:00:00,000 --> 09:00:00,000",
)
# fmt: on
Place = tuple[Any, Any]
"""A list or dictionary, and the index or key in it."""


def prepare() -> Case:
    """Cases from the cards of the shipped models: ``refused``, or ``loads`` and is printed and used."""
    originals = [path.read_bytes() for path in shipped_models().values()]

    def case(random: Random, folder: Path) -> str:
        data = random.choice(originals)
        entries = metadata(data)
        text = strange(entries[METADATA_KEY], random)
        path = folder / "model.onnx"
        path.write_bytes(sealed(with_metadata(data, {**entries, METADATA_KEY: text})))
        model = parse_model(path.read_bytes())
        card = model.card
        card.to_json()
        _check_points(card.operating_points)
        if card.verifier is not None:
            _check_points(card.verifier.stage_one_points)
        _check_info(path)
        try:
            detector = Detector(model)
        except ConfigError as error:  # no default point
            check_message(str(error))
            return "loads without a default"
        detector.push(sound(random.randrange(2**32), 24_000))
        detector.flush()
        return "loads"

    return case


def strange(text: str, random: Random) -> str:
    """The JSON of a card with one to three strange parts."""
    if random.random() < 0.1:
        # As text: what is no JSON, or is it by chance.
        return flipped(text.encode(), random).decode("utf-8", "surrogateescape")
    card = json.loads(text)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        _change(card, random)
    if random.random() < 0.03:
        return text[: random.randrange(len(text))]
    try:
        return json.dumps(card, ensure_ascii=random.random() < 0.5)
    except (ValueError, RecursionError):
        return "[" * 100_000


def _change(card: Any, random: Random) -> None:
    places = list(_places(card))
    if not places:
        return
    parent, key = random.choice(places)
    match random.randrange(10):
        case 0:
            del parent[key]
        case 1 if isinstance(parent, dict):
            parent[random.choice((*_TEXTS, "schema", "phrase", "points"))] = parent[key]
        case 1 | 2 if isinstance(parent, list):
            # Once for a card: lists of long lists would fill the memory.
            parent += [parent[key]] * random.choice((1, 3, 30_000) if len(places) < 10_000 else (1, 3))
        case 3:
            other, place = random.choice(places)
            with contextlib.suppress(IndexError, KeyError):
                parent[key], other[place] = other[place], parent[key]
        case 4:
            parent[key] = random.choice((None, [], {}, [[]], {"a": {}}, [None]))
        case 5:
            parent[key] = [parent[key]] if random.random() < 0.5 else {"value": parent[key]}
        case 6:
            value: Any = 0
            for _ in range(random.choice((10, 400, 5_000))):
                value = [value]
            parent[key] = value
        case _:
            parent[key] = random.choice(_NUMBERS if random.random() < 0.5 else _TEXTS)


def _places(value: Any) -> Iterator[Place]:
    """Every part of a JSON value, at any depth: what holds it, and where. Without a stack of calls.

    What is in several places, or in itself, is entered once.
    """
    waiting, entered = [value], {id(value)}
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            yield holder, key
            if isinstance(holder[key], dict | list) and id(holder[key]) not in entered:
                entered.add(id(holder[key]))
                waiting.append(holder[key])


def _check_points(points: tuple[OperatingPoint, ...]) -> None:
    for point in points:
        if not 0 < point.threshold <= 1:
            raise BrokenLawError(f"a threshold of {point.threshold}")


def _check_info(path: Path) -> None:
    """``wakeword info`` prints the card, and nothing in it controls the terminal."""
    for as_json in (False, True):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            info(str(path), as_json=as_json)
        if as_json:
            json.loads(out.getvalue())
        for line in (out.getvalue() + err.getvalue()).split("\n"):
            if line and not line.isprintable():
                raise BrokenLawError(f"`wakeword info` prints {line[:200]!r}")
