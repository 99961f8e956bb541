"""Attack: graphs that ask for endless time or memory, or that are no graphs, behind a sound digest and a sound card."""

from pathlib import Path
from random import Random

from fuzz.cases import hostile
from fuzz.cases.blocks import sound
from fuzz.cases.laws import BrokenLawError, Case
from fuzz.cases.protobuf_cases import BYTES, VARINT, Field, encoded, fields
from fuzz.cases.sealing import sealed
from wakeword import Detector
from wakeword.model.installed import shipped_models
from wakeword.model.model import parse_model, read_model

_INSIDE: dict[str, dict[int, str]] = {
    "model": {7: "graph", 8: "opset", 14: "entry", 25: "graph"},
    "graph": {1: "node", 5: "tensor", 11: "value", 12: "value", 13: "value"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph"},
    "value": {2: "type"},
    "type": {1: "tensor type"},
    "tensor type": {2: "shape"},
    "shape": {1: "dimension"},
}
"""Which fields of which messages are messages, and of what kind."""
_INTEGERS = (0, 1, 2, 7, 127, 2**16, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -1, -2, -(2**31), -(2**63))
_TEXTS = (
    b"",
    b"\xff\xfe",
    b"\x00",
    b"\n",
    b"x" * 70_000,
    b"../../etc/hosts",
    b"/dev/zero",
    b"\xc3\x28",
    b"logit",
    b"frames",
)
_SECONDS = 1.5


def prepare() -> Case:
    """Cases from the shipped models and from ``hostile.GRAPHS``: ``refused`` when loaded, or ``runs``."""
    originals = [path.read_bytes() for path in shipped_models().values()]

    def case(random: Random, folder: Path) -> str:
        data = random.choice(originals)
        if random.random() < 0.5:
            data = hostile.GRAPHS[random.choice(sorted(hostile.GRAPHS))](data, random)
        else:
            for _ in range(random.choice((1, 1, 2, 4))):
                data = changed(data, random)
        data = sealed(data)
        path = folder / "model.onnx"
        path.write_bytes(data)
        model = read_model(path) if random.random() < 0.2 else parse_model(data)
        detector = Detector(model, threshold=0.5)
        detector.push(sound(random.randrange(2**32), round(_SECONDS * 16_000)))
        detector.flush()
        for score in detector.scores.values():
            if not 0 <= score <= 1:
                raise BrokenLawError(f"a score of {score}")
        return "runs"

    return case


def changed(data: bytes, random: Random, kind: str = "model") -> bytes:
    """A message of that kind in which one field, at a random depth, is another."""
    try:
        found = fields(data)
    except ValueError:
        return data
    if not found:
        return encoded([_rubbish(random)])
    place = random.randrange(len(found))
    number, wire, value = found[place]
    inside = _INSIDE.get(kind, {}).get(number)
    if inside is not None and isinstance(value, bytes) and random.random() < 0.85:
        found[place] = number, wire, changed(value, random, inside)
        return encoded(found)
    match random.randrange(7):
        case 0:
            del found[place]
        case 1:
            found.insert(random.randrange(len(found)), found[place])
        case 2:
            other = random.randrange(len(found))
            found[place], found[other] = found[other], found[place]
        case 3:
            found[place] = random.choice((1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 14, 20, 99, 2**28)), wire, value
        case 4:
            found.insert(place, _rubbish(random))
        case _:
            found[place] = number, wire, _other(value, random)
    return encoded(found)


def _other(value: int | bytes, random: Random) -> int | bytes:
    if isinstance(value, int):
        return random.choice(_INTEGERS)
    if len(value) in (4, 8) and random.random() < 0.5:
        return random.randbytes(len(value))
    if random.random() < 0.5:
        return random.choice(_TEXTS)
    return value[: random.randrange(len(value) + 1)] if random.random() < 0.5 else value + random.randbytes(8)


def _rubbish(random: Random) -> Field:
    if random.random() < 0.5:
        return random.randrange(1, 30), VARINT, random.choice(_INTEGERS)
    return random.randrange(1, 30), BYTES, random.choice(_TEXTS)
