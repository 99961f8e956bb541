"""The phonemes of an export are the search of ``KeywordPhonemes`` in what the network says, in both files."""

from pathlib import Path

import numpy as np
import pytest

from wakeword.format.session import open_session
from wakeword.format.verifier_card import Variant
from wakeword.model.installed import shipped_models
from wakeword.model.model import read_model
from wakeword.verify.phoneme_verifier import BLANK, WORD_BOUNDARY, KeywordPhonemes
from wakeword_export.head.float_graph import HeadGraph
from wakeword_export.head.phoneme_graph import EmbeddedPhonemes, fit_of_word

TOKENS = ("a", "b", "k", "s", WORD_BOUNDARY, BLANK)
LOOKS = np.random.default_rng(0).normal(0, 1, (40, 96)).astype(np.float32)
WAYS: list[Variant] = [
    (("a",), ("b", "k"), ("k", "s"), ("a",)),  # neighbours that share a token
    (("s",), ("a",), ("b",), ("a",), ("k",), ("s",), ("b",), ("s",)),
    (("k",), ("s",), ("a",), ("k",), ("b",), ("b",)),
]


@pytest.fixture(scope="module")
def network() -> EmbeddedPhonemes:
    """A network with random weights, sure of what it says."""
    random = np.random.default_rng(1)
    sizes = [(8, 3 * 96), (8, 3 * 8), (4 * len(TOKENS), 8)]
    layers = [(random.normal(0, 0.3, size), random.normal(0, 0.5, size[0])) for size in sizes]
    outside = random.normal(0, 1, 96).astype(np.float32)
    return EmbeddedPhonemes(
        TOKENS, outside, 2, [(one.astype(np.float32), bias.astype(np.float32)) for one, bias in layers]
    )


def said(network: EmbeddedPhonemes, look: np.ndarray) -> np.ndarray:
    """What a network says in a look, ``(outputs, tokens)``, step by step."""
    rows, outside = np.concatenate([np.tile(network.outside, (network.early, 1)), look]), network.outside
    for number, (weight, bias) in enumerate(network.layers[:-1]):
        wide = np.concatenate([outside[None], rows, outside[None]])
        found = [weight @ wide[step : step + 3].ravel() + bias for step in range(len(rows))]
        rows, outside = np.maximum(found, 0) + (rows if number else 0), np.zeros(len(bias))
    weight, bias = network.layers[-1]
    logits: np.ndarray = (rows @ weight.T + bias).reshape(-1, len(network.tokens))
    return logits


def fits(network: EmbeddedPhonemes, ways: list[Variant], losses: list[tuple[tuple[float, ...], ...]]) -> list[float]:
    graph = HeadGraph()
    fit = fit_of_word(graph, network, ways, losses)
    assert fit is not None
    run = graph.runner(fit)
    return [run(LOOKS[start : start + 16]) for start in range(25)]


@pytest.mark.parametrize("ways", [WAYS, WAYS[:1], WAYS[1:]])
def test_the_graph_finds_what_the_search_finds(network: EmbeddedPhonemes, ways: list[Variant]) -> None:
    losses = [tuple(tuple(0.5 * n for n in range(len(phoneme))) for phoneme in way) for way in ways]
    search = KeywordPhonemes(ways, TOKENS, losses)
    expected = [search.score(said(network, LOOKS[start : start + 16])) for start in range(25)]
    assert min(expected) < -0.1
    assert fits(network, ways, losses) == pytest.approx(expected, abs=1e-4)


def test_without_losses_no_token_costs_anything(network: EmbeddedPhonemes) -> None:
    free = [tuple(tuple(0.0 for _ in phoneme) for phoneme in way) for way in WAYS]
    assert fits(network, WAYS, []) == fits(network, WAYS, free)


def test_tokens_that_the_network_lacks_are_left_out(network: EmbeddedPhonemes) -> None:
    strange: list[Variant] = [(("a",), ("b", "ʒ"), ("k", "s"), ("a",)), (("ʒ",), ("a",))]
    plain: list[Variant] = [(("a",), ("b",), ("k", "s"), ("a",))]
    assert fits(network, strange, []) == fits(network, plain, [])
    assert fit_of_word(HeadGraph(), network, strange[1:], []) is None
    assert fit_of_word(HeadGraph(), network, [], []) is None


def test_both_files_of_a_word_say_the_same_of_the_network_that_is_included(tmp_path: Path) -> None:
    verifier = read_model(shipped_models()["computer"]).card.verifier
    assert verifier is not None
    graph = HeadGraph()
    fit = fit_of_word(graph, EmbeddedPhonemes.read(), verifier.phonemes, verifier.phoneme_losses)
    assert fit is not None
    tflite, onnx = graph.written(fit, scale=2.0, shift=3.0, description="a word")
    session = open_session(onnx)
    looks = 8 * LOOKS
    found = [session.run(None, {"embeddings": looks[None, at : at + 16]})[0].item() for at in range(25)]
    assert len({round(one, 3) for one in found}) > 5
    engine = pytest.importorskip("pyopen_wakeword", reason="needs pyopen-wakeword, whose library runs TFLite files")
    (tmp_path / "word.tflite").write_bytes(tflite)
    model = engine.OpenWakeWord.from_model(tmp_path / "word.tflite")
    assert [score for one in looks for score in model.process_streaming(one[None, None, None])] == pytest.approx(
        found, abs=1e-4
    )
