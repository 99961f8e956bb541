"""Writes the files of ``tests/fixtures``, which the runtime's tests use: ``python -m support.make_fixtures``.

Run it in ``tests`` after a change of the graph's or the card's layout. It needs torch, onnx and librosa; using the files
does not.
"""

from dataclasses import replace
from typing import get_args

import numpy as np

from support.builders import FIXTURES, MFCC_FILE, SIGNALS, WINDOW, card
from support.heads import head_bytes
from support.networks import band_network, network
from wakeword import FeatureConfig
from wakeword.base.types import Array
from wakeword.format.operating_point import OperatingPoint
from wakeword.format.verifier_card import Fusion, VerifierCard
from wakeword.model.model import parse_model
from wakeword_tools.measure.cards import embed_card
from wakeword_train.model.export import model_bytes
from wakeword_train.model.network import Pooling
from wakeword_train.model.two_stage import shipped_digests, with_verifier


def random_model_file(pooling: Pooling, stack: int, window: int = WINDOW) -> bytes:
    """A model with random weights; the large matrices are rounded, which halves the file."""
    net = network(pooling=pooling, stack=stack)
    net.round_to_half()
    return model_bytes(net, card(window=window))


def two_stage_file(stage_one: bytes) -> bytes:
    """A model of two stages, both with random weights, whose gate a tenth of the windows of coloured noise reaches."""
    embedding, phonemes = shipped_digests()
    card = VerifierCard(
        gate=0.95,
        span=24,
        embedding_digest=embedding,
        fusion=Fusion(bias=0.0, stage_one=1.0, embedding=1.0, phonemes=0.3, phoneme_floor=6.0, phoneme_gate=-1.0),
        self_test=0.0,
        phonemes_digest=phonemes,
        phonemes=((("a", "ɑ"), ("n",)), (("s", "z"), ("h",), ("f",))),
        data="nothing",
    )
    both = with_verifier(stage_one, head_bytes(), card)
    points = (OperatingPoint("fpr=0.05", "fpr", 0.05, 0.4, 0.9, 0.8, 0.95, "nothing"),)
    return embed_card(both, replace(parse_model(both).card, operating_points=points, default_point="fpr=0.05"))


def model_files() -> dict[str, bytes]:
    """All files of the folder by name."""
    bands: list[tuple[str, int, Pooling]] = [("low", 1, "last"), ("low", 1, "max"), ("high", -1, "last")]
    files = {
        f"{phrase}-{pooling}.onnx": model_bytes(band_network(band, pooling), card(phrase))
        for phrase, band, pooling in bands
    }
    for pooling in get_args(Pooling):
        for stack in (1, 2):
            files[f"random-{pooling}-{stack}.onnx"] = random_model_file(pooling, stack)
    files["random-attention-8.onnx"] = random_model_file("attention", 8, window=96)
    files["two-stage.onnx"] = two_stage_file(files["random-last-1.onnx"])
    return files


def librosa_mfcc(samples: Array) -> Array:
    """The features as librosa computes them, ``(frames, n_mfcc)``."""
    import librosa

    config = FeatureConfig()
    mel = librosa.feature.melspectrogram(
        y=samples,
        sr=config.sample_rate,
        n_fft=config.n_fft,
        hop_length=config.hop_length,
        center=False,
        n_mels=config.n_mels,
        fmin=config.f_min,
        fmax=config.f_max,
        htk=True,
        norm=None,
    )
    cepstrum = librosa.feature.mfcc(S=np.log(mel + config.log_offset), n_mfcc=config.n_mfcc, dct_type=2, norm="ortho")
    return np.asarray(cepstrum.T, np.float32)


if __name__ == "__main__":
    FIXTURES.mkdir(exist_ok=True)
    third_frames = {name: librosa_mfcc(samples)[::3] for name, samples in SIGNALS.items()}
    np.savez_compressed(FIXTURES / MFCC_FILE, **third_frames)  # type: ignore[arg-type]
    for name, content in model_files().items():
        (FIXTURES / name).write_bytes(content)
