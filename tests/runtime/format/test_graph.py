"""A graph does nothing but what the exports of this project do, in sizes that are known before it runs."""

import base64
import math
from collections.abc import Callable

import numpy as np
import pytest
from support.builders import FIXTURES, N_MFCC, band_model_bytes, random_model_bytes, two_stage_head, with_card
from support.onnx_files import GRAPH, changed_graph, node, tensor, with_field, with_number

import wakeword.model.model
from wakeword import Detector, ModelError
from wakeword.format.graph import MAX_WEIGHTS, MAX_WIDTH, read_graph
from wakeword.format.operators import OPERATORS
from wakeword.model.installed import shipped_models
from wakeword.model.model import parse_model
from wakeword.verify.verifier_head import Head

GOOD = band_model_bytes("low", 1)
NODES, INITIALIZERS, OUTPUTS = 1, 5, 12


def with_nodes(*added: bytes) -> bytes:
    """A model with further fields of its graph, and the card of ``GOOD``."""
    return with_card(changed_graph(GOOD, lambda graph: graph + b"".join(added)), parse_model(GOOD).card)


def expected_refusal(model: bytes, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused for that reason before ONNX Runtime has seen it."""
    with monkeypatch.context() as patch:
        patch.setattr(wakeword.model.model, "open_session", lambda *_: pytest.fail("was given to ONNX Runtime"))
        with pytest.raises(ModelError, match=reason) as refused:
            parse_model(model)
    assert len(str(refused.value)) < 500
    assert len(str(refused.value).splitlines()) == 1


FORBIDDEN = ("Loop", "If", "Scan", "ConstantOfShape", "Expand", "Tile", "Constant", "SequenceMap", "MFCC", "Custom", "")


@pytest.mark.parametrize("kind", FORBIDDEN)
def test_operators_that_training_does_not_write_are_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = with_nodes(with_field(b"", NODES, node(kind, ["h"], ["x"])))
    expected_refusal(model, f"operators that .* got '{kind}'", monkeypatch)


@pytest.mark.parametrize("name", ["body", "then_branch", "value", "clip", "direction"])
def test_attributes_that_training_does_not_write_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    attribute = with_number(with_field(b"", 1, name.encode()), 20, 2)
    model = with_nodes(with_field(b"", NODES, with_field(node("LSTM", ["h"], ["x"]), 5, attribute)))
    expected_refusal(model, f"attributes .* got '{name}'", monkeypatch)


def test_graphs_inside_attributes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # 5: a tensor, 6: a graph, 11: graphs, 21: a reference to an attribute of a function
    for number in (5, 6, 11, 21):
        attribute = with_field(with_number(with_field(b"", 1, b"hidden_size"), 20, 5), number, b"")
        model = with_nodes(with_field(b"", NODES, with_field(node("LSTM", ["h"], ["x"]), 5, attribute)))
        expected_refusal(model, f"field of number {number} in an attribute", monkeypatch)


def test_functions_and_unknown_fields_are_refused_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    # 20: training, 25: functions, 26: device configurations
    for number in (20, 25, 26, 999):
        expected_refusal(
            with_card(with_field(GOOD, number, b""), parse_model(GOOD).card), f"number {number}", monkeypatch
        )
    # 14: quantisation, 15: sparse constants, 16: metadata
    for number in (3, 14, 15, 16, 999):
        expected_refusal(with_nodes(with_field(b"", number, b"")), f"number {number} in the graph", monkeypatch)
    # A second graph, which one reader takes instead of the first one and another merges with it.
    second = with_card(with_field(GOOD, GRAPH, b""), parse_model(GOOD).card)
    expected_refusal(second, "two fields graph", monkeypatch)
    # Other operators than those of ONNX, or of another version.
    for opset in (with_number(b"", 2, 17), with_number(with_field(b"", 1, b"ai.onnx.ml"), 2, 3)):
        expected_refusal(with_card(with_field(GOOD, 8, opset), parse_model(GOOD).card), "version 17", monkeypatch)
    expected_refusal(
        with_nodes(with_field(b"", NODES, with_field(node("Exp", ["h"], ["x"]), 7, b"com.microsoft"))),
        "operators",
        monkeypatch,
    )


def test_data_outside_of_the_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = with_field(with_field(b"", 1, b"location"), 2, b"/dev/zero")
    external = with_number(with_field(tensor("x", (1,), None), 13, entry), 14, 1)
    expected_refusal(with_nodes(with_field(b"", INITIALIZERS, external)), "number 1[34] in a constant", monkeypatch)
    expected_refusal(
        with_nodes(with_field(b"", INITIALIZERS, tensor("x", (1,), None))), "in the file itself", monkeypatch
    )


@pytest.mark.parametrize("shape", [(10**12,), (2**40, 2**40), (-1, -1), (0,), (1, 1, 1, 1, 1), (3,)])
def test_constants_have_the_size_of_their_bytes(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    constant = with_field(b"", INITIALIZERS, tensor("x", shape, bytes(4)))
    expected_refusal(with_nodes(constant), "constant of up to 4 dimensions", monkeypatch)


def test_too_many_weights_nodes_and_fields_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = with_field(b"", INITIALIZERS, tensor("x", (MAX_WEIGHTS,), bytes(4 * MAX_WEIGHTS)))
    expected_refusal(with_nodes(weights), f"at most {MAX_WEIGHTS} numbers", monkeypatch)
    copies = [with_field(b"", NODES, node("Exp", ["h"], [f"x{i}"])) for i in range(70)]
    expected_refusal(with_nodes(*copies), "at most 64 nodes", monkeypatch)
    expected_refusal(with_nodes(30_000 * with_field(b"", 13, b"")), "at most 20000 fields", monkeypatch)


def test_values_that_grow_beyond_their_inputs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two constants of 16 kB: their sum would take 64 MB, and the third power of that 256 GB.
    row, column = (
        tensor(name, shape, bytes(4 * 4_096)) for name, shape in (("row", (1, 4_096)), ("column", (4_096, 1)))
    )
    added = [with_field(b"", INITIALIZERS, constant) for constant in (row, column)]
    expected_refusal(
        with_nodes(*added, with_field(b"", NODES, node("Add", ["row", "column"], ["x"]))),
        "numbers in a value",
        monkeypatch,
    )
    expected_refusal(
        with_nodes(*added, with_field(b"", NODES, node("MatMul", ["column", "row"], ["x"]))),
        "numbers in a value",
        monkeypatch,
    )


def test_values_that_grow_with_the_fourth_power_of_the_windows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # A detector has a dozen windows in progress, a pool hundreds.
    turned = with_field(node("Transpose", ["h"], ["t"]), 5, _ints("perm", (1, 0, 2)))
    grown = node("MatMul", ["flat", "t_flat"], ["x"])
    shape = tensor("minus_one", (2,), np.array([-1, 1], np.int64).tobytes(), kind=7)
    across = tensor("across", (2,), np.array([1, -1], np.int64).tobytes(), kind=7)
    picks_flat = [node("Reshape", ["picks", "minus_one"], ["flat"]), node("Reshape", ["picks", "across"], ["t_flat"])]
    model = with_nodes(
        *(with_field(b"", INITIALIZERS, one) for one in (shape, across)),
        *(with_field(b"", NODES, one) for one in (turned, *picks_flat, grown)),
    )
    expected_refusal(model, "numbers in a value", monkeypatch)


def test_states_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = changed_graph(GOOD, lambda graph: graph + with_field(b"", 11, _input("extra", MAX_WIDTH + 1)))
    expected_refusal(with_card(wide, parse_model(GOOD).card), f"of 1 to {MAX_WIDTH}", monkeypatch)
    # Nor many of them: what a value may take grows with all.
    many = changed_graph(GOOD, lambda graph: graph + b"".join(_state(f"s{i}", MAX_WIDTH // 4) for i in range(4)))
    expected_refusal(with_card(many, parse_model(GOOD).card), f"up to {MAX_WIDTH} numbers for a window", monkeypatch)


@pytest.mark.parametrize(("name", "kind", "field"), [("keepdims", 2, 8), ("keepdims", 7, 3), ("perm", 7, 3)])
def test_a_value_in_the_field_of_another_type_is_refused(
    name: str, kind: int, field: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    attribute = with_number(with_number(with_field(b"", 1, name.encode()), 20, kind), field, 1)
    operator = "Transpose" if name == "perm" else "ReduceSum"
    model = with_nodes(with_field(b"", NODES, with_field(node(operator, ["h"], ["x"]), 5, attribute)))
    expected_refusal(model, f"attributes .* got '{name}'", monkeypatch)


def test_the_operators_allowed_are_those_that_are_used() -> None:
    used: set[str] = set()
    for path in (*shipped_models().values(), *sorted(FIXTURES.glob("*.onnx"))):
        used |= {one.kind for one in read_graph(path.read_bytes()).nodes}
    # Those of deepsad, and of the heads that training writes, which are no files here.
    assert set(OPERATORS) - used <= {"Neg", "ReduceSumSquare", "GRU", "Softmax"}


def test_a_graph_that_fails_while_it_runs_is_a_model_error(monkeypatch: pytest.MonkeyPatch) -> None:
    model = parse_model(random_model_bytes("mean"))
    with pytest.raises(ModelError, match="does not run"):
        model.advance(np.zeros((8, N_MFCC + 1), np.float32), model.start(1))
    detector = Detector(model, threshold=0.5)

    def fails(*_: object) -> None:
        raise RuntimeError("a node failed\nwith details")

    monkeypatch.setattr(model, "_session", _FailingSession(model, fails))
    with pytest.raises(ModelError, match=r"does not run: a node failed$"):
        Detector(model, threshold=0.5).push(np.ones(16_000 * 2, np.float32) / 2)
    detector.close()


class _FailingSession:
    def __init__(self, model: object, run: Callable[..., None]) -> None:
        self._session = model._session  # type: ignore[attr-defined]
        self.run_with_iobinding = run

    def __getattr__(self, name: str) -> object:
        return getattr(self._session, name)


def test_heads_are_read_by_the_same_rules() -> None:
    with pytest.raises(ModelError, match="head of the second stage"):
        Head(GOOD)
    assert math.isfinite(Head(_fixture_head())(np.zeros((16, 96), np.float32)))


def _fixture_head() -> bytes:
    return base64.b64decode(two_stage_head())


def _ints(name: str, values: tuple[int, ...]) -> bytes:
    attribute = with_number(with_field(b"", 1, name.encode()), 20, 7)
    for value in values:
        attribute = with_number(attribute, 8, value)
    return attribute


def _state(name: str, width: int) -> bytes:
    """Fields of a graph: a state that stays as it is."""
    given, kept = _input(name, width), _input(f"{name}_next", width)
    passed = with_field(b"", NODES, node("Identity", [name], [f"{name}_next"]))
    return passed + with_field(with_field(b"", 11, given), OUTPUTS, kept)


def _input(name: str, width: int) -> bytes:
    sizes = [with_number(b"", 1, 1), with_field(b"", 2, b"rows"), with_number(b"", 1, width)]
    shape = b"".join(with_field(b"", 1, size) for size in sizes)
    kind = with_field(b"", 1, with_field(with_number(b"", 1, 1), 2, shape))
    return with_field(with_field(b"", 1, name.encode()), 2, kind)
