"""The speech embedding, a network that all words share, as an exact stream of 96 numbers every 80 ms.

It was trained on a great many speakers and maps the same word to nearby points for any of them (Lin et al., "Training
Keyword Spotters with Limited and Synthesized Speech Data", ICASSP 2020). One embedding covers 76 frames of log-mel
energies. Frame ``j`` ends with MFCC frame ``j``: it covers the samples ``160 j - 112`` to ``160 j + 400``; its
window of 400 in their middle leaves ``160 j - 56`` to ``160 j + 344``.
"""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
import onnxruntime

from wakeword.audio.features import FeatureConfig, hann_window
from wakeword.audio.history import SamplesOf
from wakeword.base.errors import AudioFormatError, ModelError
from wakeword.base.types import Array
from wakeword.format.card import self_test_signal
from wakeword.format.session import bound_call, run_session

STEP_FRAMES = 8
"""Frames from one embedding to the next."""
DIMENSION = 96
WARM_UP = 9
"""Steps from the beginning of a stream before its first embedding that saw all its 76 frames."""

_N_FFT = 512
_BEFORE = 56
"""Samples by which a frame begins before the MFCC frame of its number."""
_CONFIG = FeatureConfig()
_HOP = _CONFIG.hop_length
STEP_SAMPLES = STEP_FRAMES * _HOP
"""Samples from one embedding to the next."""
STEP_OVERLAP = _CONFIG.n_fft - _HOP
"""Samples of a step's last frame that belong to the next step too."""
MAX_STEPS = 500
"""Steps of a recording in one call: 40 s, so that memory does not grow with it."""
_CALL_SIZES = (5, 4, 2)
"""Steps that one call may take, largest first: a beginning takes 25, a hop 2, and what phonemes share 4. Calls of 12 gained
nothing."""
_CACHED = 40
"""Embeddings that are kept for other keywords: their windows of the same audio come later."""


