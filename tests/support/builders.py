"""Models from small files (see ``make_fixtures``) and signals with known results: all without torch and onnx."""

import dataclasses
import struct
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from support.onnx_files import with_metadata, with_scalar
from wakeword import FeatureConfig, Model, ModelCard, OperatingPoint
from wakeword.audio.features import mfcc
from wakeword.base.types import Array
from wakeword.format.card import DEFAULT_HOP, METADATA_KEY, SelfTest, self_test_signal
from wakeword.format.operating_point import Rate
from wakeword.format.verifier_card import Fusion, VerifierCard
from wakeword.model.model import parse_model
from wakeword.verify.verifier_head import HEAD_KEY

FIXTURES = Path(__file__).parents[1] / "fixtures"
TWO_STAGE = FIXTURES / "two-stage.onnx"
MFCC_FILE = "mfcc.npz"
"""Signal -> the features of each third frame by librosa, ``(frames, n_mfcc)``."""
N_MFCC = FeatureConfig().n_mfcc
WINDOW = 98
HOP_SECONDS = 0.01 * DEFAULT_HOP
"""Between the ends of two windows; a frame is 10 ms."""
CHUNKS = (1, 17, 160, 509, 1280, 16_001)


def card(phrase: str = "marvin", *, window: int = WINDOW, threshold: float = 0.5) -> ModelCard:
    """A card with one operating point, the default."""
    point = OperatingPoint("fpr=0.03", "fpr", 0.03, threshold, 0.9, 0.8, 0.95, "nothing")
    return ModelCard(
        phrase=phrase,
        version="1",
        window=window,
        self_test=SelfTest(0.0),
        operating_points=(point,),
        default_point=point.name,
        training={"method": "none", "seed": 0},
    )


def with_card(model: bytes, card: ModelCard) -> bytes:
    """A model file with that card and no other metadata; ``embed_card`` without the onnx package."""
    return with_metadata(model, {METADATA_KEY: card.to_json()})


def _with_window(model: bytes, window: int) -> bytes:
    """A fixture file changed to windows of that length: another card, and another mean."""
    before = parse_model(model).card
    if window == before.window:
        return model
    card = dataclasses.replace(before, window=window)
    if b"per_step" in model:
        old, new = (struct.pack("<f", card.stack / length) for length in (before.window, window))
        model = with_scalar(model, "per_step", old, new)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    untested = Model(onnxruntime.InferenceSession(model, options), card, digest="")
    frames = mfcc(self_test_signal(card.features.samples_in(window)))
    logit = float(untested.advance(frames, untested.start(1))[0][0])
    return with_card(model, dataclasses.replace(card, self_test=SelfTest(logit)))


@lru_cache
def random_model_bytes(pooling: str = "last", stack: int = 1, window: int = WINDOW) -> bytes:
    """The file of a model with random weights and 8 hidden units."""
    return _with_window((FIXTURES / f"random-{pooling}-{stack}.onnx").read_bytes(), window)


@lru_cache
def random_model(pooling: str = "last", stack: int = 1, window: int = WINDOW) -> Model:
    """A model with random weights and 8 hidden units."""
    return parse_model(random_model_bytes(pooling, stack, window))


@lru_cache
def band_model_bytes(phrase: str, band: int, window: int = WINDOW, pooling: str = "last") -> bytes:
    """A model with known results: it fires on low bursts (``band`` 1) or on high ones (-1), and on nothing else.

    Its score is near 1 in a burst of the band, and near 0 in silence and in the other band. With the pooling ``max`` it
    stays near 1 as long as the window contains the burst. Nothing is to be warned of at its operating point.
    """
    model = _with_window((FIXTURES / f"{'low' if band > 0 else 'high'}-{pooling}.onnx").read_bytes(), window)
    card = parse_model(model).card
    few, rare = Rate(0.01, 0.0, 0.05, 1, 100), Rate(1.0, 0.0, 5.6, 1, 1.0)
    point = dataclasses.replace(
        card.point(),
        positives=10,
        synthetic=0,
        fpr_negatives=few,
        fpr_near_negatives=few,
        false_accepts_per_hour=rare,
    )
    return with_card(model, dataclasses.replace(card, phrase=phrase, operating_points=(point,)))


