"""Laws of detectors, pools and models with a second stage."""

import base64
import dataclasses
import gc
import itertools
import json
import math
import weakref
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import (
    ALWAYS,
    CHUNKS,
    NEVER,
    band_model_bytes,
    bursts,
    colours,
    in_chunks,
    random_model_bytes,
    two_stage_bytes,
    two_stage_head,
    two_stage_model,
)
from support.onnx_files import with_metadata

import wakeword.model.model
from wakeword import ConfigError, Detection, Detector, DetectorPool, Model, ModelCard, ModelError, mfcc
from wakeword.base.logistic import score_of_logit
from wakeword.base.types import Array
from wakeword.format.card import DEFAULT_HOP, METADATA_KEY, SCHEMA
from wakeword.format.verifier_card import FLOOR, unverified_score
from wakeword.model.installed import assets_folder, shipped_models
from wakeword.model.model import parse_model
from wakeword.model.scorer import GroupScorer
from wakeword.verify.embedding import EmbeddingNetwork, EmbeddingStream
from wakeword.verify.verifier import SecondStage
from wakeword.verify.verifier_head import HEAD_KEY

pytestmark = pytest.mark.numeric

SIGNAL = colours(6.0, np.random.default_rng(0))
BURSTS = bursts(7.3, {1.3: "low", 3.0: "high", 4.5: "low", 5.6: "high"})
LOW, HIGH = band_model_bytes("low", 1), band_model_bytes("high", -1)


@lru_cache
def other_model() -> Model:
    """A second keyword, with a window of another length."""
    model = parse_model(two_stage_bytes(random_model_bytes("attention", 2, 96), gate=0.75, span=40))
    model.card = dataclasses.replace(model.card, phrase="other")
    assert model.card.window != two_stage_model().card.window
    return model


def detector(*models: Model, **settings: object) -> Detector:
    return Detector(list(models), **settings)  # type: ignore[arg-type]


def hop_scores(detector: Detector, signal: Array) -> list[dict[str, float]]:
    """The newest scores after each hop."""
    found = []
    for block in in_chunks(signal, 160 * DEFAULT_HOP):
        detector.push(block)
        found.append(detector.scores)
    return found


def found_in(detector: Detector, blocks: list[Array]) -> list[Detection]:
    """The detections in a stream of these blocks; equal ones have the same scores of both stages."""
    found = [detection for block in blocks for detection in detector.push(block)]
    return found + detector.flush()


@lru_cache
def expected() -> list[Detection]:
    found = found_in(detector(two_stage_model(), other_model()), [SIGNAL])
    assert {detection.keyword for detection in found} == {"marvin", "other"}
    return found


# --- the same whatever the blocks


@pytest.mark.parametrize("size", CHUNKS[1:])
def test_detections_do_not_depend_on_the_size_of_the_blocks(size: int) -> None:
    assert found_in(detector(two_stage_model(), other_model()), in_chunks(SIGNAL, size)) == expected()


@settings(max_examples=6)
@given(cuts=st.lists(st.integers(0, len(SIGNAL)), max_size=12))
def test_detections_do_not_depend_on_where_the_stream_is_cut(cuts: list[int]) -> None:
    ends = [0, *sorted(cuts), len(SIGNAL)]
    blocks = [SIGNAL[start:end] for start, end in itertools.pairwise(ends)]
    assert found_in(detector(two_stage_model(), other_model()), blocks) == expected()


@pytest.mark.parametrize("hop", [3, 12])
def test_detections_do_not_depend_on_the_blocks_at_another_hop(hop: int) -> None:
    found = found_in(detector(two_stage_model(), hop=hop), [SIGNAL])
    assert found_in(detector(two_stage_model(), hop=hop), in_chunks(SIGNAL, 1_111)) == found
    assert found


def test_each_keyword_has_the_scores_that_it_has_alone() -> None:
    together = hop_scores(detector(two_stage_model(), other_model()), SIGNAL)
    for model in (two_stage_model(), other_model()):
        alone = hop_scores(detector(model), SIGNAL)
        assert alone == [{model.card.phrase: scores[model.card.phrase]} for scores in together]


def test_reset_equals_a_new_detector() -> None:
    used = detector(two_stage_model(), other_model())
    used.push(SIGNAL[5_000:70_000])
    used.reset()
    assert found_in(used, [SIGNAL]) == expected()


