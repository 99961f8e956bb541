"""A trained model: an ONNX graph, the card inside it, and the proof that both still work."""

import math
from importlib.resources import files
from pathlib import Path

import numpy as np
import onnxruntime

from wakeword.card import METADATA_KEY, ModelCard, self_test_signal
from wakeword.errors import ConfigError, ModelError
from wakeword.features import Array, FeatureConfig, mfcc

MAX_FILE_BYTES = 64 * 2**20
"""Larger files are refused unread; a model of this project takes under 1 MB."""

SELF_TEST_TOLERANCE = 1e-3
"""How far the logit of the self-test may lie from the card's: what processors and builds of ONNX Runtime differ by."""

_OUTPUTS = ["logit", "next_state"]
_PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}


class Model:
    """An ONNX graph that scores frames, with its card. Safe to share between detectors and threads.

    The graph advances many windows that are under way, one to a row, by the same frames. It takes ``frames``
    (time, n_mfcc), ``state`` (parts, rows, hidden) and ``picks`` (steps, rows, steps), where a step is ``card.stack``
    frames, and gives ``logit`` (rows,) and ``next_state``. ``picks[t, r]`` is the t-th unit vector, or zero for a step
    before the window of row r begins. A window begins with a state of zeros, which stays zero over such steps; the
    logit of the call that ends it is the window's logit.
    """

    def __init__(self, session: onnxruntime.InferenceSession, card: ModelCard) -> None:
        self.card = card
        self._session = session
        inputs = {node.name: node.shape for node in session.get_inputs()}
        outputs = {node.name for node in session.get_outputs()}
        expected = {"frames", "state", "picks"}, {"logit", "next_state"}
        if (set(inputs), outputs) != expected:
            raise ModelError(f"expected a graph {expected[0]} -> {expected[1]}, got {set(inputs)} -> {outputs}")
        if len(inputs["frames"]) != 2 or inputs["frames"][1] != card.features.n_mfcc:
            raise ModelError(f"expected frames of {card.features.n_mfcc} coefficients, got shape {inputs['frames']}")
        if [type(size) for size in inputs["state"]] != [int, str, int]:
            raise ModelError(f"expected a state of shape (parts, rows, hidden), got {inputs['state']}")
        self._parts: int = inputs["state"][0]
        self._hidden: int = inputs["state"][2]

    def start(self, rows: int) -> Array:
        """The state of so many windows before their first frame, ``(parts, rows, hidden)``."""
        return np.zeros((self._parts, rows, self._hidden), np.float32)

    def picks(self, frames: int, rows: int) -> Array:
        """The picks by which every row takes all of so many frames, ``(steps, rows, steps)``."""
        steps = frames // self.card.stack
        return np.repeat(np.eye(steps, dtype=np.float32)[:, None], rows, axis=1)

    def advance(self, frames: Array, state: Array, picks: Array | None = None) -> tuple[Array, Array]:
        """Advance windows by some frames.

        Shape: ``(time, n_mfcc)``, ``(parts, rows, hidden)`` and ``(steps, rows, steps)`` float32 -> the logits of the
        windows if they ended here, ``(rows,)``, and their next states. Without ``picks`` every row takes all frames.
        """
        if picks is None:
            picks = self.picks(len(frames), state.shape[1])
        logits, next_state = self._session.run(_OUTPUTS, {"frames": frames, "state": state, "picks": picks})
        return logits, next_state

    def bind(self, picks: Array) -> "BoundGraph":
        """The graph for repeated calls with the same ``picks``, ``(steps, rows, steps)``."""
        return BoundGraph(self._session, len(picks) * self.card.stack, self.start(picks.shape[1]), picks)


class BoundGraph:
    """The graph of a model, bound to buffers: write ``frames`` and ``state``, ``run``, read ``logit`` and ``next_state``.

    Shapes as in ``Model.advance``. Nothing is allocated or converted in a call, which saves 8 of the 64 us that a hop
    takes in a running engine (hidden 64).
    """

    def __init__(self, session: onnxruntime.InferenceSession, frames: int, state: Array, picks: Array) -> None:
        n_mfcc = next(node.shape[1] for node in session.get_inputs() if node.name == "frames")
        self.frames: Array = np.zeros((frames, n_mfcc), np.float32)
        self.state = state
        self.picks = picks
        self.logit: Array = np.zeros(state.shape[1], np.float32)
        self.next_state: Array = np.zeros_like(state)
        self._session = session
        self._binding: onnxruntime.IOBinding | None = None
        # Values on the CPU share the memory of their array; elsewhere they are copies, and binding gains nothing.
        if session.get_providers()[0] == _PROVIDERS["cpu"]:
            value = onnxruntime.OrtValue.ortvalue_from_numpy
            self._binding = session.io_binding()
            for name, array in self._inputs().items():
                self._binding.bind_ortvalue_input(name, value(array))
            for name, array in zip(_OUTPUTS, (self.logit, self.next_state), strict=True):
                self._binding.bind_ortvalue_output(name, value(array))

    def _inputs(self) -> dict[str, Array]:
        return {"frames": self.frames, "state": self.state, "picks": self.picks}

    def run(self) -> None:
        """Advance all rows by ``frames``."""
        if self._binding is not None:
            self._session.run_with_iobinding(self._binding)
        else:
            self.logit[:], self.next_state[:] = self._session.run(_OUTPUTS, self._inputs())


