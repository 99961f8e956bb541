"""What training says of a recording is what the running engine says of it."""

import dataclasses

import numpy as np
import pytest
from support.builders import FIXTURES, colours

from wakeword.format.verifier_card import FLOOR, Fusion
from wakeword.model.installed import encoders_folder
from wakeword.model.model import parse_model, read_model, read_model_bytes
from wakeword.verify.shared import QUICK_FILE
from wakeword_tools.measure.cards import embed_card
from wakeword_tools.measure.scores import RecordingScorer
from wakeword_train.quick_gate import with_quick
from wakeword_train.second_stage.evidence import EvidenceReader, best_of_span, candidate_runs, window_logits

TWO_STAGE = FIXTURES / "two-stage.onnx"


@pytest.mark.parametrize("seconds", [0.5, 3.0, 7.3])
def test_fused_scores_are_those_of_the_running_engine(seconds: float) -> None:
    model = read_model(TWO_STAGE)
    stage = model.second_stage
    assert stage is not None
    samples = colours(seconds, np.random.default_rng(2))
    evidence = EvidenceReader(stage, model.card.window, probe=-1e9).read(samples, window_logits(model, samples))
    found = evidence.scores(stage.card.gate, stage.card.fusion)
    expected = RecordingScorer([model]).score([samples])[0]
    assert found.tolist() == expected.tolist()
    if seconds > 3:
        assert (expected >= FLOOR).any()
        assert (expected < FLOOR).any()


@pytest.mark.parametrize("gate", [-3.0, -1.0])
def test_the_quick_recogniser_is_asked_first_as_the_running_engine_does(gate: float) -> None:
    data = read_model_bytes(TWO_STAGE)
    card = parse_model(data).card
    assert card.verifier is not None
    verifier = dataclasses.replace(with_quick(card.verifier, encoders_folder() / QUICK_FILE), quick_gate=gate)
    model = parse_model(embed_card(data, dataclasses.replace(card, verifier=verifier)))
    stage = model.second_stage
    assert stage is not None
    samples = colours(7.3, np.random.default_rng(2))
    logits = window_logits(model, samples, late=verifier.late)
    evidence = EvidenceReader(stage, model.card.window, probe=-1e9).read(samples, logits)
    found = evidence.scores(verifier.gate, verifier.fusion)
    assert found.tolist() == RecordingScorer([model]).score([samples])[0].tolist()
    assert np.isneginf(evidence.phonemes).any()
    assert np.isfinite(evidence.phonemes).any() == (gate == -3.0)
    assert not np.isnan(evidence.phonemes[evidence.best >= verifier.gate]).any()
    # How well phonemes fit does not depend on what the quick one heard.
    plain = read_model(TWO_STAGE).second_stage
    assert plain is not None
    alone = EvidenceReader(plain, model.card.window, probe=-1e9).read(samples, logits)
    assert evidence.fit == alone.fit > -np.inf


def test_phonemes_are_asked_for_where_both_stages_reach_the_probe() -> None:
    model = read_model(TWO_STAGE)
    stage = model.second_stage
    assert stage is not None
    samples = colours(5.0, np.random.default_rng(2))
    logits = window_logits(model, samples)
    everywhere = EvidenceReader(stage, model.card.window, probe=-1e9).read(samples, logits)
    sums = everywhere.best + everywhere.embedding
    probe = float(np.nanmedian(sums))
    some = EvidenceReader(stage, model.card.window, probe=probe).read(samples, logits)
    assert (~np.isnan(some.phonemes)).tolist() == (sums >= probe).tolist()
    asked = ~np.isnan(some.phonemes)
    assert 0 < asked.sum() < (~np.isnan(sums)).sum()
    assert some.phonemes[asked].tolist() == everywhere.phonemes[asked].tolist()


def test_a_window_without_phonemes_counts_as_one_in_which_they_do_not_fit() -> None:
    model = read_model(TWO_STAGE)
    stage = model.second_stage
    assert stage is not None
    samples = colours(5.0, np.random.default_rng(2))
    evidence = EvidenceReader(stage, model.card.window, probe=1e9).read(samples, window_logits(model, samples))
    fusion = Fusion(0.0, 0.1, 0.1, 1.0, 3.0, -1e6)
    worst = dataclasses.replace(evidence, phonemes=np.full(len(evidence.logits), -50.0))
    assert evidence.scores(stage.card.gate, fusion).tolist() == worst.scores(stage.card.gate, fusion).tolist()


def test_the_best_of_a_span_covers_the_windows_before() -> None:
    logits = np.array([0.0, 5.0, 1.0, 2.0, -3.0, -4.0])
    assert best_of_span(logits, 24, hop=8).tolist() == [0, 5, 5, 5, 2, 2]
    assert best_of_span(logits, 8, hop=8).tolist() == logits.tolist()
    assert best_of_span(np.zeros(0), 24, hop=8).tolist() == []


def test_runs_of_candidates_are_counted_once() -> None:
    assert candidate_runs(np.array([3.0, 3.0, 0.0, 3.0, 0.0, 0.0, 3.0]), 1.0) == 3
    assert candidate_runs(np.zeros(5), 1.0) == 0
    assert candidate_runs(np.zeros(0), 1.0) == 0