class EmbeddingNetwork:
    """The network, any number of steps at a time. Safe to share between threads. ``ModelError`` for another graph.

    The quick recogniser is a network of the same form, with other outputs and a shorter memory.
    """

    def __init__(self, session: onnxruntime.InferenceSession) -> None:
        self._session = session
        shapes = {node.name: node.shape for node in session.get_inputs()}
        self._caches = [name for name in shapes if name != "power"]
        if shapes.get("power", [])[1:] != [_N_FFT // 2 + 1]:
            raise ModelError(f"expected an embedding network of power spectra, got one of {shapes}")
        self._shapes = [shapes[name] for name in self._caches]
        self._outputs = ["embeddings", *(f"{name}_next" for name in self._caches)]
        self.width: int = next(node.shape[1] for node in session.get_outputs() if node.name == "embeddings")
        """Numbers of a step."""

    def start(self) -> list[Array]:
        """The caches before the first step: zeros, each of the shape that the network declares."""
        return [np.zeros(shape, np.float32) for shape in self._shapes]

    def power(self, samples: Array) -> Array:
        """Power spectra ``(8 n, 257)`` of the frames of n steps.

        ``samples``: ``(1280 n + 240,)`` float32, from 56 before the first step's first MFCC frame on. Raises
        ``AudioFormatError`` for another number of samples.
        """
        count, rest = divmod(len(samples) - STEP_OVERLAP, STEP_SAMPLES)
        if count < 1 or rest:
            raise AudioFormatError(
                f"expected 1280 n + {STEP_OVERLAP} samples for n steps of the embedding, got {len(samples)}"
            )
        power: Array = np.empty((count * STEP_FRAMES, _N_FFT // 2 + 1), np.float32)
        _Spectra(power)(samples)
        return power

    def advance(self, power: Array, caches: list[Array]) -> tuple[Array, list[Array]]:
        """Advance by n steps: spectra ``(8 n, 257)`` float32 -> embeddings ``(n, 96)`` and the next caches."""
        inputs = dict(zip(self._caches, caches, strict=True))
        steps, *after = run_session(self._session, self._outputs, {"power": power, **inputs})
        return steps, after

    def bind(self, power: Array, caches: list[Array], *, embeddings: Array, after: list[Array]) -> Callable[[], None]:
        """``advance`` as a call on arrays of its shapes, C-contiguous float32, which it reads and writes: half the time."""
        outputs = dict(zip(self._outputs, [embeddings, *after], strict=True))
        return bound_call(self._session, {"power": power, **dict(zip(self._caches, caches, strict=True))}, outputs)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of steps in one call that give the same digits as single steps on this processor, largest first.

        Rounding depends on how ONNX Runtime adds up for a shape, but not on the numbers that are added: where a signal with
        all frequencies comes out the same in every digit, every other does.
        """
        count = 2 * max(_CALL_SIZES)
        samples = self_test_signal(count * STEP_SAMPLES + STEP_OVERLAP)

        def run(*sizes: int) -> list[Array]:
            steps = EmbeddingSteps(self, sizes)
            return [steps.advance(lambda start, end: samples[start:end], 0, count), *steps.caches]

        alone = run(1)
        same = [size for size in _CALL_SIZES if all(map(np.array_equal, alone, run(size, 1)))]
        return (*same, 1)


class _Spectra:
    """Power spectra of a fixed number of frames, written to ``power``, ``(frames, 257)``; keeps its working arrays."""

    def __init__(self, power: Array) -> None:
        self._power = power
        self._window = np.float64(32_767) * hann_window(_CONFIG)
        # In float64: a quiet band next to a loud one keeps its digits. The mel matrix sets the length of the transform;
        # where the window stands in it does not change the power.
        self._padded = np.zeros((len(power), _N_FFT))
        self._spectra = np.empty(power.shape, np.complex128)

    def __call__(self, samples: Array) -> None:
        """``(160 frames + 240,)`` float32, C-contiguous: the caller checks it, as memory beyond it would be read."""
        frames: Array = np.ndarray((len(self._power), _CONFIG.n_fft), np.float32, samples, strides=(4 * _HOP, 4))
        np.multiply(frames, self._window, out=self._padded[:, : _CONFIG.n_fft])
        np.fft.rfft(self._padded, out=self._spectra)
        parts = self._spectra.view(np.float64)
        np.multiply(parts, parts, out=parts)
        np.add(parts[:, ::2], parts[:, 1::2], out=self._power)


class EmbeddingSteps:
    """The network bound to the arrays of one stream, step after step. Not safe for use by several threads."""

    def __init__(self, network: EmbeddingNetwork, sizes: Sequence[int]) -> None:
        """``sizes``: numbers of steps in a call, largest first and 1 last."""
        self.sizes = tuple(sizes)
        self.width = network.width
        # A call writes the caches that the next one reads.
        self._caches = [network.start(), network.start()]
        self._turn = 0
        self._calls = [_Call(network, size, self._caches) for size in sizes]

    @property
    def caches(self) -> list[Array]:
        """The caches for the next step, in the shapes of ``EmbeddingNetwork.start``."""
        return self._caches[self._turn]

    def begin(self) -> None:
        """Forget all steps."""
        for cache in self.caches:
            cache[:] = 0

    def advance(self, samples_of: SamplesOf, start: int, count: int) -> Array:
        """Advance by ``count`` steps, from sample ``start`` on: their embeddings, ``(count, 96)``."""
        embeddings: Array = np.empty((count, self.width), np.float32)
        done = 0
        while done < count:
            call = next(call for call in self._calls if call.size <= count - done)
            first = start + done * STEP_SAMPLES
            call.spectra(samples_of(first, first + call.size * STEP_SAMPLES + STEP_OVERLAP))
            call.runs[self._turn]()
            self._turn = 1 - self._turn
            embeddings[done : done + call.size] = call.embeddings
            done += call.size
        return embeddings


class _Call:
    """The network bound to arrays for ``size`` steps."""

    def __init__(self, network: EmbeddingNetwork, size: int, caches: list[list[Array]]) -> None:
        self.size = size
        power: Array = np.zeros((size * STEP_FRAMES, _N_FFT // 2 + 1), np.float32)
        self.spectra = _Spectra(power)
        self.embeddings: Array = np.zeros((size, network.width), np.float32)
        self.runs = [
            network.bind(power, here, embeddings=self.embeddings, after=there) for here, there in (caches, caches[::-1])
        ]


class EmbeddingStream:
    """The embeddings of one stream, computed where they are asked for. Not safe for use by several threads.

    Embedding ``k`` ends with frame ``8 k + 7``. It is the same in every digit wherever the steps before it began:
    ``WARM_UP`` steps replace all that is kept between steps, and several steps are one call only where that makes no
    difference, see ``EmbeddingNetwork.sizes``.
    """

    def __init__(self, network: EmbeddingNetwork) -> None:
        self._steps = EmbeddingSteps(network, network.sizes)
        self._known: dict[int, Array] = {}
        self._next = self._exact_from = 0
        self._has_begun = False

    def newest(self, frame: int, count: int, samples_of: SamplesOf) -> Array:
        """The newest ``count`` embeddings that end at MFCC frame ``frame`` or before, ``(count, 96)``, oldest first.

        Needs the samples from ``reach(count)`` before the end of that frame on.
        """
        last = (frame + 1) // STEP_FRAMES - 1
        wanted = range(last - count + 1, last + 1)
        missing = [step for step in wanted if step not in self._known]
        if missing:
            self._compute(missing[0], missing[-1], samples_of)
        newest: Array = np.stack([self._known[step] for step in wanted])
        self._known = {step: embedding for step, embedding in self._known.items() if step > last - _CACHED}
        return newest

    def _compute(self, first: int, last: int, samples_of: SamplesOf) -> None:
        """Compute the embeddings ``first`` to ``last``; others on the way there too."""
        # Go on from the last step unless a new beginning is cheaper or the stream is past the first already.
        ready = self._has_begun and max(self._next, self._exact_from) <= first <= self._next + WARM_UP
        if not ready:
            self._steps.begin()
            self._has_begun = True
            self._next, self._exact_from = first - WARM_UP, first
        computed = self._steps.advance(samples_of, self._next * STEP_SAMPLES - _BEFORE, last + 1 - self._next)
        for step, embedding in enumerate(computed, self._next):
            if step >= self._exact_from:
                self._known[step] = embedding
        self._next = last + 1


def reach(count: int) -> int:
    """Samples before the end of an MFCC frame that the newest ``count`` embeddings at that frame depend on, at most."""
    # Up to 7 frames come after the end of the newest embedding.
    return _CONFIG.samples_in((count + WARM_UP) * STEP_FRAMES + STEP_FRAMES - 1) + _BEFORE


def embeddings_of(network: EmbeddingNetwork, samples: Array) -> Array:
    """All embeddings of a recording, ``(samples,)`` float32 at 16 kHz -> ``(n, 96)``: the same as of a stream, to rounding.

    Embedding ``k`` ends with frame 8 k + 7; the first ones see the silence before the stream.
    """
    count = _CONFIG.frames_in(len(samples)) // STEP_FRAMES
    if count == 0:
        return np.zeros((0, DIMENSION), np.float32)
    padded = np.concatenate([np.zeros(WARM_UP * STEP_SAMPLES + _BEFORE, np.float32), samples])
    caches, batches = network.start(), []
    for first in range(0, WARM_UP + count, MAX_STEPS):
        end = min(first + MAX_STEPS, WARM_UP + count)
        power = network.power(padded[first * STEP_SAMPLES : end * STEP_SAMPLES + STEP_OVERLAP])
        embeddings, caches = network.advance(power, caches)
        batches.append(embeddings)
    all_steps: Array = np.concatenate(batches)
    return all_steps[WARM_UP:]
