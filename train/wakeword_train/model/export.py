"""A trained network -> one ONNX file that streams exactly and describes itself."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import torch

from wakeword.audio.features import mfcc
from wakeword.base.errors import ModelError
from wakeword.base.files import replacing
from wakeword.base.types import Array
from wakeword.format.card import ModelCard, SelfTest, self_test_signal
from wakeword.model.model import Model, parse_model
from wakeword_tools.measure.cards import embed_card
from wakeword_train.model.network import WakeWordNetwork
from wakeword_train.model.onnx_graph import build_graph

MAX_LOGIT_DIFFERENCE = 1e-5
"""Largest difference of the exported graph's logits from torch's, relative to logits above 1."""


def export_model(network: WakeWordNetwork, card: ModelCard, path: Path | str) -> Model:
    """Write ``network`` with ``card`` to ``path``, after checking the graph against torch.

    Raises ``ModelError`` if the graph differs from torch, and as ``model_bytes`` does; nothing is written then.
    """
    data = model_bytes(network, card)
    model = parse_model(data)
    _check_against_torch(model, network.eval().cpu(), card.window)
    with replacing(path) as temporary:
        temporary.write_bytes(data)
    return model


def model_bytes(network: WakeWordNetwork, card: ModelCard) -> bytes:
    """The bytes of a model file: graph and card, which gets the network's stack and this graph's self-test.

    Raises ``ConfigError`` if the stack does not divide the window and ``ModelError`` if the logit is not finite.
    """
    card = dataclasses.replace(card, stack=network.stack)
    graph = build_graph(network.eval().cpu(), window=card.window).SerializeToString(deterministic=True)
    logit = self_test_logit(network, card)
    if not math.isfinite(logit):
        raise ModelError(f"expected a finite logit of the self-test, got {logit}; the training has diverged")
    return embed_card(graph, dataclasses.replace(card, self_test=SelfTest(logit)))


def self_test_logit(network: WakeWordNetwork, card: ModelCard) -> float:
    """The logit of the self-test's signal, as torch computes it."""
    signal = self_test_signal(card.features.samples_in(card.window), card.features.sample_rate)
    with torch.no_grad():
        return float(network(network.normalise(torch.from_numpy(mfcc(signal, card.features))[None]))[0])


def _check_against_torch(model: Model, network: WakeWordNetwork, window: int) -> None:
    """Compare whole windows, and windows cut in two, with torch. Raises ``ModelError``."""
    rng = np.random.default_rng(0)
    frames = network.mean.numpy() + network.deviation.numpy() * rng.standard_normal((16, window, len(network.mean)))
    windows: Array = frames.astype(np.float32)
    with torch.no_grad():
        expected = network(network.normalise(torch.from_numpy(windows))).numpy()
    cut = window // 3 // network.stack * network.stack
    largest = 0.0
    for frames, logit in zip(windows, expected, strict=True):
        whole, _ = model.advance(frames, model.start(1))
        _, state = model.advance(frames[:cut], model.start(1))
        pieces, _ = model.advance(frames[cut:], state)
        largest = max(largest, *np.abs(np.concatenate([whole, pieces]) - logit).tolist())
    difference = largest / max(1, np.abs(expected).max())
    if not difference <= MAX_LOGIT_DIFFERENCE:
        raise ModelError(f"expected the exported graph within {MAX_LOGIT_DIFFERENCE} of torch, got {difference:.2g}")