@pytest.mark.parametrize("size", [509, 16_001])
def test_a_pool_finds_what_detectors_find(size: int) -> None:
    models = [two_stage_model(), other_model()]
    signals = [SIGNAL, SIGNAL[::-1].copy()]
    pool = DetectorPool(models)
    streams = [pool.open() for _ in signals]
    found: dict[str, list[Detection]] = {stream.name: [] for stream in streams}
    for blocks in itertools.zip_longest(*(in_chunks(signal, size) for signal in signals)):
        for stream, block in zip(streams, blocks, strict=True):
            stream.push(block)
        for stream, detection in pool.process():
            found[stream.name].append(detection)
    for stream in streams:
        stream.flush()
    for stream, detection in pool.process():
        found[stream.name].append(detection)
    for stream, signal in zip(streams, signals, strict=True):
        alone = found_in(detector(*models), [signal])
        assert len(alone) > 1
        assert [(one.keyword, one.end) for one in found[stream.name]] == [(one.keyword, one.end) for one in alone]
        # The rows of a product differ, and so does its rounding.
        for one, other in zip(found[stream.name], alone, strict=True):
            assert one.score == pytest.approx(other.score, abs=1e-4)
            assert one.stage_one == pytest.approx(other.stage_one, abs=1e-5)


# --- what a score is