def score_of_logit(logit: float) -> float:
    """The logistic function, in float64: thresholds for rare false accepts lie so near to 1 that float32 has ties."""
    # 1 / (1 + exp(-x)), in a form that cannot overflow.
    return 0.5 + 0.5 * math.tanh(0.5 * logit)


def read_model(path: Path | str, *, provider: str = "cpu") -> Model:
    """Load a model file and check it.

    ``provider`` is ``cpu`` or ``cuda``. Raises ``ModelError`` if the file is missing, too large, no ONNX file, has no
    card or one of another schema, was trained on features that this runtime does not compute, or fails its self-test.
    """
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise ModelError(f"{path}: expected a model file of at most {MAX_FILE_BYTES} bytes, got {size}")
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: expected a model file (.onnx), could not read it: {error.strerror}") from error
    try:
        return parse_model(data, provider=provider)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error


def parse_model(data: bytes, *, provider: str = "cpu") -> Model:
    """A model from the bytes of its file, checked as ``read_model`` does."""
    session = _open_session(data, provider)
    text = session.get_modelmeta().custom_metadata_map.get(METADATA_KEY)
    if text is None:
        raise ModelError("an ONNX file, but without a wakeword card; expected one that `wakeword train` wrote")
    card = ModelCard.from_json(text)
    if card.features.fingerprint != FeatureConfig().fingerprint:
        raise ModelError(
            f"expected features {FeatureConfig().fingerprint} of this runtime, got {card.features.fingerprint}; "
            "train the model again"
        )
    model = Model(session, card)
    _self_test(model)
    return model


def _open_session(data: bytes, provider: str) -> onnxruntime.InferenceSession:
    if provider not in _PROVIDERS:
        raise ConfigError(f"expected provider {' or '.join(_PROVIDERS)}, got {provider!r}")
    if _PROVIDERS[provider] not in onnxruntime.get_available_providers():
        raise ConfigError(
            f"provider {provider!r} is not in this installation of ONNX Runtime; install onnxruntime-gpu or use cpu"
        )
    options = onnxruntime.SessionOptions()
    # By default the pool's threads spin between calls: at 25 small calls a second that burns most of a core.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(data, options, providers=[_PROVIDERS[provider]])
    except Exception as error:  # ONNX Runtime's exceptions share no public base class
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelError(f"not an ONNX model that can be run ({reason})") from error


def _self_test(model: Model) -> None:
    card = model.card
    signal = self_test_signal(card.features.samples_in(card.window), card.features.sample_rate)
    window = mfcc(signal, card.features)
    try:
        state = model.start(1)
        # In two calls: proves that the state carries on, and that the graph takes as many frames as the card says.
        for frames in (window[: card.stack], window[card.stack :]):
            if len(frames):
                logits, state = model.advance(frames, state)
    except Exception as error:  # as above
        raise ModelError(f"the graph does not run: {str(error).splitlines()[0]}") from error
    if logits.shape != (1,) or not abs(float(logits[0]) - card.self_test.logit) <= SELF_TEST_TOLERANCE:
        raise ModelError(
            f"self-test failed: expected logit {card.self_test.logit:.4f}, got {logits.ravel()[:4]}; "
            "the file is damaged or this machine computes wrongly"
        )


def assets_folder() -> Path:
    """Where models, phrases and the demo recording lie: inside the package, or beside it in a checkout."""
    installed = Path(str(files("wakeword"))) / "assets"
    return installed if installed.is_dir() else installed.parent.parent / "assets"


def shipped_models() -> dict[str, Path]:
    """The models that come with the package: keyword -> file."""
    return {path.stem: path for path in sorted((assets_folder() / "models").glob("*.onnx"))}


def load_model(name: Path | str, *, provider: str = "cpu") -> Model:
    """A shipped model by its keyword (``"marvin"``), or any model by its file.

    Raises ``ModelError`` if there is no such keyword or the file is not a valid model.
    """
    shipped = shipped_models()
    if str(name) in shipped:
        return read_model(shipped[str(name)], provider=provider)
    path = Path(name)
    if path.suffix != ".onnx" and not path.exists():
        known = ", ".join(shipped) or "none"
        raise ModelError(f"no shipped model for keyword {str(name)!r} (there are: {known}); train one or give a file")
    return read_model(path, provider=provider)
