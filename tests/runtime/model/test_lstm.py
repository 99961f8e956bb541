"""The network in numpy: what ONNX Runtime gives, and the same digits in any company."""

import contextlib
import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import random_model

from wakeword import Model, ModelError, load_model
from wakeword.audio.features import FeatureConfig
from wakeword.base.types import Array
from wakeword.format.card import self_test_signal
from wakeword.format.graph import read_graph
from wakeword.model.first_stage import FirstStage, WindowLogit
from wakeword.model.installed import shipped_models
from wakeword.model.lstm import Lstm, lstm_of
from wakeword.model.model import parse_model
from wakeword.model.scorer import GroupScorer, OnnxWindows, group_of

pytestmark = pytest.mark.numeric

CONFIG = FeatureConfig()
WORDS = ("alexa", "marvin", "stop")
CARD = load_model("alexa").card


@pytest.fixture(scope="module")
def models() -> list[Model]:
    return [load_model(word) for word in WORDS]


def voice_like(count: int, seed: int = 0) -> Array:
    """A slow random walk, as MFCC of a voice are, ``(count, 32)`` float32."""
    random = np.random.default_rng(seed)
    walk = np.cumsum(random.standard_normal((count, 32)), axis=0) * np.linspace(3, 0.5, 32)
    return (walk - np.linspace(20, -2, 32)).astype(np.float32)


@pytest.mark.parametrize("hop", [8, 16, 40, 96])
def test_logits_are_those_of_onnx_runtime(models: list[Model], hop: int) -> None:
    frames = voice_like(hop * (800 // hop))
    rows = -(-96 // hop)
    for model in models:
        assert group_of(model, hop) is not None
        windows = OnnxWindows(model, hop=hop, rows=rows, late=rows * hop - 96)
        late = np.zeros((rows * hop - 96, 32), np.float32)
        padded = np.concatenate([late, frames])
        expected = [windows.advance(padded[at : at + hop])[0] for at in range(0, len(padded) - hop + 1, hop)]
        found = GroupScorer([model], hop=hop).logits(frames)[0]
        assert len(found) > 4
        assert np.ptp(found) > 0.5
        np.testing.assert_allclose(found, expected[rows - 1 :][: len(found)], rtol=0, atol=5e-5)


@settings(max_examples=10)
@given(sizes=st.lists(st.integers(0, 70), min_size=4, max_size=12), hop=st.sampled_from([8, 16, 40]))
def test_a_word_has_the_same_digits_in_any_company_and_any_pieces(sizes: list[int], hop: int) -> None:
    models = [load_model(word) for word in WORDS]
    ends = CONFIG.samples_in(96) + CONFIG.hop_length * np.cumsum([0, *sizes])
    signal = self_test_signal(int(ends[-1]))
    alone = [
        FirstStage([model], hop=hop).read(lambda start, end: signal[start:end], len(signal))[0] for model in models
    ]
    assert all(alone)
    together = FirstStage([*models, random_model("mean", 2, window=98)] if hop == 8 else models, hop=hop)
    found: list[list[WindowLogit]] = [[] for _ in models]
    for end in ends:
        for logits, more in zip(found, together.read(lambda start, end: signal[start:end], int(end)), strict=False):
            logits += more
    assert found == alone


def test_a_group_that_was_reset_is_as_new(models: list[Model]) -> None:
    used, new = GroupScorer(models), GroupScorer(models)
    used.logits(voice_like(333, seed=1))
    used.reset()
    assert used.logits(voice_like(200)) == new.logits(voice_like(200))


def test_other_networks_run_in_onnx_runtime() -> None:
    assert all(random_model(pooling).lstm is None for pooling in ("last", "mean", "max", "attention"))


def test_a_network_too_large_for_one_thread_runs_in_onnx_runtime(models: list[Model]) -> None:
    # 12 windows in progress, or 96.
    assert group_of(models[0], 8) is not None
    assert models[0].lstm is not None
    assert not models[0].lstm.fits(96)


def test_weights_are_read_as_they_were_written() -> None:
    onnx = pytest.importorskip("onnx")
    data = shipped_models()["alexa"].read_bytes()
    graph = onnx.load_from_string(data).graph
    read = read_graph(data)
    assert [(node.op_type, *node.input, *node.output) for node in graph.node] == [
        (node.kind, *node.inputs, *node.outputs) for node in read.nodes
    ]
    floats = [constant for constant in graph.initializer if constant.data_type in (1, 10)]
    assert {constant.name for constant in floats} == set(read.values)
    for constant in floats:
        written = onnx.numpy_helper.to_array(constant)
        assert np.array_equal(read.values[constant.name], written)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_damaged_bytes_are_read_or_are_a_typed_error(data: st.DataObject) -> None:
    whole = shipped_models()["alexa"].read_bytes()
    damaged = bytearray(whole)
    # Most of a file are numbers; what describes them stands at its beginning and its end.
    near = st.one_of(st.integers(0, 3_000), st.integers(len(whole) - 3_000, len(whole) - 1))
    for place in data.draw(st.lists(near, min_size=1, max_size=20)):
        damaged[place] = data.draw(st.integers(0, 255))
    read: object = None
    with contextlib.suppress(ModelError):
        read = lstm_of(read_graph(bytes(damaged)), CARD)
    assert read is None or isinstance(read, Lstm)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.999])
def test_a_file_that_was_cut_off_is_an_error(share: float) -> None:
    whole = shipped_models()["alexa"].read_bytes()
    with pytest.raises(ModelError, match="expected a model file of wakeword"):
        read_graph(whole[: round(share * len(whole))])


def test_weights_that_give_another_logit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = shipped_models()["alexa"].read_bytes()

    def other_weights(bytes_read: bytes) -> object:
        graph = read_graph(bytes_read)
        return dataclasses.replace(graph, values={**graph.values, "head_bias": graph.values["head_bias"] + 0.1})

    monkeypatch.setattr("wakeword.model.model.read_graph", other_weights)
    with pytest.raises(ModelError, match="self-test failed"):
        parse_model(data)


@pytest.mark.parametrize(
    ("name", "value"), [("deviation", 0.0), ("deviation", 1e-45), ("mean", 3e38), ("R_half", np.inf), ("b", np.nan)]
)
@pytest.mark.filterwarnings("error")
def test_weights_that_are_no_use_are_refused_without_warnings(
    name: str, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other_weights(bytes_read: bytes) -> object:
        graph = read_graph(bytes_read)
        return dataclasses.replace(graph, values={**graph.values, name: np.full_like(graph.values[name], value)})

    monkeypatch.setattr("wakeword.model.model.read_graph", other_weights)
    with pytest.raises(ModelError, match="self-test failed"):
        parse_model(shipped_models()["alexa"].read_bytes())
