"""A trained model: an ONNX graph, the card inside it, and a self-test of both."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnxruntime

from wakeword.audio.features import FeatureConfig, mfcc
from wakeword.base.checks import file_path
from wakeword.base.errors import ConfigError, ModelError, naming, reason_of
from wakeword.base.files import read_limited
from wakeword.base.text import printable, shortened
from wakeword.base.types import Array
from wakeword.format.card import DEFAULT_HOP, METADATA_KEY, ModelCard, self_test_signal
from wakeword.format.digest import checked_metadata
from wakeword.format.graph import MAX_WIDTH, Dimension, Graph, read_graph
from wakeword.format.session import bound_call, open_session, run_session
from wakeword.model.installed import encoders_folder, model_file, shipped_models
from wakeword.model.lstm import Lstm, NumpyWindows, lstm_of
from wakeword.verify.shared import (
    EMBEDDING_FILE,
    PHONEMES_FILE,
    QUICK_FILE,
    load_embedding,
    load_phonemes,
    load_quick,
    recogniser_extra,
)
from wakeword.verify.verifier import SecondStage
from wakeword.verify.verifier_head import HEAD_KEY, Head, head_of_text

MAX_FILE_BYTES = 64 * 2**20
"""Larger files are refused without reading them; a model of this project takes under 1 MB."""

SELF_TEST_TOLERANCE = 1e-3
"""Largest difference of the self-test's logit from the card's: processors and builds of ONNX Runtime differ by less."""

_FOREIGN = {".json", ".tflite", ".ppn"}
"""What files of other engines end in."""

_STREAMS = 12
"""Streams in one call of a pool."""

State = tuple[Array, ...]
"""The state of windows in progress between calls: arrays ``(1, rows, width)``, one row per window."""


class Model:
    """An ONNX graph that scores frames, with its card. Safe to share between detectors and threads.

    The graph advances many windows in progress, one per row, by the same frames. Its inputs are ``frames``
    (time, n_mfcc), ``picks`` (steps, rows, columns), where a step is ``card.stack`` frames, and the parts of the state,
    ``h`` and ``c`` first, each (1, rows, width); its outputs are ``logit`` (rows,) and the parts of the next state under
    their names with ``_next``. ``picks[t, r]`` is the t-th unit vector, or zero for a step before the window of row r
    begins. The logit of the call that ends a window is the window's logit.
    """

    def __init__(
        self,
        session: onnxruntime.InferenceSession,
        card: ModelCard,
        head: Head | None = None,
        *,
        digest: str,
        lstm: Lstm | None = None,
    ) -> None:
        """``head``: the head of the second stage, which only a card with a verifier has.

        ``lstm``: the network of the graph, if it is one that runs without ONNX Runtime.
        """
        self.card = card
        self.digest = digest
        """SHA-256, in hex, that the file holds of itself and that was checked."""
        self.lstm = lstm
        self._session = session
        self._head = head
        self._second_stage: SecondStage | None = None
        inputs = {node.name: node.shape for node in session.get_inputs()}
        widths = _state_widths(inputs, {node.name for node in session.get_outputs()}, card)
        parts = list(widths)
        self._inputs = ["frames", "picks", *parts]
        self._outputs = ["logit", *(f"{name}_next" for name in parts)]
        self.widths: tuple[int, ...] = tuple(widths.values())
        """Width of each part of the state: the numbers that it holds for one window."""
        self._pooled_by_importance = "importance" in parts

    @property
    def second_stage(self) -> SecondStage | None:
        """The second stage, if the model has one; the networks that models share are loaded when it is first asked for.

        Raises ``ModelError`` if one of them is missing or not the one that the card names, or if the self-test fails.
        """
        if self._head is not None and self._second_stage is None:
            self._second_stage = _load_second_stage(self.card, self._head)
        return self._second_stage

    def stage_one(self) -> "Model":
        """The first stage alone, at its own operating points; the model itself if it has only one.

        Raises ``ConfigError`` if the first stage hears nothing: the model was made from a text.
        """
        if self._head is None:
            return self
        if self.card.verifier is not None and self.card.verifier.by_phonemes_alone:
            raise ConfigError(
                f"expected a trained model to run without its second stage, got '{self.card.phrase}', which is made from "
                "its text and has nothing else; run it as it is (without --no-verify)"
            )
        return Model(self._session, self.card.of_stage_one(), digest=self.digest, lstm=self.lstm)

    def start(self, rows: int, *, late: int = 0) -> State:
        """The state of ``rows`` windows before their first frame.

        ``late`` is the number of steps of the next call that they skip (``picks`` are zero there). During such steps
        everything stays zero except the sum of the attention's importances: it grows by exp(0) = 1, so it begins below 0.
        """
        state = tuple(np.zeros((1, rows, width), np.float32) for width in self.widths)
        if self._pooled_by_importance:
            state[self._inputs.index("importance") - 2][:] = -late
        return state

    def picks(self, frames: int, rows: int) -> Array:
        """The picks with which every row takes all of ``frames`` frames, ``(steps, rows, steps)``."""
        steps = frames // self.card.stack
        return np.repeat(np.eye(steps, dtype=np.float32)[:, None], rows, axis=1)

    def advance(self, frames: Array, state: State, picks: Array | None = None) -> tuple[Array, State]:
        """Advance windows by the given frames.

        Shape: ``(time, n_mfcc)``, parts of ``(1, rows, width)`` and ``(steps, rows, steps)`` float32 -> the logits of
        the windows if they ended here, ``(rows,)``, and their next states. Without ``picks`` every row takes all frames.
        Raises ``ModelError`` if the graph cannot be run.
        """
        if picks is None:
            picks = self.picks(len(frames), state[0].shape[1])
        logits, *next_state = run_session(
            self._session, self._outputs, dict(zip(self._inputs, (frames, picks, *state), strict=True))
        )
        return logits, tuple(next_state)

    def bind(self, frames: Array, picks: Array, state: State, *, logit: Array, next_state: State) -> Callable[[], None]:
        """``advance`` as a call that reads and writes these arrays in place, each C-contiguous float32 of its shape.

        Nothing is allocated, copied or converted in a call. A call raises ``ModelError`` if the graph cannot be run.
        """
        inputs = dict(zip(self._inputs, (frames, picks, *state), strict=True))
        outputs = dict(zip(self._outputs, (logit, *next_state), strict=True))
        return bound_call(self._session, inputs, outputs)


def _state_widths(inputs: Mapping[str, Sequence[Dimension]], outputs: set[str], card: ModelCard) -> dict[str, int]:
    """The parts of the state with their widths. ``ModelError`` for a graph of other inputs and outputs."""
    parts = [name for name in inputs if name not in ("frames", "picks")]
    if not {"frames", "picks", "h", "c"} <= set(inputs) or outputs != {"logit", *(f"{name}_next" for name in parts)}:
        raise ModelError(
            "expected a graph frames, picks, h, c, ... -> logit, h_next, c_next, ..., got "
            f"{shortened(', '.join(inputs))} -> {shortened(', '.join(sorted(outputs)))}"
        )
    if len(inputs["frames"]) != 2 or inputs["frames"][1] != card.features.n_mfcc:
        raise ModelError(
            f"expected frames of {card.features.n_mfcc} coefficients, got shape {shortened(inputs['frames'])}"
        )
    widths = {}
    for name in parts:
        match inputs[name]:
            case [1, str(), int(width)]:
                widths[name] = width
            case shape:
                raise ModelError(
                    f"expected states of shape (1, rows, width), got {shortened(shape)} for {shortened(name)}"
                )
    return widths


def read_model(path: Path | str, *, provider: str = "cpu") -> Model:
    """Load a model file and check it.

    ``provider`` is ``cpu`` or ``cuda``. Raises ``ModelError`` if the file is missing, no regular file, too large, not an
    ONNX file or not of its digest, if it has no card or one of another schema, was trained on features that this runtime
    does not compute, has a graph that `wakeword train` does not write, or fails its self-test.
    """
    path = file_path(path, "the path of a model file")
    with naming(path, ModelError):
        data = read_model_bytes(path)
        if path.suffix in _FOREIGN:
            raise ModelError(
                f"expected a model file (.onnx), got {path.suffix}, as files of other engines end; they are measured, with "
                '`wakeword compare` and pip install "wakeword[peers]", and do not run here'
            )
        return parse_model(data, provider=provider)


def read_model_bytes(path: Path | str) -> bytes:
    """The bytes of a model file, unchecked. ``ModelError`` if it is missing, no regular file or too large."""
    try:
        return read_limited(path, MAX_FILE_BYTES)
    except (OSError, ValueError) as error:
        # A common slip: the name of an included model where a file is asked for.
        included = shipped_models().get(str(path))
        hint = f"; the file of the included model is {printable(included)}" if included is not None else ""
        raise ModelError(f"expected a model file (.onnx), could not read it: {reason_of(error)}{hint}") from error


def parse_model(data: bytes, *, provider: str = "cpu") -> Model:
    """A model from the bytes of its file, checked as ``read_model`` does.

    In this order, so that nothing is used before it has been checked: digest, card, graph, and the self-test.
    """
    metadata, digest = checked_metadata(data)
    text = metadata.get(METADATA_KEY)
    if text is None:
        raise ModelError(
            "expected a model file from `wakeword train`, got an ONNX file without a wakeword card; "
            "of a model of openWakeWord the commands that measure take the .tflite"
        )
    card = ModelCard.from_json(text)
    if digest is None:
        raise ModelError("expected a digest in a model file, got none: the file is damaged")
    if card.features.fingerprint != FeatureConfig().fingerprint:
        raise ModelError(
            f"expected features {FeatureConfig().fingerprint} of this runtime, got {card.features.fingerprint}; "
            "train the model again"
        )
    graph = read_graph(data)
    _check_graph(graph, card)
    head = None if card.verifier is None else head_of_text(metadata.get(HEAD_KEY))
    # Weights that are not finite, or too large, are the self-test's to refuse, without warnings of numpy before.
    with np.errstate(all="ignore"):
        # On another device the graph runs there.
        lstm = lstm_of(graph, card) if provider == "cpu" else None
        model = Model(open_session(data, provider), card, head, digest=digest, lstm=lstm)
        _self_test(model)
    return model


def _check_graph(graph: Graph, card: ModelCard) -> None:
    """Refuse inputs and sizes that no detector gives and takes. ``ModelError``."""
    widths = _state_widths(graph.inputs, set(graph.outputs), card)
    if sum(widths.values()) > MAX_WIDTH:
        raise ModelError(
            f"expected states of up to {MAX_WIDTH} numbers for a window, got {sum(widths.values())} in {len(widths)} states"
        )
    hop, rows = _hop_and_rows(card)
    # A whole window, as in the self-test; a hop, as in a detector; and the hops of many streams, as in a pool.
    for frames, count in ((card.window, 1), (hop, rows), (_STREAMS * hop, _STREAMS * rows)):
        steps = frames // card.stack
        states = {name: (1, count, width) for name, width in widths.items()}
        graph.check_sizes({"frames": (frames, card.features.n_mfcc), "picks": (steps, count, steps), **states})


def _hop_and_rows(card: ModelCard) -> tuple[int, int]:
    """Frames of a usual hop, and the windows that are then in progress."""
    hop = max(1, min(DEFAULT_HOP, card.window) // card.stack) * card.stack
    return hop, -(-card.window // hop)


def _load_second_stage(card: ModelCard, head: Head) -> SecondStage:
    verifier, folder = card.verifier, encoders_folder()
    assert verifier is not None
    with naming(f"second stage of '{card.phrase}'", ModelError):
        embedding = load_embedding(folder / EMBEDDING_FILE, verifier.embedding_digest)
        phonemes = quick = opinion = None
        if verifier.phonemes and verifier.phonemes_digest is not None:
            extra = recogniser_extra(card.language)
            phonemes = load_phonemes(folder / PHONEMES_FILE, verifier.phonemes_digest, (extra,))
            if verifier.quick_digest is not None:
                quick = load_quick(folder / QUICK_FILE, verifier.quick_digest)
            if verifier.opinion_digest is not None:
                opinion = load_phonemes(folder / PHONEMES_FILE, verifier.opinion_digest)
        stage = SecondStage(verifier, head, embedding, phonemes, quick=quick, opinion=opinion)
        logit = stage.self_test()
    if not abs(logit - verifier.self_test) <= SELF_TEST_TOLERANCE:
        raise ModelError(
            f"self-test of the second stage of '{card.phrase}' failed: expected logit {verifier.self_test:.4f}, got "
            f"{logit:.4f}; the file is damaged or this machine computes wrongly"
        )
    return stage


def _self_test(model: Model) -> None:
    card = model.card
    signal = self_test_signal(card.features.samples_in(card.window), card.features.sample_rate)
    window = mfcc(signal)
    hop, rows = _hop_and_rows(card)
    logits_of_windows: list[float] = []
    # Once in two calls, to check that the state is carried over and that the graph takes the card's number of frames, and
    # once hop by hop in as many windows as a detector has in progress.
    for number, size in ((1, card.window), (rows, hop)):
        state = model.start(number)
        logits, state = model.advance(window[: card.stack], state)
        for start in range(card.stack, card.window, size):
            logits, state = model.advance(window[start : start + size], state)
        logits_of_windows += logits.tolist() if logits.shape == (number,) else [math.nan]
    if model.lstm is not None:
        logits_of_windows += NumpyWindows([model.lstm], rows=1, steps=card.window // card.stack, late=0).advance(window)
    if not all(abs(logit - card.self_test.logit) <= SELF_TEST_TOLERANCE for logit in logits_of_windows):
        raise ModelError(
            f"self-test failed: expected logit {card.self_test.logit:.4f}, got {shortened(logits_of_windows)}; "
            "the file is damaged or this machine computes wrongly"
        )


def load_model(name: Path | str, *, provider: str = "cpu") -> Model:
    """Load a model that is known by its keyword (``"jarvis"``), included or installed, or any model by its file.

    Raises ``ModelError`` if there is no such keyword or the file is not a valid model.
    """
    return read_model(model_file(name), provider=provider)
