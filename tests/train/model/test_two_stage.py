"""A second stage added to a model file."""

import dataclasses
from pathlib import Path

import pytest
from support.builders import ALWAYS, random_model_bytes, two_stage_bytes
from support.heads import head_bytes

from wakeword import ModelError, OperatingPoint
from wakeword.format.verifier_card import VerifierCard
from wakeword.model.model import parse_model
from wakeword_train.model.from_onnx import network_from
from wakeword_train.model.two_stage import HEAD_RECORD, copy_verifier, shipped_digests, with_verifier

EMBEDDING, PHONEMES = shipped_digests()
CARD = VerifierCard(gate=0.5, span=64, embedding_digest=EMBEDDING, fusion=ALWAYS, self_test=0.0)
POINT = OperatingPoint("fa_per_hour=0.5", "fa_per_hour", 0.5, 0.7, 0.9, 0.8, 0.95, "nothing")


def test_the_file_has_both_stages_and_the_points_of_the_first_alone() -> None:
    stage_one = random_model_bytes()
    both = parse_model(with_verifier(stage_one, head_bytes(), CARD))
    card = both.card
    assert (card.operating_points, card.default_point) == ((), None)
    assert card.verifier is not None
    assert both.second_stage is not None
    assert both.second_stage.self_test() == pytest.approx(card.verifier.self_test, abs=1e-4)
    assert card.of_stage_one() == parse_model(stage_one).card


def test_points_of_the_first_stage_that_the_card_brings_are_kept() -> None:
    own = dataclasses.replace(CARD, stage_one_points=(POINT,), stage_one_default=POINT.name)
    card = parse_model(with_verifier(random_model_bytes(), head_bytes(), own)).card
    assert card.of_stage_one().operating_points == (POINT,)
    assert card.default_point is None


def test_a_second_stage_replaces_another() -> None:
    once = with_verifier(random_model_bytes(), head_bytes(), CARD)
    assert with_verifier(with_verifier(random_model_bytes(), head_bytes(seed=5), CARD), head_bytes(), CARD) == once


def test_the_card_says_how_the_head_was_trained_and_nothing_of_one_that_was_replaced(tmp_path: Path) -> None:
    record = {"epoch": 3, "phase": "drocc-lf", "loss": 0.5, "health": None}
    stage_one = random_model_bytes()
    both = with_verifier(stage_one, head_bytes(), CARD, head_training=record)
    before = parse_model(stage_one).card.training
    assert parse_model(both).card.training == {**before, HEAD_RECORD: record}
    assert parse_model(with_verifier(both, head_bytes(), CARD)).card.training == before
    source, path = tmp_path / "source.onnx", tmp_path / "copy.onnx"
    source.write_bytes(both)
    path.write_bytes(stage_one)
    copy_verifier(source, path)
    assert parse_model(path.read_bytes()).card.training[HEAD_RECORD] == record


def test_what_cannot_be_used_is_refused() -> None:
    other = dataclasses.replace(CARD, embedding_digest=64 * "0")
    unknown = dataclasses.replace(CARD, phonemes=((("?!",),),), phonemes_digest=PHONEMES)
    for head, card, reason in (
        (b"", CARD, "expected a model file of wakeword"),
        (random_model_bytes(), CARD, r"logit \[1\]"),
        (head_bytes(), other, "digest 0000"),
        (head_bytes(), unknown, r"tokens, got \?!"),
    ):
        with pytest.raises(ModelError, match=reason):
            with_verifier(random_model_bytes(), head, card)


def test_the_network_of_a_file_of_two_stages_is_that_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "two.onnx"
    path.write_bytes(two_stage_bytes(random_model_bytes()))
    assert network_from(path).card == parse_model(random_model_bytes()).card
