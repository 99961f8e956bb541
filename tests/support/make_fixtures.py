"""Writes the model files of ``tests/fixtures``, which the runtime's tests use: ``python -m support.make_fixtures``.

Run it in ``tests`` after a change of the graph's or the card's layout. It needs torch and onnx; using the files does not.
"""

from typing import get_args

from support.builders import FIXTURES, WINDOW, card
from support.networks import band_network, network
from wakeword_train.model.export import model_bytes
from wakeword_train.model.network import Pooling


def random_model_file(pooling: Pooling, stack: int, window: int = WINDOW) -> bytes:
    """A model with random weights; the large matrices are rounded, which halves the file."""
    net = network(pooling=pooling, stack=stack)
    net.round_to_half()
    return model_bytes(net, card(window=window))


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
    return files


if __name__ == "__main__":
    FIXTURES.mkdir(exist_ok=True)
    for name, content in model_files().items():
        (FIXTURES / name).write_bytes(content)
