"""openWakeWord's features of a recording: the embeddings that its engines compute, from the shared embedding network.

Their mel spectrogram and ours have the same matrix, and the weights of the embedding are the same. Three things differ.
Their frames begin 112 samples later than ours. Each 80 ms of frames has a floor 80 dB below its loudest value, where
ours is fixed. And a stream begins with 8 s of zeros, so that a score comes at once (pyopen-wakeword 1.1).
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from wakeword.audio.features import FeatureConfig, hann_window
from wakeword.audio.pcm import SAMPLE_RATE, int16_of
from wakeword.base.errors import ModelError
from wakeword.base.types import Array
from wakeword.format.protobuf import BYTES, Field, Reader, encoded_field, encoded_number
from wakeword.format.session import open_session, run_session
from wakeword.verify.embedding import DIMENSION, MAX_STEPS, STEP_FRAMES, STEP_SAMPLES, WARM_UP

LEADING_SILENCE = 8 * SAMPLE_RATE
"""Zeros before a stream."""
_MELS = 32
_N_FFT, _WINDOW, _HOP = 512, 400, 160
_OVERLAP = _N_FFT - _HOP
_RANGE = 8.0
"""Bels from the loudest value of a step to its floor."""
_POWER_FLOOR = np.float32(1e-10)
"""Smallest energy before the logarithm."""
_FRAMES_EARLY = 4
"""Frames by which their embeddings end before the end of a step."""
_GRAPH, _NODE, _CONSTANT, _INPUT = 7, 1, 5, 11
"""Numbers of fields in an ONNX file: the first of the file, the others of its graph."""
_ENERGY, _LOG_MEL = "power", "shifted"
"""Names in the embedding's graph: of its input, and of what its network gets: decibels / 10 + 2."""


def first_sample(embedding: int) -> int:
    """The first sample, counted from the beginning of the recording, that this embedding depends on."""
    return embedding * STEP_SAMPLES + (_N_FFT - _WINDOW) // 2 - LEADING_SILENCE


def last_sample(embedding: int) -> int:
    """The sample after the last one that this embedding depends on."""
    return first_sample(embedding) + (9 * STEP_FRAMES + _FRAMES_EARLY - 1) * _HOP + _WINDOW


class OwwFeatures:
    """Their embeddings. Raises ``ModelError`` if the file of the embedding network is not the one that is known."""

    def __init__(self, embedding: Path) -> None:
        data = embedding.read_bytes()
        self._matrix = _mel_matrix(data)
        self._session = open_session(_network_alone(data), arena=False)
        shapes = {node.name: node.shape for node in self._session.get_inputs()}
        self._caches = {name: shape for name, shape in shapes.items() if name != _LOG_MEL}

    def embeddings(self, blocks: Iterable[Array], *, silence: int = LEADING_SILENCE) -> Array:
        """Blocks of sound, each ``(samples,)`` float32 at 16 kHz -> ``(n, 96)``, from the ``silence`` before it on."""
        # Before the first frame, so that embeddings end where theirs do; they do not reach what is kept below.
        return self._embedded(np.zeros((_FRAMES_EARLY, _MELS), np.float32), _pieces(blocks, before=silence))

    def after_reset(self, samples: Array) -> Array:
        """The embeddings of ``(samples,)`` after openWakeWord for Python was reset: its spectrogram begins with ones."""
        begun = np.ones((WARM_UP * STEP_FRAMES + _FRAMES_EARLY, _MELS), np.float32)
        return self._embedded(begun, _pieces([samples], before=0))

    def _embedded(self, frames: Array, pieces: Iterable[Array]) -> Array:
        """The embeddings of frames ``(frames, 32)`` that come before pieces of sound."""
        window = hann_window(FeatureConfig()).astype(np.float64)
        state = {name: np.zeros(shape, np.float32) for name, shape in self._caches.items()}
        batches = []
        for samples in pieces:
            frames = np.concatenate([frames, self._log_mel(samples, window)])
            count = len(frames) // STEP_FRAMES * STEP_FRAMES
            outputs = ["embeddings", *(f"{name}_next" for name in state)]
            steps, *after = run_session(self._session, outputs, {_LOG_MEL: frames[:count], **state})
            state, frames = dict(zip(state, after, strict=True)), frames[count:]
            batches.append(steps)
        all_steps = np.concatenate([np.zeros((0, DIMENSION), np.float32), *batches])
        return all_steps[WARM_UP:]

    def _log_mel(self, samples: Array, window: np.ndarray) -> Array:
        """``(1280 n + 352,)`` in the range of 16-bit integers -> ``(8 n, 32)``."""
        begin = (_N_FFT - _WINDOW) // 2
        frames = np.lib.stride_tricks.sliding_window_view(samples, _N_FFT)[::_HOP, begin : begin + _WINDOW]
        power = np.abs(np.fft.rfft(frames * window, _N_FFT)) ** 2
        bels = np.log10(np.maximum(power.astype(np.float32) @ self._matrix, _POWER_FLOOR))
        steps = bels.reshape(-1, STEP_FRAMES * _MELS)
        floored = np.maximum(steps, steps.max(axis=1, keepdims=True) - np.float32(_RANGE))
        found: Array = floored.reshape(-1, _MELS) + np.float32(2)
        return found


