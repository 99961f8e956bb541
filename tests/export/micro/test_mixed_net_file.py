"""The file of a network is the network in the interpreters of others, within their rounding."""

from pathlib import Path

import numpy as np
import pytest
from support.micro_engines import LITE, MICRO, outputs_in, require_engine
from support.micro_nets import random_frames, random_head, random_net, random_word

from wakeword.model.installed import shipped_models
from wakeword.model.model import read_model
from wakeword_export.micro.device_files import arena_of
from wakeword_export.micro.int8_phonemes import MicroPhonemes
from wakeword_export.micro.int8_word import MicroNet, MicroWordNet, beside_phonemes
from wakeword_export.micro.mixed_net import Int8Net, window_sums
from wakeword_export.micro.mixed_net_file import micro_tflite_bytes

FIRMWARE = (
    "CALL_ONCE VAR_HANDLE READ_VARIABLE ASSIGN_VARIABLE RESHAPE STRIDED_SLICE CONCATENATION PAD CONV_2D DEPTHWISE_CONV_2D "
    "FULLY_CONNECTED AVERAGE_POOL_2D MAX_POOL_2D MUL ADD MEAN PACK LOGISTIC QUANTIZE SPLIT_V"
)
"""The operators that ESPHome's ``micro_wake_word`` registers."""


VARIABLES = 20
"""That ESPHome keeps between two steps."""


@pytest.fixture(params=["alone", "with phonemes"])
def net(request: pytest.FixtureRequest) -> MicroNet:
    return random_net() if request.param == "alone" else MicroWordNet(random_net(), random_word(), random_head())


@pytest.fixture
def path(net: MicroNet, tmp_path: Path) -> Path:
    path = tmp_path / "word.tflite"
    path.write_bytes(micro_tflite_bytes(net, description="a word"))
    return path


@pytest.mark.parametrize("engine", [LITE, MICRO])
def test_it_is_the_network(engine: str, net: MicroNet, path: Path) -> None:
    require_engine(engine)
    frames = random_frames(3_000)
    found, expected = outputs_in(engine, path, frames, path.parent).astype(int), net.outputs(frames).astype(int)
    assert expected.std() > 5
    # Engines round in ways of their own: TensorFlow Lite and the ESP32's interpreter differ as much on official models.
    # With phonemes a step of the logit is up to six steps of the output.
    assert np.abs(found - expected).mean() < (1 if isinstance(net, Int8Net) else 4)
    assert np.abs(found - expected).max() <= 24
    sums = [window_sums(one.astype(np.uint8), 5) for one in (found, expected)]
    cutoff = np.median(sums[1])
    assert np.mean((sums[0] > cutoff) == (sums[1] > cutoff)) > 0.97


def test_the_arena_has_room(tmp_path: Path) -> None:
    require_engine(MICRO)
    frames, path = random_frames(90), tmp_path / "word.tflite"
    both = beside_phonemes(random_net(), random_head(width=224), read_model(shipped_models()["computer"]).card)
    assert isinstance(both, MicroWordNet)
    for net in (random_net(), both):
        path.write_bytes(micro_tflite_bytes(net, description="a word"))
        arena = arena_of(net)
        expected = outputs_in(MICRO, path, frames, tmp_path, arena=arena)
        assert np.array_equal(outputs_in(MICRO, path, frames, tmp_path, arena=round(0.9 * arena)), expected)
        with pytest.raises(RuntimeError, match="tflite_micro ended"):
            outputs_in(MICRO, path, frames, tmp_path, arena=arena // 2)


def test_it_uses_what_the_firmware_has(net: MicroNet, path: Path) -> None:
    schema = pytest.importorskip(
        "tflite_micro.tensorflow.lite.micro.python.schema_py_generated",
        reason="needs tflite-micro, which reads the file",
    )
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAsModel(path.read_bytes(), 0))
    names = {number: name for name, number in vars(schema.BuiltinOperator).items() if isinstance(number, int)}
    codes = {names[code.builtinCode]: code.version for code in model.operatorCodes}
    assert set(codes) <= set(FIRMWARE.split())
    versions = {"CONCATENATION": 2, "STRIDED_SLICE": 2, "LOGISTIC": 2, "CONV_2D": 3, "DEPTHWISE_CONV_2D": 3}
    versions |= {"FULLY_CONNECTED": 4} | ({} if isinstance(net, Int8Net) else {"ADD": 2, "MAX_POOL_2D": 2})
    assert {name: version for name, version in codes.items() if version > 1} == versions
    main, preparation = model.subgraphs
    taken, given = main.tensors[main.inputs[0]], main.tensors[main.outputs[0]]
    assert (list(taken.shape), taken.type) == ([1, 3, 40], schema.TensorType.INT8)
    assert (list(given.shape), given.type) == ([1, 1], schema.TensorType.UINT8)
    assert (taken.quantization.scale[0], taken.quantization.zeroPoint[0]) == (pytest.approx(26 / 255), -128)
    assert (given.quantization.scale[0], given.quantization.zeroPoint[0]) == (1 / 256, 0)
    # A handle and its value for the features, for each other layer that looks back, for the search and its last fits.
    assert len(preparation.operators) == 2 * (6 if isinstance(net, Int8Net) else 6 + 2 + 2 + 4)


def test_a_device_has_enough_variables() -> None:
    network = MicroPhonemes.read()
    assert 6 + len(network.blocks) + 2 + 4 <= VARIABLES


def test_the_same_network_gives_the_same_bytes(net: MicroNet) -> None:
    once, again = (micro_tflite_bytes(net, description="a word") for _ in "ab")
    assert once == again
