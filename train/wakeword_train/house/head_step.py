"""One bounded step of a head's last layer and of the fusion, away from the first model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper
from scipy.optimize import minimize

from wakeword.base.errors import ModelError
from wakeword.base.types import Array
from wakeword.format.fusion import Fusion
from wakeword.format.session import open_session, run_session
from wakeword.model.candidate_looks import Looks

Numbers = NDArray[np.float64]

STEP = 4.0
"""Longest step from the first model, in logits: what it moves a look by that lies a deviation away in its direction."""
_MARGIN = 1.0
"""Logits by which the word should pass the threshold, and others should not reach it."""
_STRENGTH = 0.02
"""How strongly the step is held short."""
_ROUNDS = 3
"""How often the best look of each recording is chosen anew."""


@dataclass(frozen=True)
class HeardLooks:
    """The candidates of one recording as the last layer sees them."""

    pooled: Numbers
    """``(looks, units)``."""
    best: Numbers
    """The first stage's logit, ``(looks,)``."""
    fits: Numbers
    """The phonemes' score, ``(looks,)``; NaN in a model without phonemes."""


@dataclass(frozen=True)
class Lesson:
    """A recording that is learnt from."""

    heard: HeardLooks
    is_word: bool
    weight: float


class LastLayer:
    """The last layer of a head, an ONNX file of this project, and the fusion after it. ``ModelError`` for another graph."""

    def __init__(self, head: bytes, fusion: Fusion) -> None:
        self._proto = onnx.load_model_from_string(head)
        known = {one.name: one for one in self._proto.graph.initializer}
        if not {"head", "head_bias"} <= set(known) or not any("pooled" in one.output for one in self._proto.graph.node):
            raise ModelError("expected a head that `wakeword train` wrote, got another network; train the model again")
        self.weights: Numbers = numpy_helper.to_array(known["head"]).astype(np.float64).ravel()
        self.bias = float(numpy_helper.to_array(known["head_bias"]).ravel()[0])
        self.fusion = fusion
        shown = onnx.ModelProto()
        shown.CopyFrom(self._proto)
        shown.graph.output.append(onnx.helper.make_tensor_value_info("pooled", onnx.TensorProto.FLOAT, None))
        self._session = open_session(shown.SerializeToString(), arena=False)

    def hear(self, looks: Looks) -> HeardLooks:
        """What the last layer sees of a recording's candidates."""
        pooled = [
            run_session(self._session, ["pooled"], {"embeddings": one.astype(np.float32)})[0]
            for one in looks.embeddings
        ]
        rows: Array = np.array(pooled, np.float32).reshape(len(pooled), len(self.weights))
        return HeardLooks(rows.astype(np.float64), looks.best.astype(np.float64), looks.fits.astype(np.float64))

    def logits(self, heard: HeardLooks) -> Numbers:
        """The fused logits of a recording's candidates, as the engine computes them, ``(looks,)``."""
        fusion = self.fusion
        upper = (
            fusion.bias + fusion.stage_one * heard.best + fusion.embedding * (heard.pooled @ self.weights + self.bias)
        )
        lowest = -fusion.phoneme_floor
        fits = np.where(upper >= fusion.phoneme_gate, np.nan_to_num(heard.fits, nan=lowest), lowest).clip(lowest, 0)
        found: Numbers = upper + fusion.phonemes * fits
        return found

    def best(self, heard: HeardLooks) -> float:
        """The highest fused logit of a recording; minus infinity without a candidate."""
        return float(self.logits(heard).max(initial=-np.inf))

    def moved(self, weights: Numbers, bias: float, fusion: Fusion) -> "LastLayer":
        """The same head with another last layer, rounded as its file holds it, and another fusion."""
        proto = onnx.ModelProto()
        proto.CopyFrom(self._proto)
        for one in proto.graph.initializer:
            if one.name == "head":
                one.CopyFrom(numpy_helper.from_array(weights.astype(np.float32)[:, None], "head"))
            elif one.name == "head_bias":
                one.CopyFrom(numpy_helper.from_array(np.array([bias], np.float32), "head_bias"))
        return LastLayer(proto.SerializeToString(deterministic=True), fusion)

    def to_bytes(self) -> bytes:
        """The head as an ONNX file."""
        return bytes(self._proto.SerializeToString(deterministic=True))