def _pieces(blocks: Iterable[Array], *, before: int) -> Iterator[Array]:
    """The stream in pieces ``(1280 n + 352,)``, each with the end of the last one; what is left at the end is not used.

    ``before``: zeros before it.
    """
    kept: Array = np.zeros(before, np.float32)
    for block in blocks:
        # As 16-bit integers, which is what their engines take.
        kept = np.concatenate([kept, int16_of(block).astype(np.float32)])
        while len(kept) >= MAX_STEPS * STEP_SAMPLES + _OVERLAP:
            yield kept[: MAX_STEPS * STEP_SAMPLES + _OVERLAP]
            kept = kept[MAX_STEPS * STEP_SAMPLES :]
    # Their engines wait for 480 samples after a step.
    count = (len(kept) - 480) // STEP_SAMPLES
    if count > 0:
        yield kept[: count * STEP_SAMPLES + _OVERLAP]


def _mel_matrix(data: bytes) -> Array:
    """The mel matrix, ``(257, 32)``, in the embedding's file."""
    for field in _graph_fields(data):
        entries = _entries(field)
        if field.number == _CONSTANT and _names(entries, 8) == ["mel_matrix"]:
            (raw,) = (one.content for one in entries if one.number == 9)
            return np.frombuffer(raw, "<f4").reshape(_N_FFT // 2 + 1, _MELS)
    raise ModelError("expected the embedding network of wakeword, got one without its mel matrix")


def _network_alone(data: bytes) -> bytes:
    """The embedding's file without its front end: the input is the log-mel frames, ``(frames, 32)``."""
    graph, front, made = b"", True, set()
    for field in _graph_fields(data):
        names = _names(_entries(field), 1)
        if field.number == _NODE and front:
            made |= set(_names(_entries(field), 2))
            front = _LOG_MEL not in made
        elif not (field.number == _INPUT and names == [_ENERGY]):
            graph += encoded_field(field.number, bytes(field.content))
    if _LOG_MEL not in made:
        raise ModelError("expected the embedding network of wakeword, got one with another front end")
    sizes = encoded_field(1, encoded_field(2, b"frames")) + encoded_field(1, encoded_number(1, _MELS))
    shape = encoded_field(2, encoded_field(1, encoded_number(1, 1) + encoded_field(2, sizes)))
    graph += encoded_field(_INPUT, encoded_field(1, _LOG_MEL.encode()) + shape)
    other = [field for field in Reader().fields(memoryview(data)) if field.number != _GRAPH]
    return b"".join(data[field.start : field.end] for field in other) + encoded_field(_GRAPH, graph)


def _graph_fields(data: bytes) -> list[Field]:
    reader = Reader()
    (graph,) = (field for field in reader.fields(memoryview(data)) if field.number == _GRAPH)
    return list(reader.fields(graph.content))


def _entries(field: Field) -> list[Field]:
    return list(Reader().fields(field.content)) if field.number in (_NODE, _CONSTANT, _INPUT) else []


def _names(entries: Sequence[Field], number: int) -> list[str]:
    return [bytes(one.content).decode() for one in entries if one.number == number and one.kind == BYTES]
