"""Wake-word files of other engines: which engine a file belongs to, by its content, and what it says of itself.

A manifest (JSON) with its ``.tflite`` next to it, of microWakeWord or, as linux-voice-assistant has it, of openWakeWord; or
a classifier of openWakeWord alone. The engines' own packages run them: ``pip install "wakeword[peers]"``.
"""

import hashlib
import importlib.util
import json
import math
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from wakeword.base.errors import ConfigError, ModelError
from wakeword.base.files import read_limited
from wakeword.base.text import shortened
from wakeword.model.model import MAX_FILE_BYTES
from wakeword_tools.measure.foreign_streams import OPEN_CUTOFF, ForeignStream, MicroStream, OpenStream

_NETWORK, _MANIFEST = "model.tflite", "model.json"
_FLOAT32, _INT8 = 1, 9
_TYPES = {_FLOAT32: "float32", 2: "int32", 3: "uint8", _INT8: "int8"}
"""``TfLiteType`` of TensorFlow's C interface."""
_VERSION = re.compile(r"_v\d[\d.]*$")
"""As in hey_jarvis_v0.1."""
_TFLITE = b"TFL3"
"""Bytes 4 to 7 of a TFLite file."""


class _Engine(NamedTuple):
    """An engine, and the files that it runs."""

    name: str
    package: str
    input: str
    """The input of its networks, in words."""
    kind: int
    width: int
    """Type of the input, and its last dimension; the first one is 1."""
    where: str
    """Where its users set a threshold."""
    open: Callable[[Path], ForeignStream]
    given: str
    """The file that ``open`` takes."""


_MICRO = _Engine(
    "microWakeWord",
    "pymicro_wakeword",
    "int8 (1, frames, 40)",
    _INT8,
    40,
    "as probability_cutoff in its manifest (.json)",
    MicroStream,
    _MANIFEST,
)
_OPEN = _Engine(
    "openWakeWord",
    "pyopen_wakeword",
    "float32 (1, 16, 96)",
    _FLOAT32,
    96,
    "as the threshold of the engine that runs it",
    OpenStream,
    _NETWORK,
)
_ENGINES = {"micro": _MICRO, "openWakeWord": _OPEN}
"""By the ``type`` of a manifest, under which its settings stand too."""


@dataclass(frozen=True)
class Cutoff:
    """The threshold that a file names, or else its engine's makers. No rates were promised for it."""

    threshold: float
    name: str = "cutoff"


@dataclass(frozen=True)
class ForeignCard:
    """All that is known of a file of another engine without recordings."""

    engine: str
    phrase: str
    """The wake word; from the file's name if ``names_phrase`` is false."""
    names_phrase: bool
    cutoff: float
    """The engine fires above it."""
    where: str
    """Where a threshold for it is set, in words."""

    default_point = Cutoff.name

    @property
    def operating_points(self) -> tuple[Cutoff, ...]:
        """The cutoff as a threshold here, which fires at it too."""
        return (Cutoff(math.nextafter(self.cutoff, math.inf)),)

    def point(self, name: str | None = None) -> Cutoff:
        """The cutoff. ``ConfigError`` for another name."""
        (only,) = self.operating_points
        if name not in (None, only.name):
            raise ConfigError(f"a file of {self.engine} has no operating points but its {only.name}, got {name!r}")
        return only


class ForeignModel:
    """A model of another engine, in its files; a copy in another process opens the engine again."""

    def __init__(self, engine: str, card: ForeignCard, files: Mapping[str, bytes]) -> None:
        """``engine``: the type of its manifest. ``files``: name -> content."""
        self.card = card
        self._engine, self._files = engine, dict(files)
        self._stream: ForeignStream | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_stream": None, "_folder": None}

    @property
    def digest(self) -> str:
        """SHA-256 of the files, in hex."""
        return hashlib.sha256(b"".join(self._files[name] for name in sorted(self._files))).hexdigest()

    @property
    def stream(self) -> ForeignStream:
        """The running engine, for one recording at a time; it is started when it is first asked for.

        Raises ``ConfigError`` if its package is not installed, and ``ModelError`` for a network that it cannot run.
        """
        if self._stream is None:
            engine = _ENGINES[self._engine]
            # The engines read files by their paths, microWakeWord's at each reset.
            self._folder = tempfile.TemporaryDirectory(prefix="wakeword-")
            folder = Path(self._folder.name)
            for name, content in self._files.items():
                (folder / name).write_bytes(content)
            _check_network(engine, folder / _NETWORK)
            self._stream = engine.open(folder / engine.given)
        return self._stream

    def stage_one(self) -> "ForeignModel":
        """The model itself, as of a model of one stage."""
        return self


def parse_foreign(path: Path, data: bytes) -> ForeignModel | None:
    """The model in a file that has this content; ``None`` if it is none of another engine that is known here.

    The engine is started, so that nothing else is wrong with it later. Raises ``ConfigError`` and ``ModelError`` as
    ``ForeignModel.stream``, and ``ModelError`` for a manifest that cannot be used.
    """
    if data.lstrip()[:1] == b"{":
        model = _of_manifest(path, data)
    elif data[4:8] == _TFLITE:
        phrase = _VERSION.sub("", path.stem).replace("_", " ").strip() or "wake word"
        card = ForeignCard(_OPEN.name, phrase, False, OPEN_CUTOFF, _OPEN.where)
        model = ForeignModel("openWakeWord", card, {_NETWORK: data})
    else:
        return None
    _ = model.stream
    return model