def test_windows_below_the_gate_keep_the_order_of_the_first_stage_below_the_floor() -> None:
    model = two_stage_model()
    verifier = model.card.verifier
    assert verifier is not None
    logits = GroupScorer([model]).logits(mfcc(SIGNAL))[0]
    scores = [one["marvin"] for one in hop_scores(detector(model, gate=False), SIGNAL)]
    scores = scores[-len(logits) :]
    span = -(-verifier.span // DEFAULT_HOP)
    kinds = set()
    for place, (logit, score) in enumerate(zip(logits, scores, strict=True)):
        is_candidate = max(logits[max(0, place - span + 1) : place + 1]) >= verifier.gate
        kinds.add(is_candidate)
        assert (score >= FLOOR) == is_candidate
        if not is_candidate:
            assert score == unverified_score(logit, verifier.gate)
    assert kinds == {True, False}


def test_a_candidate_is_looked_at_for_its_span_and_then_no_more() -> None:
    for span in (8, 20, 48):
        model = parse_model(two_stage_bytes(LOW, span=span, gate=0.0))
        scores = [one["low"] for one in hop_scores(detector(model), BURSTS)]
        stage_one = [one["low"] for one in hop_scores(detector(parse_model(LOW)), BURSTS)]
        above = {hop for hop, score in enumerate(stage_one) if score >= 0.5}
        assert above
        looked_at = {later for hop in above for later in range(hop, hop + -(-span // DEFAULT_HOP))} & set(
            range(len(scores))
        )
        assert {hop for hop, score in enumerate(scores) if score >= FLOOR} == looked_at


def test_the_second_stage_decides_what_the_first_one_lets_through() -> None:
    yes, no = (parse_model(two_stage_bytes(LOW, fusion=fusion, gate=0.0)) for fusion in (ALWAYS, NEVER))
    alone = Detector(parse_model(LOW)).push(BURSTS)
    found = Detector(yes).push(BURSTS)
    assert [one.end for one in found] == [one.end for one in alone]
    assert len(found) == 2
    assert all(one.score == pytest.approx(score_of_logit(6.0)) for one in found)
    assert not Detector(no).push(BURSTS)


def test_phonemes_are_asked_only_where_the_score_can_reach_their_gate() -> None:
    given = two_stage_model().second_stage
    assert given is not None
    fusion = dataclasses.replace(ALWAYS, phonemes=1.0, phoneme_floor=4.0)
    for gate, fit, expected, asked in ((6.0, -1.0, 5.0, 1), (6.5, -1.0, 2.0, 0), (6.0, math.nan, 2.0, 1)):
        card = dataclasses.replace(given.card, fusion=dataclasses.replace(fusion, phoneme_gate=gate))
        stage = SecondStage(card, given.head, given.embedding, None)
        stage.phonemes, stage.phoneme_fit = Mock(), Mock(return_value=fit)  # type: ignore[method-assign]
        assert stage.score(2.0, 32_000, Mock()) == pytest.approx(score_of_logit(expected))
        assert stage.phoneme_fit.call_count == asked


def test_a_detection_says_what_the_first_stage_thought() -> None:
    model = parse_model(two_stage_bytes(LOW, fusion=ALWAYS, gate=0.0))
    for found, alone in zip(Detector(model).push(BURSTS), Detector(parse_model(LOW)).push(BURSTS), strict=True):
        assert found.stage_one == alone.score
        assert alone.stage_one is None


# --- sleep


@pytest.mark.parametrize("size", [509, 1_280, 16_001])
def test_sleep_through_quiet_changes_no_detection(size: int) -> None:
    quiet = np.zeros(3 * 16_000, np.float32)
    stretch = colours(1.0, np.random.default_rng(1))
    signal = np.concatenate([BURSTS, quiet, BURSTS[20_000:], stretch, quiet[:30_007], BURSTS])
    models = [parse_model(two_stage_bytes(data, gate=0.0, span=40)) for data in (LOW, HIGH)]
    slept = detector(*models)
    found, was_asleep = [], False
    for block in in_chunks(signal, size):
        found += slept.push(block)
        was_asleep |= slept.is_asleep
    assert was_asleep
    awake = found_in(detector(*models, gate=False), [signal])
    assert found + slept.flush() == awake
    assert len(awake) > 3


# --- without the second stage


def test_without_verification_a_model_is_its_first_stage() -> None:
    verified = parse_model(two_stage_bytes(LOW, threshold=0.9, gate=0.0, fusion=NEVER))
    plain = parse_model(LOW)
    assert Detector(verified).thresholds == {"low": 0.9}
    assert Detector(verified, verify=False).thresholds == Detector(plain).thresholds == {"low": 0.5}
    expected = found_in(Detector(plain), [BURSTS])
    assert found_in(Detector(verified, verify=False), [BURSTS]) == expected
    assert len(expected) == 2
    with DetectorPool(verified, verify=False) as pool, pool.open() as stream:
        stream.push(BURSTS)
        assert [one for _, one in pool.process()] == expected
    assert plain.stage_one() is plain


def test_thresholds_that_need_no_verification_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"at least 0\.001 for 'marvin'.*second stage, got 0\.0005"):
        Detector(two_stage_model(), threshold=0.0005)
    assert Detector(two_stage_model(), threshold=0.0005, verify=False).thresholds == {"marvin": 0.0005}
    with pytest.raises(ConfigError, match="second stage"):
        two_stage_bytes(LOW, threshold=0.0009)


# --- files


def card_entries(model: bytes, **entries: object) -> bytes:
    """A file of two stages with some entries of the card's verifier replaced, unchecked."""
    raw = json.loads(parse_model(model).card.to_json())
    raw["verifier"] |= entries
    return with_metadata(model, {METADATA_KEY: json.dumps(raw), HEAD_KEY: two_stage_head()})


def test_files_of_one_and_of_two_stages_have_the_same_schema() -> None:
    one, two = parse_model(LOW).card, parse_model(two_stage_bytes(LOW)).card
    assert json.loads(one.to_json())["schema"] == json.loads(two.to_json())["schema"] == SCHEMA
    assert ModelCard.from_json(two.to_json()) == two
    assert two.of_stage_one() == one


@pytest.mark.parametrize("path", shipped_models().values(), ids=lambda path: path.stem)
def test_cards_of_the_included_models_are_read_and_written_as_they_are(path: Path) -> None:
    session = onnxruntime.InferenceSession(path.read_bytes())
    text = session.get_modelmeta().custom_metadata_map[METADATA_KEY]
    # Without what this version knows and the card's does not say.
    assert _said(json.loads(ModelCard.from_json(text).to_json())) == _said(json.loads(text))


def _said(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _said(part) for name, part in value.items() if part is not None}
    return [_said(part) for part in value] if isinstance(value, list) else value


RAW_FUSION = dataclasses.asdict(ALWAYS)


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"gate": float("nan")}, "of -20 to 20"),
        ({"gate": 21.0}, "of -20 to 20"),
        ({"span": 0}, "1 to 200 frames"),
        ({"span": 10**9}, "1 to 200 frames"),
        ({"span": 8.0}, "expected int"),
        ({"self_test": float("inf")}, "of -1e.06 to 1e.06"),
        ({"embedding_digest": "a" * 63}, "64 hex digits"),
        ({"phonemes_digest": "../etc/passwd"}, "64 hex digits"),
        ({"quick_digest": "a"}, "64 hex digits"),
        ({"quick_gate": 0.5}, "the gate of the quick recogniser"),
        ({"phonemes_digest": None}, "digest of the phoneme recogniser"),
        ({"phonemes": [[]]}, "1 to 64 phonemes"),
        ({"phonemes": [[["a"], []]]}, "1 to 64 phonemes"),
        ({"phonemes": [[["a"]] * 65]}, "1 to 64 phonemes"),
        ({"phonemes": [["a"]]}, "malformed"),
        ({"near": [[["a"]]] * 65}, "1 to 64 phonemes"),
        ({"near": [[["a"]]], "near_losses": [[[0.0, 1.0]]], "phonemes_digest": "a" * 64}, "a loss for each token"),
        ({"near": [[["a"]]], "phonemes_digest": None}, "digest of the phoneme recogniser"),
        ({"phonemes": "abc"}, "malformed"),
        ({"fusion": {**RAW_FUSION, "phonemes": -1.0}}, "at least 0"),
        ({"fusion": {**RAW_FUSION, "bias": float("nan")}}, "finite"),
        ({"fusion": None}, "malformed"),
        ({"stage_one_default": "fpr=0.5"}, "first stage among"),
        ({"colour": "blue"}, "malformed"),
    ],
)
def test_malformed_cards_are_refused(entries: dict[str, object], reason: str) -> None:
    with pytest.raises(ModelError, match=f"malformed.*{reason}|{reason}"):
        parse_model(card_entries(two_stage_bytes(LOW), **entries))


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (None, "a file without it"),
        ("!", "damaged"),
        (base64.b64encode(b"not a graph").decode(), "head of the second stage: expected a model file of wakeword"),
        (base64.b64encode(LOW).decode(), r"embeddings \[16, 96\] -> logit \[1\]"),
    ],
)
def test_heads_that_are_none_are_refused(head: str | None, reason: str) -> None:
    model = two_stage_bytes(LOW)
    metadata = {METADATA_KEY: parse_model(model).card.to_json()} | ({} if head is None else {HEAD_KEY: head})
    with pytest.raises(ModelError, match=reason):
        parse_model(with_metadata(model, metadata))


