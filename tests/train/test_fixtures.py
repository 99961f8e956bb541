"""The model files that the tests of the runtime use are those that training exports."""

from typing import get_args

import onnx
import pytest
from support.builders import FIXTURES, random_model_bytes
from support.make_fixtures import model_files, random_model_file

from wakeword.card import METADATA_KEY, ModelCard
from wakeword_train.model.network import Pooling


def assert_same_model(file: bytes, expected: bytes) -> None:
    """The same graph and weights, to the bit, and the same card."""
    found, made = (onnx.load_model_from_string(data) for data in (file, expected))
    assert found.graph == made.graph
    cards = [
        ModelCard.from_json({entry.key: entry.value for entry in model.metadata_props}[METADATA_KEY])
        for model in (found, made)
    ]
    # The logit is computed, and so differs between processors.
    assert cards[0].self_test.logit == pytest.approx(cards[1].self_test.logit, abs=1e-4)
    assert {**vars(cards[0]), "self_test": None} == {**vars(cards[1]), "self_test": None}


def test_the_files_are_those_that_the_script_makes() -> None:
    made = model_files()
    assert {path.name for path in FIXTURES.iterdir()} == set(made)
    for name, content in made.items():
        assert_same_model((FIXTURES / name).read_bytes(), content)


@pytest.mark.parametrize("window", [8, 96])
@pytest.mark.parametrize("stack", [1, 2])
@pytest.mark.parametrize("pooling", get_args(Pooling))
def test_a_file_for_another_window_is_the_export_for_that_window(pooling: Pooling, stack: int, window: int) -> None:
    assert_same_model(random_model_bytes(pooling, stack, window), random_model_file(pooling, stack, window))
