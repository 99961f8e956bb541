"""The exported head is the trained network."""

import numpy as np
import pytest
import torch

from wakeword import ModelError
from wakeword.verify.verifier_head import Head
from wakeword_train.second_stage.heads.gru_head import HeadNetwork, head_bytes, head_logits


def trained(units: int = 8, seed: int = 0) -> HeadNetwork:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = HeadNetwork(units)
    generator = torch.Generator().manual_seed(seed)
    network.set_normalisation(5 + 3 * torch.randn(50, 16, 96, generator=generator))
    return network


@pytest.mark.parametrize("units", [1, 8, 64])
def test_the_file_gives_the_logits_of_torch(units: int) -> None:
    network = trained(units)
    looks = 5 + 3 * torch.randn(20, 16, 96, generator=torch.Generator().manual_seed(1))
    head = Head(head_bytes(network))
    expected = head_logits(network, looks).numpy()
    assert np.ptp(expected) > 1e-3
    assert [head(look) for look in looks.numpy()] == pytest.approx(expected.tolist(), abs=1e-4)


def test_the_same_weights_give_the_same_file() -> None:
    assert head_bytes(trained()) == head_bytes(trained())
    assert head_bytes(trained()) != head_bytes(trained(seed=1))


def test_a_head_that_has_diverged_is_refused() -> None:
    network = trained()
    with torch.no_grad():
        network.head.bias.fill_(float("nan"))
    with pytest.raises(ModelError, match="got nan"):
        head_bytes(network)