@lru_cache
def _two_stage_fixture() -> tuple[VerifierCard, str]:
    """The second stage of the fixture, and its head as text."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    metadata = onnxruntime.InferenceSession(TWO_STAGE.read_bytes(), options).get_modelmeta().custom_metadata_map
    verifier = ModelCard.from_json(metadata[METADATA_KEY]).verifier
    assert verifier is not None
    return verifier, metadata[HEAD_KEY]


def two_stage_head() -> str:
    """The head of the fixture of two stages, as its metadata hold it."""
    return _two_stage_fixture()[1]


ALWAYS, NEVER = (Fusion(bias, 0.0, 0.0, 0.0, 0.0, 100.0) for bias in (6.0, -6.0))
"""Fusions that say yes or no to every candidate."""


def two_stage_bytes(stage_one: bytes, *, threshold: float = 0.5, **changes: Any) -> bytes:
    """A model file with the second stage of the fixture, some entries of whose card are replaced."""
    verifier, head = _two_stage_fixture()
    card = parse_model(stage_one).card
    verifier = dataclasses.replace(
        verifier, stage_one_points=card.operating_points, stage_one_default=card.default_point
    )
    points = tuple(dataclasses.replace(point, threshold=threshold) for point in card.operating_points)
    both = dataclasses.replace(card, operating_points=points, verifier=dataclasses.replace(verifier, **changes))
    return with_metadata(stage_one, {METADATA_KEY: both.to_json(), HEAD_KEY: head})


@lru_cache
def two_stage_model() -> Model:
    """The fixture of two stages, keyword "marvin": every fifth window of coloured noise is looked at, some fire."""
    return parse_model(TWO_STAGE.read_bytes())


def bursts(seconds: float, events: dict[float, str], *, seed: int = 0) -> Array:
    """Seconds of a quiet hiss, 16 kHz float32, with 0.3 s of louder noise at each start of ``events``.

    The noise is ``low`` (300..1,500 Hz) or ``high`` (3..6 kHz).
    """
    random = np.random.default_rng(seed)
    signal = 1e-4 * random.standard_normal(round(16_000 * seconds))
    for start, band in events.items():
        length = 4_800
        low, high = {"low": (300, 1_500), "high": (3_000, 6_000)}[band]
        spectrum = np.fft.rfft(random.standard_normal(length))
        frequencies = np.fft.rfftfreq(length, 1 / 16_000)
        spectrum[(frequencies < low) | (frequencies > high)] = 0
        first = round(16_000 * start)
        signal[first : first + length] += 0.3 * np.fft.irfft(spectrum)
    return signal.astype(np.float32)


def colours(seconds: float, random: np.random.Generator, *, spread: float = 4.0) -> Array:
    """Noise whose colour changes every 0.2 s, more with a larger ``spread``; ``(samples,)`` float32 at 16 kHz."""
    pieces = []
    for _ in range(round(seconds / 0.2)):
        spectrum = np.fft.rfft(random.standard_normal(3_200))
        spectrum *= np.exp(random.uniform(-spread, spread) * np.linspace(0, 1, len(spectrum)) ** random.uniform(0.3, 3))
        piece = np.fft.irfft(spectrum)
        pieces.append(piece * random.uniform(0.01, 0.1) / np.abs(piece).std())
    return np.concatenate(pieces).clip(-1, 1).astype(np.float32)


def in_chunks(signal: Array, size: int) -> list[Array]:
    """``signal`` cut into blocks of ``size`` samples or frames; the last may be shorter."""
    return [signal[start : start + size] for start in range(0, len(signal), size)]


SIGNALS = {
    "voice": self_test_signal(48_000),
    "bursts": bursts(3, {0.5: "low", 1.5: "high"}),
    "silence": np.zeros(16_000, np.float32),
    "square wave at full scale": np.sign(np.sin(np.arange(16_000) * 0.07)).astype(np.float32),
    "click": np.eye(1, 16_000, 5_000, dtype=np.float32)[0],
}
"""What the features are compared with another library on, at 16 kHz."""
