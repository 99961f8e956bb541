"""Networks with random weights for the tests of training. Needs torch, which ``support.builders`` does not."""

import math

import numpy as np
import torch

from support.builders import N_MFCC
from wakeword_train.model.network import Pooling, WakeWordNetwork


def network(
    *, pooling: Pooling = "last", stack: int = 1, hidden: int = 8, stem: int = 0, seed: int = 0, scale: float = 3.0
) -> WakeWordNetwork:
    """A network with random weights, ``scale`` times as large as in a new one, so that its scores differ.

    The weights are the same bit for bit on every machine: they are drawn by numpy, as torch's generator can change from
    one build to the next.
    """
    random = np.random.default_rng(seed)
    net = WakeWordNetwork(n_features=N_MFCC, hidden_size=hidden, pooling=pooling, stack=stack, stem=stem)
    mean, deviation = (np.linspace(*ends, N_MFCC).astype(np.float32) for ends in ((-20, 2), (15, 2)))
    net.set_normalisation(torch.from_numpy(mean), torch.from_numpy(deviation))
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            # The inputs of the layer, as in torch's own initialisation: the hidden state's width for LSTM and heads.
            inputs = N_MFCC * stack if name.startswith("stem.") else hidden
            drawn = 2 * random.random(tuple(parameter.shape), np.float32) - 1
            parameter.copy_(torch.from_numpy(drawn * np.float32(scale / math.sqrt(inputs))))
    return net.eval()


def band_network(band: int, pooling: Pooling = "last") -> WakeWordNetwork:
    """A network with known results: it fires on low bursts (``band`` 1) or on high ones (-1), and on nothing else.

    The second coefficient compares low with high frequencies. One LSTM unit with open gates adds up its sign over
    about 100 ms: the score is near 1 in a burst of the band, and near 0 in silence and in the other band. With the
    pooling ``max`` it stays near 1 as long as the window contains the burst.
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
    return net.eval()
