"""Files of TensorFlow Lite for microWakeWord and openWakeWord: their manifests, and the check of their networks."""

import ctypes
import importlib.util
import itertools
import json
import math
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from wakeword.base.checks import integer, number
from wakeword.base.errors import ModelError, raising
from wakeword.base.files import read_limited
from wakeword.base.text import shortened
from wakeword.format.card_checks import MAX_NAME
from wakeword_tools.contenders.seam import ForeignFiles

NETWORK, MANIFEST = "model.tflite", "model.json"
OPEN_CUTOFF = 0.5
"""The threshold that openWakeWord's makers recommend, and at which its servers report a word."""
_MANIFESTS = ("micro", "openWakeWord")
"""The ``type`` of a manifest, under which its settings stand too."""
_FLOAT32, _INT8 = 1, 9
_TYPES = {_FLOAT32: "float32", 2: "int32", 3: "uint8", _INT8: "int8"}
"""``TfLiteType`` of TensorFlow's C interface."""


_MAX_BYTES = 2**24
"""Bytes of all tensors of a network together, beyond its file. The largest classifier of openWakeWord takes 1.3 MB."""


class NetworkInput(NamedTuple):
    """The input of an engine's networks."""

    title: str
    package: str
    """The engine, and the module with its library."""
    words: str
    kind: int
    width: int
    """Type, and the last dimension; the first one is 1."""


MICRO_INPUT = NetworkInput("microWakeWord", "pymicro_wakeword", "int8 (1, frames, 40)", _INT8, 40)
OPEN_INPUT = NetworkInput("openWakeWord", "pyopen_wakeword", "float32 (1, 16, 96)", _FLOAT32, 96)


def read_manifest_of(kind: str, path: Path, data: bytes) -> ForeignFiles | None:
    """The word of a manifest of this type, with its network; ``None`` for other content and other types.

    Raises ``ModelError`` for a manifest that cannot be used.
    """
    if data.lstrip()[:1] != b"{":
        return None
    try:
        content = json.loads(data)
        manifest_type, phrase, network = content.get("type"), content.get("wake_word"), content.get("model")
    except (ValueError, RecursionError) as error:
        raise ModelError(f"expected a manifest in JSON, could not read it: {shortened(error, 100)}") from error
    if manifest_type not in _MANIFESTS:
        raise ModelError(f"expected a manifest of type {' or '.join(_MANIFESTS)}, got {shortened(repr(manifest_type))}")
    if manifest_type != kind:
        return None
    settings = content.get(kind)
    cutoff = settings.get("probability_cutoff", OPEN_CUTOFF) if isinstance(settings, dict) else OPEN_CUTOFF
    if kind == "micro":
        _check_settings(content.get("version"), settings)
    if not isinstance(phrase, str) or not phrase.strip() or len(phrase) > MAX_NAME:
        raise ModelError(
            f"expected the phrase as wake_word in the manifest, of up to {MAX_NAME} characters, got "
            f"{shortened(repr(phrase))}"
        )
    cutoff = number(cutoff, "a probability_cutoff in the manifest", 0, 1, error=ModelError)
    if cutoff == 1:
        raise ModelError("expected a probability_cutoff below 1 in the manifest: a probability_cutoff of 1 never fires")
    files = {NETWORK: _network_of(path, network), MANIFEST: json.dumps({**content, "model": NETWORK}).encode()}
    return ForeignFiles(phrase, True, cutoff, files, MANIFEST)


def _network_of(path: Path, network: Any) -> bytes:
    # Imported here: it loads ONNX Runtime.
    from wakeword.model.model import MAX_FILE_BYTES

    if not isinstance(network, str) or Path(network).name != network:
        raise ModelError(
            f"expected the name of a file next to the manifest as its model, got {shortened(repr(network))}"
        )
    with raising(ModelError, f"expected {shortened(network)} next to the manifest, got", OSError, ValueError):
        return read_limited(path.with_name(network), MAX_FILE_BYTES)


