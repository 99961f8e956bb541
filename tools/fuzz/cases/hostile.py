"""Graphs that want endless time or memory: a sound model whose logit passes through a hostile node.

What they ask for is chosen so that a runtime that gives it fails visibly: 4 GB and more, or 10**12 turns of a loop.
"""

import itertools
import struct
from collections.abc import Callable, Sequence
from random import Random

from fuzz.cases.protobuf_cases import BYTES, Field, encoded, field, fields, graph_of, message, with_graph

FLOAT, INT64, BOOL = 1, 7, 9
"""Types of elements."""
_NODE, _INITIALIZER, _INPUT, _OUTPUT = 1, 5, 11, 12
"""Fields of ``GraphProto``."""
_WEIGHT, _EXTERNAL = 0.0, 1

Hostile = Callable[[bytes, Random], bytes]
"""The bytes of a sound model -> those of a hostile one."""


def node(operator: str, inputs: Sequence[str], outputs: Sequence[str], *attributes: bytes, domain: str = "") -> bytes:
    """A ``NodeProto``."""
    names = [*((1, name) for name in inputs), *((2, name) for name in outputs)]
    parts = message(*names, (4, operator), *((5, one) for one in attributes))
    return parts + (message((7, domain)) if domain else b"")


def integer(name: str, value: int) -> bytes:
    """An attribute with an integer."""
    return message((1, name), (3, value), (20, 2))


def subgraph(name: str, graph: bytes) -> bytes:
    """An attribute with a graph."""
    return message((1, name), (6, graph), (20, 5))


def tensor(name: str, dims: Sequence[int], kind: int, raw: bytes) -> bytes:
    """A ``TensorProto``, whose bytes need not be those of its shape."""
    return message(*((1, size) for size in dims), (2, kind), (8, name), (9, raw))


def integers(name: str, *values: int) -> bytes:
    """A vector of 64-bit integers."""
    return tensor(name, [len(values)], INT64, struct.pack(f"<{len(values)}q", *values))


def value(name: str, kind: int, dims: Sequence[int | str]) -> bytes:
    """A ``ValueInfoProto``."""
    sizes = message(*((1, message((1 if isinstance(size, int) else 2, size))) for size in dims))
    return message((1, name), (2, message((1, message((1, kind), (2, sizes))))))


def through(model: bytes, nodes: Sequence[bytes], constants: Sequence[bytes] = ()) -> bytes:
    """``model`` with the logit renamed to ``sound``, and ``nodes`` that make ``bad`` (a number), which is added to it."""
    graph: list[Field] = []
    for number, kind, content in graph_of(model):
        if number == _NODE and isinstance(content, bytes):
            content = encoded(
                (one, wire, b"sound" if one == 2 and name == b"logit" else name) for one, wire, name in fields(content)
            )
        graph.append((number, kind, content))
    added = [*nodes, node("Mul", ["bad", "zero"], ["nothing"]), node("Add", ["sound", "nothing"], ["logit"])]
    graph += [(_NODE, BYTES, one) for one in added]
    zero = tensor("zero", [1], FLOAT, struct.pack("<f", _WEIGHT))
    graph += [(_INITIALIZER, BYTES, one) for one in (zero, *constants)]
    return with_graph(model, graph)


def _filled(model: bytes, random: Random) -> bytes:
    size = random.choice((10**9, 10**10, 2**40, 2**62, -1))
    nodes = [node("ConstantOfShape", ["many"], ["all"]), _largest("all")]
    return through(model, nodes, [integers("many", size)])


def _expanded(model: bytes, random: Random) -> bytes:
    operator = random.choice(("Expand", "Tile"))
    return through(model, [node(operator, ["zero", "many"], ["all"]), _largest("all")], [integers("many", 10**10)])


def _doubled(model: bytes, random: Random) -> bytes:
    """Each node doubles what the one before gave: 64 short nodes for 2**64 numbers."""
    times = random.choice((33, 45, 60))
    names = ["zero", *(f"twice{turn}" for turn in range(times))]
    nodes = [
        node("Concat", [before, before], [after], integer("axis", 0)) for before, after in itertools.pairwise(names)
    ]
    return through(model, [*nodes, _largest(names[-1])])


def _outer(model: bytes, random: Random) -> bytes:
    """The product of a column and a row: 10**10 numbers from 200,000."""
    size = random.choice((40_000, 100_000))
    column, row = (tensor(*named, FLOAT, bytes(4 * size)) for named in (("column", [size, 1]), ("row", [1, size])))
    operator = random.choice(("MatMul", "Mul", "Add", "Gemm"))
    return through(model, [node(operator, ["column", "row"], ["all"]), _largest("all")], [column, row])


def _reshaped(model: bytes, random: Random) -> bytes:
    shape = random.choice(([2**32, 2**32], [-1, -1], [0, 10**12], [10**18]))
    nodes = [node("Reshape", ["zero", "shape"], ["all"]), _largest("all")]
    return through(model, nodes, [integers("shape", *shape)])