def step_from(first: LastLayer, lessons: Sequence[Lesson], threshold: float) -> LastLayer:
    """The last layer and fusion that tell the lessons apart at ``threshold``, a logit, at most ``STEP`` from ``first``.

    A logistic regression of the step, held short; each lesson counts by its best candidate. Repeatable.
    """
    lessons = [one for one in lessons if len(one.heard.best)]
    signs = np.array([1.0 if one.is_word else -1.0 for one in lessons])
    weights = np.array([one.weight for one in lessons])
    scale = _Scale(first, [one.heard for one in lessons])
    now, step = first, np.zeros(scale.size)
    for _ in range(_ROUNDS):
        places = [int(now.logits(one.heard).argmax()) for one in lessons]
        inputs = np.stack([scale.rows(one.heard)[place] for one, place in zip(lessons, places, strict=True)])
        before = np.array([first.logits(one.heard)[place] for one, place in zip(lessons, places, strict=True)])

        def loss(parameters: Numbers, inputs: Numbers = inputs, before: Numbers = before) -> tuple[float, Numbers]:
            margins = signs * (before + inputs @ parameters - threshold) - _MARGIN
            chance = 1 / (1 + np.exp(margins.clip(-500, 500)))
            value = float((weights * np.logaddexp(0, -margins)).sum()) + _STRENGTH * weights.sum() * float(
                parameters @ parameters
            )
            return value, -(weights * signs * chance) @ inputs + 2 * _STRENGTH * weights.sum() * parameters

        step = minimize(loss, step, jac=True, method="L-BFGS-B").x
        length = float(np.linalg.norm(step))
        step = step if length <= STEP else step * (STEP / length)
        now = scale.applied(step)
    return now


class _Scale:
    """The numbers of a look that a step changes the weights of, in deviations over the lessons."""

    def __init__(self, first: LastLayer, heard: Sequence[HeardLooks]) -> None:
        self._first = first
        self._has_fits = first.fusion.phonemes > 0
        rows = np.concatenate([self._raw(one) for one in heard])
        self._mean, self._deviation = rows.mean(axis=0), rows.std(axis=0).clip(1e-3)
        # A direction of many parts should not be longer for that.
        self._parts = np.array(
            [np.sqrt(len(first.weights))] * len(first.weights) + [1.0] * (rows.shape[1] - len(first.weights))
        )
        self.size = rows.shape[1] + 1

    def _raw(self, heard: HeardLooks) -> Numbers:
        parts = [heard.pooled, heard.best[:, None]]
        if self._has_fits:
            lowest = -self._first.fusion.phoneme_floor
            parts.append(np.nan_to_num(heard.fits, nan=lowest).clip(lowest, 0)[:, None])
        return np.concatenate(parts, axis=1)

    def rows(self, heard: HeardLooks) -> Numbers:
        """``(looks, size)``; the last number is 1."""
        scaled = (self._raw(heard) - self._mean) / self._deviation / self._parts
        return np.concatenate([scaled, np.ones((len(scaled), 1))], axis=1)

    def applied(self, step: Numbers) -> LastLayer:
        """The first model after a step, ``(size,)``."""
        first, fusion = self._first, self._first.fusion
        slopes = step[:-1] / self._deviation / self._parts
        units = len(first.weights)
        bias = float(step[-1] - slopes @ self._mean)
        weights = first.weights + slopes[:units] / fusion.embedding
        phonemes = fusion.phonemes + (float(slopes[units + 1]) if self._has_fits else 0.0)
        changed = replace(
            fusion,
            bias=fusion.bias + bias,
            stage_one=fusion.stage_one + float(slopes[units]),
            phonemes=max(0.0, phonemes),
        )
        return first.moved(weights, first.bias, changed)
