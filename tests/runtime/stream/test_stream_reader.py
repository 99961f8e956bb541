"""Where the reader of a stream computes its frames."""

import numpy as np
import pytest
from support.builders import bursts, in_chunks, random_model

from wakeword import Model
from wakeword.audio.features import PRODUCT_FRAMES, MfccTransform
from wakeword.base.types import Array
from wakeword.model.first_stage import WindowLogit
from wakeword.stream.keyword import KeywordTracker
from wakeword.stream.stream_reader import PIECE, StreamReader


class MarkedTransform(MfccTransform):
    """Marks each frame by its place in a matrix product, as a processor does on which places round differently."""

    def __call__(self, signal: Array, *, first: int = 0) -> Array:
        frames = super().__call__(signal, first=first)
        frames[:, 0] += (first + np.arange(len(frames))) % PRODUCT_FRAMES
        return frames


Scored = dict[int, float]


@pytest.fixture
def scored(monkeypatch: pytest.MonkeyPatch) -> Scored:
    """The score of each window that a reader gives, by the sample at which the window ends."""
    scores: Scored = {}
    take = KeywordTracker.take

    def recorded(self: KeywordTracker, windows: list[WindowLogit], **others: object) -> list[tuple[int, float]]:
        end = self.window_end
        scores.update({end + self.step * place: logit for place, (logit, _) in enumerate(windows)})
        return take(self, windows, **others)  # type: ignore[arg-type]

    monkeypatch.setattr(KeywordTracker, "take", recorded)
    monkeypatch.setattr("wakeword.model.first_stage.MfccTransform", MarkedTransform)
    return scores


def read(model: Model, signal: Array, size: int, scored: Scored, *, hop: int, gate: bool) -> Scored:
    """The scores of ``signal``, pushed in blocks of ``size``."""
    scored.clear()
    reader = StreamReader([model], [0.999], hop=hop, refractory=100, pre_roll=0, gate=gate)
    for block in in_chunks(signal, size):
        reader.push(block)
    return dict(scored)


@pytest.mark.parametrize("hop", [1, 3, 5, 8])
@pytest.mark.parametrize("size", [160, 509, 1_280, 5_003])
def test_a_frame_is_computed_at_its_place_whatever_the_blocks(hop: int, size: int, scored: Scored) -> None:
    model, signal = random_model(), bursts(3, {0.5: "low", 1.7: "high"})
    expected = read(model, signal, PIECE, scored, hop=hop, gate=False)
    found = read(model, signal, size, scored, hop=hop, gate=False)
    common = expected.keys() & found.keys()
    assert len(common) > 20
    assert {end: found[end] for end in common} == {end: expected[end] for end in common}


@pytest.mark.parametrize("hop", [3, 5, 8])
def test_a_frame_is_computed_at_its_place_after_sleep(hop: int, low_model: Model, scored: Scored) -> None:
    hiss = 1e-4 * np.random.default_rng(0).standard_normal(70_123)
    signal = np.concatenate([bursts(1.5, {0.4: "low"}), hiss, bursts(2.5, {0.3: "low"})]).astype(np.float32)
    expected = read(low_model, signal, 1_280, scored, hop=hop, gate=False)
    found = read(low_model, signal, 1_280, scored, hop=hop, gate=True)
    assert 20 < len(found) < len(expected) - 20
    assert found == {end: expected[end] for end in found}
