"""The chosen provider runs the model, or there is an error."""

import re

import onnxruntime
import pytest
from support.builders import band_model_bytes

from wakeword import ConfigError, DetectorPool, ModelError
from wakeword.model.installed import shipped_models
from wakeword.model.model import parse_model

GOOD = band_model_bytes("low", 1)
WITHOUT_CUDA = "CUDAExecutionProvider" not in onnxruntime.get_available_providers()


@pytest.mark.skipif(not WITHOUT_CUDA, reason="needs an ONNX Runtime without CUDA")
def test_a_runtime_without_cuda_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"with the provider 'cuda', got one with .*CPUExecutionProvider.*use cpu"):
        parse_model(GOOD, provider="cuda")
    with pytest.raises(ConfigError, match="with the provider 'cuda'"):
        DetectorPool(shipped_models()["marvin"], provider="cuda")


@pytest.mark.skipif(not WITHOUT_CUDA, reason="needs an ONNX Runtime without CUDA")
@pytest.mark.filterwarnings("ignore:Specified provider")
def test_a_listed_provider_that_does_not_start_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CUDAExecutionProvider"])
    with pytest.raises(
        ConfigError, match=r"'cuda' to start, but it did not .*used CPUExecutionProvider instead.*or use cpu"
    ):
        parse_model(GOOD, provider="cuda")
    assert capfd.readouterr() == ("", "")


def test_a_provider_that_fails_is_named_and_so_is_a_bad_model(monkeypatch: pytest.MonkeyPatch) -> None:
    start = onnxruntime.InferenceSession

    def broken(data: bytes, options: object, *, providers: list[str], **rest: object) -> onnxruntime.InferenceSession:
        if providers == ["CUDAExecutionProvider"]:
            raise RuntimeError("CUDA failure 100: no CUDA-capable device is detected\nmore")
        return start(data, options, providers=providers, **rest)

    listed = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: listed)
    monkeypatch.setattr(onnxruntime, "InferenceSession", broken)
    with pytest.raises(
        ConfigError, match=re.escape("'cuda' to start, but it did not (CUDA failure 100: no CUDA-capable")
    ):
        parse_model(GOOD, provider="cuda")
    with pytest.raises(ModelError, match="expected a model file of wakeword"):
        parse_model(b"nothing", provider="cuda")
