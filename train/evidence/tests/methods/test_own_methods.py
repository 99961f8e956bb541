"""The methods that the experiments add by entry points train as the built-in ones do, with their own settings and head."""

import dataclasses
from pathlib import Path

import pytest
import torch
from support.builders import N_MFCC, WINDOW, card
from support.first_stages import train
from support.small_world import small_config, write_world
from torch import nn

from wakeword.base.errors import ConfigError, DataError, ModelError
from wakeword.model.model import parse_model, read_model
from wakeword_experiments.methods.deepsad import DeepSadConfig, DistanceHead, DistanceNetwork, pretrain
from wakeword_experiments.tensor_fits import FitConfig, fit_tensors
from wakeword_train import DataFolders
from wakeword_train.config import build_config
from wakeword_train.methods.losses import AdversaryConfig
from wakeword_train.methods.registry import METHODS, LossSettings, method_named
from wakeword_train.model.export import model_bytes
from wakeword_train.model.from_onnx import network_from
from wakeword_train.model.network import WakeWordNetwork

SMALL = FitConfig(
    "deepsad",
    adversary=AdversaryConfig(radius=1.0, gamma=2.0, mu=0.5, steps=3, sigma_smoothing=1),
    warmup_epochs=3,
    epochs=12,
    batch_size=32,
    learning_rate=1e-2,
)


def two_clouds(n: int = 256) -> tuple[torch.Tensor, torch.Tensor]:
    """Positives around +1.5 in the first of four coordinates and negatives around -1.5, and their labels."""
    labels = (torch.arange(n) % 2).float()
    inputs = 0.4 * torch.randn(n, 4, generator=torch.Generator().manual_seed(0))
    inputs[:, 0] += 3 * labels - 1.5
    return inputs, labels


def build() -> DistanceNetwork:
    torch.manual_seed(0)
    return DistanceNetwork(nn.Sequential(nn.Linear(4, 16), nn.Tanh()), 16, 4)


def test_they_come_by_entry_point_and_not_with_the_package() -> None:
    assert {method.name for method in METHODS}.isdisjoint(("deepsad", "drocc-rand"))
    assert method_named("deepsad").settings is DeepSadConfig
    assert method_named("drocc-rand").one_class


def test_deepsad_separates_two_clouds_and_repeats_itself() -> None:
    inputs, labels = two_clouds()
    first, second = (fit_tensors(build(), inputs, labels, SMALL)(inputs).detach() for _ in range(2))
    assert torch.equal(first, second)
    in_order = first[labels > 0.5][:, None] > first[labels < 0.5]
    assert in_order.float().mean() > 0.98


def test_its_settings_are_the_table_of_its_name_and_reach_the_loss_and_the_head() -> None:
    config = build_config({"keyword": "marvin", "method": "deepsad", "deepsad": {"eta": 2, "embedding": 5}})
    assert config.own == DeepSadConfig(eta=2.0, embedding=5)
    maker = method_named("deepsad").head_maker(config.own)
    assert maker is not None
    head = maker(16)
    assert isinstance(head, DistanceHead)
    assert len(head.centre) == 5
    points, labels = torch.tensor([-1.0, -4.0]), torch.tensor([1.0, 0.0])
    loss_function = method_named("deepsad").loss(LossSettings(own=config.own))
    loss, _ = loss_function(lambda x: x, points, labels, torch.Generator())
    assert loss.item() == pytest.approx((1 + 2 / 4) / 2, abs=1e-5)


@pytest.mark.parametrize(
    "raw",
    [
        {"method": "deepsad", "deepsad": {"eta": 0}},
        {"method": "deepsad", "deepsad": {"beta": 1}},
        {"method": "deepsad", "deepsad": 3},
        {"method": "bce", "deepsad": {"eta": 1}},
        {"method": "bce", "own": {"eta": 1}},
    ],
)
def test_wrong_settings_are_refused(raw: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"expected|unknown setting"):
        build_config({"keyword": "marvin", **raw})


@pytest.mark.parametrize("method", ["deepsad", "drocc-rand"])
def test_a_run_writes_a_file_that_the_runtime_accepts(method: str, tmp_path: Path) -> None:
    world = DataFolders(speech_commands=write_world(tmp_path / "world"))
    config = small_config(method=method)
    schedule = dataclasses.replace(config.schedule, epochs=4, steps_per_epoch=4)
    path = train(dataclasses.replace(config, schedule=schedule), world, tmp_path / "m.onnx").path
    assert read_model(path).card.training["method"] == method
    if method == "deepsad":
        with pytest.raises(ModelError, match="expected a model with a linear head"):
            network_from(path)


def test_the_graph_of_a_distance_equals_torch() -> None:
    torch.manual_seed(0)
    net = WakeWordNetwork(
        n_features=N_MFCC, hidden_size=16, pooling="attention", stack=2, head=lambda n: DistanceHead(n, 5)
    )
    assert isinstance(net.head, DistanceHead)
    net.head.centre.copy_(torch.linspace(-0.3, 0.4, 5))
    frames = torch.randn(WINDOW, N_MFCC, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        expected = float(net.eval()(frames[None]))
    model = parse_model(model_bytes(net, card()))
    logits, _ = model.advance(frames.numpy(), model.start(1))
    assert float(logits[0]) == pytest.approx(expected, rel=1e-5)
    assert expected < 0


def test_the_centre_is_fixed_by_pretraining_and_not_near_zero() -> None:
    inputs, labels = two_clouds()
    network = build()
    first = pretrain(network, [(inputs, labels)])
    assert (network.head.centre.abs() >= 0.1 - 1e-6).all()
    assert pretrain(network, [(inputs, labels)] * 50, learning_rate=1e-2) < first
    assert (network(inputs) <= 0).all()


def test_deepsad_needs_a_warm_up_positives_and_its_head() -> None:
    inputs, labels = two_clouds()
    with pytest.raises(ConfigError, match="warmup_epochs"):
        dataclasses.replace(SMALL, warmup_epochs=0)
    with pytest.raises(DataError, match="positives"):
        pretrain(build(), [(inputs, torch.zeros_like(labels))])
    with pytest.raises(ConfigError, match="distance head"):
        fit_tensors(nn.Sequential(nn.Linear(4, 1), nn.Flatten(0)), inputs, labels, SMALL)


def test_drocc_rand_is_drocc_without_ascent() -> None:
    inputs, labels = two_clouds()
    losses = [
        method_named("drocc-rand").loss(LossSettings(SMALL.adversary)),
        method_named("drocc").loss(LossSettings(dataclasses.replace(SMALL.adversary, steps=0))),
    ]
    network = nn.Sequential(nn.Linear(4, 1), nn.Flatten(0))
    values = [loss(network, inputs, labels, torch.Generator().manual_seed(1))[0] for loss in losses]
    assert torch.equal(*values)
