"""``torchaudio``, imported so that it works with a different build of torch.

The package index serves a CUDA build of torchaudio without a requirement on torch; with a CPU torch its compiled
extension cannot be loaded (``OSError``), with another minor version of CUDA it refuses (``RuntimeError``). This project
uses nothing that is compiled.
"""

import importlib
import sys
import types
from types import ModuleType


def import_torchaudio() -> ModuleType:
    """The torchaudio package, without its compiled extension if that cannot be loaded."""
    try:
        return importlib.import_module("torchaudio")
    except (OSError, RuntimeError):
        for name in [name for name in sys.modules if name.split(".")[0] == "torchaudio"]:
            del sys.modules[name]
        extension = types.ModuleType("torchaudio._extension")
        extension._IS_TORCHAUDIO_EXT_AVAILABLE = False  # type: ignore[attr-defined]
        extension._IS_RIR_AVAILABLE = False  # type: ignore[attr-defined]
        extension._IS_ALIGN_AVAILABLE = False  # type: ignore[attr-defined]
        extension.lazy_import_sox_ext = None  # type: ignore[attr-defined]
        extension.fail_if_no_align = _identity  # type: ignore[attr-defined]
        sys.modules["torchaudio._extension"] = extension
        return importlib.import_module("torchaudio")


def _identity(function: object) -> object:
    return function
