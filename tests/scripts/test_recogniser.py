"""Teaching the phoneme recogniser: the same numbers as its file, and nearer to its own answers in noise."""

from collections.abc import Iterator

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

from scripts.encoder.taught_recogniser import LogMel, Recogniser, divergence, taught
from scripts.make_recogniser import lessons
from wakeword.audio.pcm import read_audio
from wakeword.base.types import Array
from wakeword.model.installed import assets_folder
from wakeword.verify.phoneme_verifier import as_recogniser_hears
from wakeword.verify.shared import PHONEMES_FILE
from wakeword.verify.verifier import PHONEME_SAMPLES

SHIPPED = assets_folder() / "encoders" / PHONEMES_FILE


@pytest.fixture(scope="module")
def speech() -> Array:
    return read_audio(assets_folder() / "audio" / "sentences.flac")


def said_by(model: onnx.ModelProto, window: Array) -> Array:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    given = {"waveform": as_recogniser_hears(window)[None], "waveform_lengths": np.array([len(window)], np.int64)}
    found: Array = session.run(["log_probs"], given)[0][0]
    return found


def test_the_network_says_what_its_file_says(speech: Array) -> None:
    model, window = onnx.load(SHIPPED), speech[: 2 * PHONEME_SAMPLES : 2]
    network = Recogniser(model)
    with torch.no_grad():
        said = network(LogMel(model)([window]))[0].log_softmax(-1).numpy()
    assert np.abs(np.exp(said) - np.exp(said_by(model, window))).max() < 0.02  # 16 bits
    assert network.written(model).SerializeToString(deterministic=True) == model.SerializeToString(deterministic=True)


def test_a_lesson_in_noise_brings_it_nearer_to_what_it_says_without(speech: Array) -> None:
    random = np.random.default_rng(0)
    window = speech[20_000 : 20_000 + PHONEME_SAMPLES]
    noisy = (window + random.normal(0, 0.05, len(window))).astype(np.float32)

    def same() -> Iterator[tuple[Array, Array]]:
        while True:
            yield window, noisy

    model = onnx.load(SHIPPED)
    made = taught(SHIPPED, same(), 3, batch=2, rate=3e-3, progress=lambda step, loss: None)
    told, before, after = (
        torch.tensor(said_by(one, some)) for one, some in ((model, window), (model, noisy), (made, noisy))
    )
    assert divergence(told, after, 0) < divergence(told, before, 0)


def test_lessons_are_as_long_as_the_recogniser_hears_and_the_same_for_a_seed(speech: Array) -> None:
    room = np.zeros(2_000, np.float32)
    room[16], room[900] = 1, 0.5
    noises = np.random.default_rng(0).normal(0, 1, (2, 100_000)).astype(np.float32)
    first, again = (lessons([speech], [room], noises, seed=3) for _ in range(2))
    for _ in range(20):
        (clean, heard), (_, other) = next(first), next(again)
        assert clean.shape == heard.shape == (PHONEME_SAMPLES,)
        assert np.isfinite(heard).all()
        assert np.abs(clean).max() > 0
        np.testing.assert_array_equal(heard, other)
