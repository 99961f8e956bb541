"""Whatever is pushed and called, in any order, the detector behaves like a new one."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import bursts, random_model, two_stage_model

from fuzz.cases.blocks import right_block, wrong_block
from fuzz.cases.laws import BrokenLawError
from fuzz.cases.use import Fuzzer
from wakeword import AudioFormatError, Detection, Detector, Model
from wakeword.base.types import Samples
from wakeword.format.card import DEFAULT_HOP

# --- random use


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_random_use(low_model: Model, high_model: Model, seed: int) -> None:
    """The fuzzer itself raises ``BrokenLawError``, which is tested below."""
    random = Random(seed)
    models = random.choice(
        (
            [random_model()],
            [low_model, high_model],
            [random_model("attention", stack=2), high_model],
            [random_model("attention", stack=8, window=96)],
            [two_stage_model(), high_model],
        )
    )
    Fuzzer(models, random).run(25)


@given(st.integers(0, 2**32))
def test_valid_blocks_are_accepted_and_invalid_ones_refused(low_model: Model, seed: int) -> None:
    detector = Detector(low_model)
    detector.push(right_block(Random(seed), channels=False)[:2_000])
    before = detector.seconds
    with pytest.raises(AudioFormatError):
        detector.push(wrong_block(Random(seed)))
    assert detector.seconds == before


class Worn(Detector):
    """Attenuates its input a little more after each stream."""

    gain: np.float32 = np.float32(1.0)

    def reset(self) -> None:
        super().reset()
        self.gain = np.float32(0.99) * self.gain

    def push(self, block: Samples) -> list[Detection]:
        if isinstance(block, np.ndarray) and block.dtype == np.float32:
            block = self.gain / np.float32(0.99) * block
        return super().push(block)


class Careless(Detector):
    """Processes silence in place of a refused block."""

    def push(self, block: Samples) -> list[Detection]:
        try:
            return super().push(block)
        except AudioFormatError:
            if isinstance(block, np.ndarray) and block.dtype == np.float32 and block.ndim == 1:
                super().push(np.zeros(len(block), np.float32))
            raise


class Brittle(Detector):
    """Fails on blocks without a sample."""

    def push(self, block: Samples) -> list[Detection]:
        if isinstance(block, np.ndarray):
            block[0]
        return super().push(block)


@pytest.mark.parametrize("kind", [Worn, Careless, Brittle])
def test_the_fuzzer_finds_faults(kind: type[Detector]) -> None:
    def finds_it(seed: int) -> bool:
        made: list[Detector] = []

        def make(models: list[Model], **settings: float) -> Detector:
            # The first one is tested, the later ones are compared with it.
            made.append((Detector if made else kind)(models, **settings))
            return made[-1]

        try:
            Fuzzer([random_model()], Random(seed), make).run(25)
        except BrokenLawError:
            return True
        return False

    assert any(finds_it(seed) for seed in range(20))


# --- extremes


@pytest.mark.parametrize("dtype", [np.int16, np.float32])
def test_ten_million_samples_in_one_block(low_model: Model, dtype: type) -> None:
    """The detection is the same as in a short block, and the audio kept with it is short."""
    quiet = np.zeros(10_000_000, dtype)
    burst = bursts(3, {1.0: "low"})
    quiet[-len(burst) :] = burst if dtype is np.float32 else 2**15 * burst
    detector = Detector(low_model)
    (hit,) = detector.push(quiet)
    assert detector.seconds == 625
    assert 623 < hit.end < 623.5
    assert len(hit.audio) < 2 * 16_000
    hop = 160 * DEFAULT_HOP
    # After a whole number of hops, so that the windows are the same.
    (expected,) = Detector(low_model).push(quiet[(len(quiet) - len(burst)) // hop * hop :])
    assert hit.score == pytest.approx(expected.score, abs=1e-4)