def _of_manifest(path: Path, data: bytes) -> ForeignModel:
    try:
        content = json.loads(data)
        kind, phrase, network = content.get("type"), content.get("wake_word"), content.get("model")
        engine = _ENGINES.get(kind) if isinstance(kind, str) else None
        settings = content.get(kind) if engine else None
        cutoff = settings.get("probability_cutoff", OPEN_CUTOFF) if isinstance(settings, dict) else OPEN_CUTOFF
    except (ValueError, RecursionError) as error:
        raise ModelError(f"expected a manifest in JSON, could not read it: {shortened(error, 100)}") from error
    if engine is None:
        raise ModelError(f"expected a manifest of type {' or '.join(_ENGINES)}, got {shortened(repr(kind))}")
    if engine is _MICRO:
        _check_settings(content.get("version"), settings)
    if not isinstance(phrase, str) or not phrase.strip():
        raise ModelError(f"expected the phrase as wake_word in the manifest, got {shortened(repr(phrase))}")
    if isinstance(cutoff, bool) or not isinstance(cutoff, int | float) or not 0 <= cutoff <= 1:
        raise ModelError(f"expected a probability_cutoff of 0 to 1 in the manifest, got {shortened(repr(cutoff))}")
    if not isinstance(network, str) or Path(network).name != network:
        raise ModelError(
            f"expected the name of a file next to the manifest as its model, got {shortened(repr(network))}"
        )
    try:
        found = read_limited(path.with_name(network), MAX_FILE_BYTES)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ModelError(f"expected {shortened(network)} next to the manifest, could not read it: {reason}") from error
    files = {_NETWORK: found, _MANIFEST: json.dumps({**content, "model": _NETWORK}).encode()}
    return ForeignModel(kind, ForeignCard(engine.name, phrase, True, float(cutoff), engine.where), files)


def _check_settings(version: Any, settings: Any) -> None:
    """Refuse a manifest that microWakeWord's engines would refuse or run otherwise. ``ModelError``."""
    if version != 2 or isinstance(version, bool):
        raise ModelError(
            f"expected a manifest of version 2, got {shortened(repr(version))}; get the model's newer files"
        )
    if not isinstance(settings, dict) or "probability_cutoff" not in settings:
        raise ModelError("expected probability_cutoff under micro in the manifest, got none")
    size = settings.get("sliding_window_size")
    if isinstance(size, bool) or not isinstance(size, int) or not 0 < size < 1_000:
        raise ModelError(f"expected a sliding_window_size of 1 or more in the manifest, got {shortened(repr(size))}")
    if (step := settings.get("feature_step_size", 10)) != 10:
        raise ModelError(f"expected a feature_step_size of 10 ms in the manifest, got {shortened(repr(step))}")


def _check_network(engine: _Engine, file: Path) -> None:
    """Open a network in the engine's own library, which answers what the engine itself would run into."""
    installed = importlib.util.find_spec(engine.package)
    library = None
    if installed is not None and installed.origin is not None:
        library = next((Path(installed.origin).parent / "lib").glob("*tensorflowlite_c.*"), None)
    if library is None:
        distribution = engine.package.replace("_", "-")
        raise ConfigError(
            f'expected {distribution}, which runs files of {engine.name}, found none: pip install "wakeword[peers]"'
        )
    lib = import_module(f"{engine.package}.wakeword").TfLiteWakeWord(library).lib
    model = lib.TfLiteModelCreateFromFile(str(file).encode())
    interpreter = lib.TfLiteInterpreterCreate(model, None) if model else None
    try:
        if not model:
            raise ModelError("expected a TFLite file, got one that is truncated or damaged")
        if not interpreter or lib.TfLiteInterpreterAllocateTensors(interpreter):
            raise ModelError(f"expected a network that {engine.name} can run, got one with operators that it lacks")
        given = lib.TfLiteInterpreterGetInputTensor(interpreter, 0)
        made = lib.TfLiteInterpreterGetOutputTensor(interpreter, 0)
        shape, scores = (
            [lib.TfLiteTensorDim(one, axis) for axis in range(lib.TfLiteTensorNumDims(one))] for one in (given, made)
        )
        kind = lib.TfLiteTensorType(given)
    finally:
        if interpreter:
            lib.TfLiteInterpreterDelete(interpreter)
        if model:
            lib.TfLiteModelDelete(model)
    fits = len(shape) == 3 and shape[0] == 1 and shape[1] > 0 and shape[2] == engine.width and kind == engine.kind
    if not fits or math.prod(scores) != 1:
        hint = ""
        if engine is _OPEN and shape[-1:] == [_MICRO.width]:
            hint = "; a model of microWakeWord is given by its manifest, the .json next to it"
        raise ModelError(
            f"expected a network of {engine.name}, {engine.input} to one probability, got {_TYPES.get(kind, kind)} "
            f"{tuple(shape)} to {math.prod(scores)}{hint}"
        )