def _check_settings(version: Any, settings: Any) -> None:
    """Refuse a manifest that microWakeWord's engines would refuse or run otherwise. ``ModelError``."""
    if version != 2:
        raise ModelError(
            f"expected a manifest of version 2, got {shortened(repr(version))}; get the model's newer files"
        )
    if not isinstance(settings, dict) or "probability_cutoff" not in settings:
        raise ModelError("expected probability_cutoff under micro in the manifest, got none")
    integer(settings.get("sliding_window_size"), "a sliding_window_size in the manifest", 1, 999, error=ModelError)
    if (step := settings.get("feature_step_size", 10)) != 10:
        raise ModelError(f"expected a feature_step_size of 10 ms in the manifest, got {shortened(repr(step))}")


def check_network(folder: Path, wanted: NetworkInput) -> None:
    """Open a network in the engine's own library, which answers what the engine itself would run into. ``ModelError``."""
    installed = importlib.util.find_spec(wanted.package)
    origin = None if installed is None else installed.origin
    library = next((Path(origin or "").parent / "lib").glob("*tensorflowlite_c.*"), None)
    if library is None:
        raise ModelError(f"expected the library of TensorFlow Lite in {wanted.package}, found none: install it again")
    lib = import_module(f"{wanted.package}.wakeword").TfLiteWakeWord(library).lib
    model = lib.TfLiteModelCreateFromFile(str(folder / NETWORK).encode())
    interpreter = lib.TfLiteInterpreterCreate(model, None) if model else None
    try:
        if not model:
            raise ModelError("expected a TFLite file, got one that is truncated or damaged")
        most = _MAX_BYTES + (folder / NETWORK).stat().st_size
        if interpreter:
            _require_small(lib, interpreter, most)  # as the file says
        if not interpreter or lib.TfLiteInterpreterAllocateTensors(interpreter):
            raise ModelError(f"expected a network that {wanted.title} can run, got one with operators that it lacks")
        _require_small(lib, interpreter, most)  # as its operators made them of that; no memory is used yet
        inputs = lib.TfLiteInterpreterGetInputTensor(interpreter, 0)
        outputs = lib.TfLiteInterpreterGetOutputTensor(interpreter, 0)
        shape, scores = (
            [lib.TfLiteTensorDim(tensor, axis) for axis in range(lib.TfLiteTensorNumDims(tensor))]
            for tensor in (inputs, outputs)
        )
        kind = lib.TfLiteTensorType(inputs)
    finally:
        if interpreter:
            lib.TfLiteInterpreterDelete(interpreter)
        if model:
            lib.TfLiteModelDelete(model)
    fits = len(shape) == 3 and shape[0] == 1 and shape[1] > 0 and shape[2] == wanted.width and kind == wanted.kind
    if not fits or math.prod(scores) != 1:
        hint = ""
        if wanted is OPEN_INPUT and shape[-1:] == [MICRO_INPUT.width]:
            hint = "; a model of microWakeWord is given by its manifest, the .json next to it"
        raise ModelError(
            f"expected a network of {wanted.title}, {wanted.words} to one probability, got {_TYPES.get(kind, kind)} "
            f"{tuple(shape)} to {math.prod(scores)}{hint}"
        )


def _require_small(lib: Any, interpreter: int, most: int) -> None:
    """Refuse a network with tensors of more than so many bytes. ``ModelError``."""
    tensor_of = lib.TfLiteInterpreterGetTensor
    tensor_of.argtypes, tensor_of.restype = [ctypes.c_void_p, ctypes.c_int32], ctypes.c_void_p
    tensors = itertools.takewhile(bool, (tensor_of(interpreter, number) for number in itertools.count()))
    if (size := sum(map(lib.TfLiteTensorByteSize, tensors))) > most:
        raise ModelError(f"expected a network with tensors of up to {most} bytes, got {size}: the file is damaged")
