"""Laws of the embedding as a stream."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import colours, two_stage_model

import wakeword.verify.embedding
from wakeword import AudioFormatError
from wakeword.base.types import Array
from wakeword.verify.embedding import (
    DIMENSION,
    STEP_FRAMES,
    STEP_OVERLAP,
    STEP_SAMPLES,
    EmbeddingNetwork,
    EmbeddingSteps,
    EmbeddingStream,
    SamplesOf,
    embeddings_of,
    reach,
)

COUNT = 16
STEP = 160 * STEP_FRAMES
SIGNAL = colours(6.0, np.random.default_rng(3))


@pytest.fixture(scope="module")
def network() -> EmbeddingNetwork:
    stage = two_stage_model().second_stage
    assert stage is not None
    return stage.embedding


def samples_of(start: int, end: int) -> Array:
    """``SIGNAL``, with zeros before it."""
    return np.pad(SIGNAL, (max(0, -start), 0))[max(start, 0) : end + max(0, -start)]


@settings(max_examples=12)
@given(frames=st.lists(st.integers(0, 590), min_size=1, max_size=12))
def test_an_embedding_is_the_same_in_every_digit_wherever_the_stream_was_begun(frames: list[int]) -> None:
    stage = two_stage_model().second_stage
    assert stage is not None
    whole = EmbeddingStream(stage.embedding).newest(591, 74, samples_of)
    assert len(np.unique(whole, axis=0)) == len(whole)
    stream = EmbeddingStream(stage.embedding)
    for frame in frames:
        end = (frame + 1) // STEP_FRAMES
        newest = stream.newest(frame, COUNT, samples_of)
        kept = min(end, COUNT)
        assert np.array_equal(newest[COUNT - kept :], whole[end - kept : end])


def test_the_audio_before_a_stream_is_silence(network: EmbeddingNetwork) -> None:
    silence = 20
    later = embeddings_of(network, np.concatenate([np.zeros(silence * STEP, np.float32), SIGNAL]))
    assert later[silence:] == pytest.approx(embeddings_of(network, SIGNAL), abs=1e-3)
    found = EmbeddingStream(network).newest(40, COUNT, samples_of)
    assert found == pytest.approx(later[silence + 5 - COUNT : silence + 5], abs=1e-3)


def test_no_sample_outside_the_reach_is_asked_for(network: EmbeddingNetwork) -> None:
    reached = []
    for frame in range(400, 416):
        asked: list[int] = []

        def recording(start: int, end: int, asked: list[int] = asked) -> Array:
            asked += [start, end]
            return samples_of(start, end)

        EmbeddingStream(network).newest(frame, COUNT, recording)
        end = 160 * frame + 400
        assert max(asked) <= end
        reached.append(end - min(asked))
    assert max(reached) == reach(COUNT)


def test_steps_are_shared_by_windows_that_overlap(network: EmbeddingNetwork) -> None:
    stream, steps = EmbeddingStream(network), []

    def recording(start: int, end: int) -> Array:
        steps.append((end - start - STEP_OVERLAP) // STEP_SAMPLES)
        return samples_of(start, end)

    for frame in range(303, 503, 8):
        stream.newest(frame, COUNT, recording)
        stream.newest(frame, COUNT, recording)
    assert sum(steps) == 25 + 24


@pytest.mark.parametrize("samples", [0, 240, 1_519, 1_680, 2_799])
def test_parts_of_steps_are_refused(network: EmbeddingNetwork, samples: int) -> None:
    with pytest.raises(AudioFormatError, match=f"expected 1280 n \\+ 240 samples .*, got {samples}"):
        network.power(np.zeros(samples, np.float32))


def test_a_recording_has_the_embeddings_of_a_stream(network: EmbeddingNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = embeddings_of(network, SIGNAL)
    assert whole == pytest.approx(EmbeddingStream(network).newest(591, len(whole), samples_of), abs=1e-3)
    monkeypatch.setattr(wakeword.verify.embedding, "MAX_STEPS", 7)
    assert embeddings_of(network, SIGNAL) == pytest.approx(whole, abs=1e-3)


def test_short_recordings_have_no_embeddings(network: EmbeddingNetwork) -> None:
    assert embeddings_of(network, np.zeros(1_000, np.float32)).shape == (0, DIMENSION)
    assert embeddings_of(network, np.zeros(1_520, np.float32)).shape == (1, DIMENSION)


def test_steps_that_share_a_call_have_the_digits_of_single_steps(
    network: EmbeddingNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = EmbeddingStream(network).newest(591, 60, samples_of)
    # As on a processor on which calls of several steps round otherwise.
    monkeypatch.setattr(EmbeddingNetwork, "sizes", (1,))
    assert np.array_equal(EmbeddingStream(network).newest(591, 60, samples_of), usual)


def test_calls_of_several_steps_are_used_only_where_they_round_alike(
    network: EmbeddingNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    advance = EmbeddingSteps.advance

    def off_by_a_digit(self: EmbeddingSteps, samples: SamplesOf, start: int, count: int) -> Array:
        found = advance(self, samples, start, count)
        self.caches[0][:] *= np.float32(1 + len(self.sizes) * 1e-7)
        return found

    fresh = copy.copy(network)
    fresh.__dict__.pop("sizes", None)
    assert fresh.sizes[-1] == 1
    monkeypatch.setattr(EmbeddingSteps, "advance", off_by_a_digit)
    fresh.__dict__.pop("sizes")
    assert fresh.sizes == (1,)
