"""Writes the model files of ``tests/fixtures``, which the runtime's tests use: ``python -m support.make_fixtures``.

Run it in ``tests`` after a change of the graph's or the card's layout. It needs torch and onnx; using the files does not.
"""

from typing import get_args

from support.builders import FIXTURES, WINDOW, card
from support.heads import head_bytes
from support.networks import band_network, network
from wakeword.format.operating_point import OperatingPoint
from wakeword.format.verifier_card import Fusion, VerifierCard
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
    points = [OperatingPoint("fpr=0.05", "fpr", 0.05, 0.4, 0.9, 0.8, 0.95, "nothing")]
    return with_verifier(stage_one, head_bytes(), card, operating_points=points, default_point="fpr=0.05")


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


if __name__ == "__main__":
    FIXTURES.mkdir(exist_ok=True)
    for name, content in model_files().items():
        (FIXTURES / name).write_bytes(content)
