"""The model files that the tests of the runtime use are those that training exports."""

import dataclasses
from typing import get_args

import onnx
import pytest
from support.builders import FIXTURES, MFCC_FILE, random_model_bytes
from support.make_fixtures import model_files, random_model_file

from wakeword.format.card import METADATA_KEY, ModelCard, SelfTest
from wakeword.verify.verifier_head import HEAD_KEY
from wakeword_train.model.network import Pooling


def assert_same_model(file: bytes, expected: bytes) -> None:
    """The same graph and weights, to the bit, and the same card."""
    found, made = (onnx.load_model_from_string(data) for data in (file, expected))
    assert found.graph == made.graph
    assert head_of(found) == head_of(made)
    cards = [
        ModelCard.from_json({entry.key: entry.value for entry in model.metadata_props}[METADATA_KEY])
        for model in (found, made)
    ]
    # The logits are computed, and so differ between processors.
    assert logits_of(cards[0]) == pytest.approx(logits_of(cards[1]), abs=1e-4)
    assert without_logits(cards[0]) == without_logits(cards[1])


def head_of(model: onnx.ModelProto) -> str | None:
    """The head of the second stage, if there is one."""
    return {entry.key: entry.value for entry in model.metadata_props}.get(HEAD_KEY)


def logits_of(card: ModelCard) -> list[float]:
    """The logits of the self-tests of both stages."""
    return [card.self_test.logit, *([card.verifier.self_test] if card.verifier else [])]


def without_logits(card: ModelCard) -> ModelCard:
    """The card with self-tests that say nothing."""
    verifier = card.verifier and dataclasses.replace(card.verifier, self_test=0.0)
    return dataclasses.replace(card, self_test=SelfTest(0.0), verifier=verifier)


def test_the_files_are_those_that_the_script_makes() -> None:
    made = model_files()
    assert {path.name for path in FIXTURES.iterdir()} == {*made, MFCC_FILE}
    for name, content in made.items():
        assert_same_model((FIXTURES / name).read_bytes(), content)


@pytest.mark.parametrize("window", [8, 96])
@pytest.mark.parametrize("stack", [1, 2])
@pytest.mark.parametrize("pooling", get_args(Pooling))
def test_a_file_for_another_window_is_the_export_for_that_window(pooling: Pooling, stack: int, window: int) -> None:
    assert_same_model(random_model_bytes(pooling, stack, window), random_model_file(pooling, stack, window))