def _looping(model: bytes, random: Random) -> bytes:
    """A loop of 10**12 turns, or of as many as there are rows less one: none in a test with one row."""
    body = message(
        (1, node("Identity", ["go"], ["on"])),
        (1, node("Identity", ["held"], ["kept"])),
        (2, "body"),
        (11, value("turn", INT64, [])),
        (11, value("go", BOOL, [])),
        (11, value("held", FLOAT, [1])),
        (12, value("on", BOOL, [])),
        (12, value("kept", FLOAT, [1])),
    )
    loop = node("Loop", ["turns", "", "zero"], ["bad"], subgraph("body", body))
    if random.random() < 0.5:
        return through(model, [loop], [tensor("turns", [], INT64, struct.pack("<q", 10**12))])
    rows = [
        node("Shape", ["sound"], ["rows"]),
        node("Sub", ["rows", "one"], ["more"]),
        node("Mul", ["more", "many"], ["turns"]),
    ]
    return through(model, [*rows, loop], [integers("one", 1), integers("many", 10**12)])


def _branching(model: bytes, random: Random) -> bytes:
    then = message((1, node("Identity", ["zero"], ["x"])), (2, "then"), (12, value("x", FLOAT, [1])))
    other = then
    for _ in range(random.choice((1, 50, 2_000))):  # as deep as stacks of calls are not
        inner = node("If", ["yes"], ["x"], subgraph("then_branch", then), subgraph("else_branch", other))
        other = message((1, inner), (2, "other"), (12, value("x", FLOAT, [1])))
    branch = node("If", ["yes"], ["bad"], subgraph("then_branch", then), subgraph("else_branch", other))
    return through(model, [branch], [tensor("yes", [], BOOL, b"\x01")])


def _external(model: bytes, random: Random) -> bytes:
    """Weights that are said to be in another file, on a device, or at an address in memory."""
    place = random.choice(
        ("../../../../etc/passwd", "/etc/passwd", "/dev/zero", "weights.bin", "*/_ORT_MEM_ADDR_/*", "")
    )
    entries = [("location", place), ("offset", random.choice(("0", "-1", "140000000000000"))), ("length", "4")]
    outside = message((1, 1), (2, FLOAT), (8, "outside"), (14, _EXTERNAL))
    outside += b"".join(message((13, message((1, key), (2, text)))) for key, text in entries)
    return through(model, [node("Identity", ["outside"], ["bad"])], [outside])


def _foreign(model: bytes, random: Random) -> bytes:
    """Operators of other domains, or of none."""
    domain = random.choice(("com.microsoft", "ai.onnx.ml", "ai.onnx.contrib", "evil", ""))
    operator = random.choice(("FusedMatMul", "Print", "RandomNormal", "PyOp", "StringNormalizer", "", "x" * 100_000))
    return through(model, [node(operator, ["zero"], ["bad"], domain=domain)])


def _wide(model: bytes, random: Random) -> bytes:
    """One more part of the state, as wide as the file likes."""
    width = random.choice((10**7, 2**31 - 1, 2**31, 10**12, -1, 0))
    more = [(_INPUT, BYTES, value("more", FLOAT, [1, "rows", width]))]
    more += [(_OUTPUT, BYTES, value("more_next", FLOAT, [1, "rows", width]))]
    more += [(_NODE, BYTES, node("Identity", ["more"], ["more_next"]))]
    return with_graph(model, [*graph_of(model), *more])


def _failing(model: bytes, random: Random) -> bytes:
    """Runs with one row, as in a self-test, and fails with more."""
    return through(
        model, [node("Reshape", ["sound", "shape"], ["bad"])], [integers("shape", random.choice((1, 2, 13)))]
    )


def _cyclic(model: bytes, random: Random) -> bytes:
    names = ["bad", *(f"x{turn}" for turn in range(random.choice((0, 1, 40))))]
    return through(model, [node("Identity", [a], [b]) for a, b in zip(names, [*names[1:], names[0]], strict=True)])


def _nested(model: bytes, random: Random) -> bytes:
    """Messages in messages, deeper than a recursive reader can go."""
    inner = b""
    for _ in range(random.choice((90, 150, 5_000))):
        inner = message((1, message((5, message((6, inner))))), (2, "deep"))
        if len(inner) > 2_000_000:
            break
    return with_graph(model, [*graph_of(model), field(_NODE, message((4, "If"), (5, message((6, inner)))))])


def _many(model: bytes, random: Random) -> bytes:
    """More nodes, constants or empty fields than anybody needs."""
    count = random.choice((1_000, 50_000))
    kind = random.choice((_NODE, _INITIALIZER, 13))
    return with_graph(model, [*graph_of(model), *((kind, BYTES, b"") for _ in range(count))])


def _largest(name: str) -> bytes:
    return node("ReduceMax", [name], ["bad"], integer("keepdims", 0))


GRAPHS: dict[str, Hostile] = {
    "branching": _branching,
    "cyclic": _cyclic,
    "doubled": _doubled,
    "expanded": _expanded,
    "external": _external,
    "failing": _failing,
    "filled": _filled,
    "foreign": _foreign,
    "looping": _looping,
    "many": _many,
    "nested": _nested,
    "outer": _outer,
    "reshaped": _reshaped,
    "wide": _wide,
}
"""Kinds of hostile graphs."""