@pytest.mark.parametrize("digest", ["embedding_digest", "phonemes_digest", "quick_digest"])
def test_other_shared_networks_are_refused_where_they_are_needed(digest: str) -> None:
    model = parse_model(two_stage_bytes(LOW, **{digest: 64 * "0"}))
    for use in (Detector, DetectorPool):
        with pytest.raises(ModelError, match=r"second stage of 'low'.*digest 0000.*without its second stage"):
            use(model)
        use(model, verify=False).close()


def test_a_missing_shared_network_is_refused_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = parse_model(two_stage_bytes(LOW, embedding_digest=64 * "1"))
    monkeypatch.setattr(wakeword.model.model, "encoders_folder", lambda: tmp_path / "encoders")
    with pytest.raises(ModelError, match=r"encoders/embedding\.onnx.*No such file.*install wakeword again"):
        Detector(model)
    Detector(model, verify=False)


def test_another_self_test_or_unknown_phonemes_are_refused() -> None:
    with pytest.raises(ModelError, match=r"self-test of the second stage of 'low' failed: expected logit 9\.0000"):
        Detector(parse_model(two_stage_bytes(LOW, self_test=9.0)))
    with pytest.raises(ModelError, match="191 tokens, got no such token"):
        Detector(parse_model(two_stage_bytes(LOW, phonemes=((("no such token",),),))))


def test_a_model_of_one_stage_needs_no_shared_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wakeword.model.model, "encoders_folder", lambda: tmp_path / "encoders")
    assert parse_model(LOW).second_stage is None
    assert len(Detector(parse_model(LOW)).push(BURSTS)) == 2
    # A word without phonemes needs no recogniser.
    (tmp_path / "encoders").mkdir()
    monkeypatch.undo()
    embedding = (assets_folder() / "encoders" / "embedding.onnx").read_bytes()
    (tmp_path / "encoders" / "embedding.onnx").write_bytes(embedding)
    monkeypatch.setattr(wakeword.model.model, "encoders_folder", lambda: tmp_path / "encoders")
    Detector(parse_model(two_stage_bytes(LOW, phonemes=(), phonemes_digest=None)))
    with pytest.raises(ModelError, match=r"encoders/phonemes\.onnx"):
        Detector(parse_model(two_stage_bytes(LOW)))


def test_a_stream_that_has_ended_holds_nothing_of_the_second_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its networks hold 1.5 MB at each gain: a server has clients that are silent for weeks."""
    listening, made = detector(two_stage_model()), list[weakref.ref[EmbeddingStream]]()

    def noted(network: EmbeddingNetwork) -> EmbeddingStream:
        stream = EmbeddingStream(network)
        made.append(weakref.ref(stream))
        return stream

    monkeypatch.setattr("wakeword.verify.verifier.EmbeddingStream", noted)
    found = [(hit.end, hit.score) for hit in listening.push(SIGNAL)]
    assert any(one() is not None for one in made)
    listening.reset()
    gc.collect()
    assert all(one() is None for one in made)
    assert [(hit.end, hit.score) for hit in listening.push(SIGNAL)] == found != []
