"""Models that are built on the spot, and signals whose answer is known."""

from functools import lru_cache

import numpy as np
import torch

from wakeword import FeatureConfig, Model, ModelCard, OperatingPoint
from wakeword.card import SelfTest
from wakeword.features import Array
from wakeword.model import parse_model
from wakeword_train.model.export import model_bytes
from wakeword_train.model.network import Pooling, WakeWordNetwork

N_MFCC = FeatureConfig().n_mfcc
WINDOW = 98
CHUNKS = (1, 17, 160, 509, 1280, 16_001)


def network(
    *, pooling: Pooling = "last", stack: int = 1, hidden: int = 8, stem: int = 0, seed: int = 0, scale: float = 3.0
) -> WakeWordNetwork:
    """A network with random weights, ``scale`` times those of a new one, so that its scores differ."""
    torch.manual_seed(seed)
    net = WakeWordNetwork(n_features=N_MFCC, hidden_size=hidden, pooling=pooling, stack=stack, stem=stem)
    net.set_normalisation(torch.linspace(-20, 2, N_MFCC), torch.linspace(15, 2, N_MFCC))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(scale)
    return net.eval()


def card(phrase: str = "marvin", *, window: int = WINDOW, threshold: float = 0.5) -> ModelCard:
    """A card with one operating point, which is the default one."""
    point = OperatingPoint("fpr=0.03", "fpr", 0.03, threshold, 0.9, 0.8, 0.95, "nothing")
    return ModelCard(
        phrase=phrase,
        version="1",
        window=window,
        self_test=SelfTest(0.0),
        operating_points=(point,),
        default_point=point.name,
        training={"method": "none", "seed": 0},
    )


@lru_cache
def random_model_bytes(pooling: Pooling = "last", stack: int = 1, hidden: int = 8, window: int = WINDOW) -> bytes:
    """The file of a model with random weights."""
    return model_bytes(network(pooling=pooling, stack=stack, hidden=hidden), card(window=window))


@lru_cache
def random_model(pooling: Pooling = "last", stack: int = 1, hidden: int = 8, window: int = WINDOW) -> Model:
    """A model with random weights."""
    return parse_model(random_model_bytes(pooling, stack, hidden, window))


@lru_cache
def band_model_bytes(phrase: str, band: int, window: int = WINDOW, pooling: Pooling = "last") -> bytes:
    """A model that knows the answer: it fires on low bursts (``band`` 1) or on high ones (-1), and on nothing else.

    The second coefficient weighs low against high frequencies. One LSTM unit with open gates adds up its sign over
    some 100 ms: the score is near 1 in a burst of the band, and near 0 in silence and in the other band. With the
    pooling ``max`` it stays near 1 as long as the window holds the burst.
    """
    net = WakeWordNetwork(n_features=N_MFCC, hidden_size=1, pooling=pooling)
    net.set_normalisation(torch.zeros(N_MFCC), torch.ones(N_MFCC))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        # The gates in torch's order: input, forget, cell, output.
        net.lstm.bias_ih_l0.copy_(torch.tensor([6.0, 2.0, -3.0, 6.0]))
        net.lstm.weight_ih_l0[2, 1] = 0.5 * band
        net.head.weight[0, 0] = 6.0
    return model_bytes(net, card(phrase, window=window))


def bursts(seconds: float, events: dict[float, str], *, seed: int = 0) -> Array:
    """Seconds of a quiet hiss, 16 kHz float32, with 0.3 s of louder noise at each start of ``events``.

    The noise is ``low`` (300..1,500 Hz) or ``high`` (3..6 kHz).
    """
    rng = np.random.default_rng(seed)
    signal = 1e-4 * rng.standard_normal(round(16_000 * seconds))
    for start, band in events.items():
        length = 4_800
        low, high = {"low": (300, 1_500), "high": (3_000, 6_000)}[band]
        spectrum = np.fft.rfft(rng.standard_normal(length))
        frequencies = np.fft.rfftfreq(length, 1 / 16_000)
        spectrum[(frequencies < low) | (frequencies > high)] = 0
        first = round(16_000 * start)
        signal[first : first + length] += 0.3 * np.fft.irfft(spectrum)
    return signal.astype(np.float32)


def in_chunks(signal: Array, size: int) -> list[Array]:
    """``signal`` cut into blocks of ``size`` samples or frames; the last may be shorter."""
    return [signal[start : start + size] for start in range(0, len(signal), size)]
