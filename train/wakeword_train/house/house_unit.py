"""What a head learns from its house: one unit that lowers the logit of looks which are like taught false wakes.

The unit is ``relu(weights · look + bias)``, at most ``MOST_LOWERED``, over the 16 embeddings of a look. It is taken from
the logit of the first model: the new one fires nowhere that the first one does not, and no logit moves by more. A step of
the last layer and of the fusion in its place took as much recall as a higher threshold did.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from wakeword.base.errors import ModelError
from wakeword.base.types import Array
from wakeword.format.verifier_card import Fusion
from wakeword.model.candidate_looks import Looks
from wakeword.verify.embedding import DIMENSION
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS, Head

Numbers = NDArray[np.float64]

MOST_LOWERED = 8.0
"""Logits that the unit takes at most: the longest step from the first model."""
_NEAR = 2.0
"""Windows teach if their logit is at least the threshold less this."""
_WINDOWS = 8
"""Windows of a recording that teach, the best ones."""
_RIDGE = 3.0
"""How strongly the weights are held small, as a multiple of the rows' mean square."""
_SPARED = (0.95, 0.98, 0.995, 1.0)
"""Shares of the taught word's windows in which the unit is zero, from the strongest unit to the gentlest."""
_LOST = 0.004
"""Share of the taught recordings of the word that may be lost."""
_FULL = 0.25
"""Quantile of the taught false windows at which it is full."""
_SIZE = HEAD_EMBEDDINGS * DIMENSION


@dataclass(frozen=True)
class Lesson:
    """A recording that is learnt from."""

    looks: Looks
    is_word: bool
    weight: float


@dataclass(frozen=True)
class Unit:
    """The unit, in logits of the fusion."""

    weights: Numbers
    """``(1536,)``."""
    bias: float

    def of(self, looks: Looks) -> Numbers:
        """What it takes from the logit of each look, ``(looks,)``: 0 to ``MOST_LOWERED``."""
        flat = looks.embeddings.reshape(len(looks.best), _SIZE).astype(np.float32)
        found: Numbers = (
            (flat @ self.weights.astype(np.float32) + np.float32(self.bias)).clip(0, MOST_LOWERED).astype(np.float64)
        )
        return found


class Judge:
    """A head, an ONNX file, with or without a unit, and the fusion after it. ``ModelError`` for a file that is no head."""

    def __init__(self, head: bytes, fusion: Fusion, unit: Unit | None = None) -> None:
        self.fusion = fusion
        self._file = head
        self._unit = unit
        self._head = Head(head)
        self._heard: dict[int, tuple[Looks, Numbers]] = {}

    @property
    def data(self) -> bytes:
        """The head as an ONNX file. ``ModelError`` for a graph that takes no unit."""
        unit = self._unit
        return self._file if unit is None else _with_unit(self._file, unit, scale=self.fusion.embedding)

    def with_unit(self, unit: Unit) -> "Judge":
        """The same head with a unit; what it has heard is not heard again."""
        other = Judge(self._file, self.fusion, unit)
        other._heard = self._heard
        return other

    def logits(self, looks: Looks) -> Numbers:
        """The fused logits of a recording's candidates, as the engine computes them, ``(looks,)``."""
        fusion = self.fusion
        if id(looks) not in self._heard:
            heard = np.array([self._head(one.astype(np.float32)) for one in looks.embeddings], np.float64)
            self._heard[id(looks)] = looks, heard
        upper = (
            fusion.bias
            + fusion.stage_one * looks.best.astype(np.float64)
            + fusion.embedding * self._heard[id(looks)][1]
        )
        if self._unit is not None:
            upper = upper - self._unit.of(looks)
        lowest = -fusion.phoneme_floor
        fits = np.where(upper >= fusion.phoneme_gate, np.nan_to_num(looks.fits, nan=lowest), lowest).clip(lowest, 0)
        found: Numbers = upper + fusion.phonemes * fits
        return found

    def best(self, looks: Looks) -> float:
        """The highest fused logit of a recording; minus infinity without a candidate."""
        return float(self.logits(looks).max(initial=-np.inf))


def taught(first: Judge, lessons: Sequence[Lesson], threshold: float) -> Iterator[Judge]:
    """The first model with a unit that tells the lessons apart near ``threshold``, a logit; the strongest first.

    The direction is the one of a linear discriminant (a ridge regression on both classes at equal weight). None without
    windows of both classes near the threshold; those that lose too much of the taught word are left out.
    """
    rows = _Rows(first, lessons, threshold)
    words = [one.looks for one in lessons if one.is_word and first.best(one.looks) >= threshold]
    for spared in _SPARED if rows.is_whole else ():
        new = first.with_unit(rows.unit(spared))
        if sum(new.best(one) < threshold for one in words) <= _LOST * len(words):
            yield new


class _Rows:
    """The windows that teach, in deviations over all of them."""

    def __init__(self, first: Judge, lessons: Sequence[Lesson], threshold: float) -> None:
        flats, weights, labels = [np.zeros((0, _SIZE))], [np.zeros(0)], [np.zeros(0, bool)]
        for one in lessons:
            logits = first.logits(one.looks)
            near = np.argsort(-logits, kind="stable")[:_WINDOWS]
            near = near[logits[near] >= threshold - _NEAR]
            if count := len(near):
                flats.append(one.looks.embeddings[near].reshape(count, _SIZE).astype(np.float64))
                weights.append(np.full(count, one.weight / count))
                labels.append(np.full(count, not one.is_word))
        flat = np.concatenate(flats)
        self.is_false = np.concatenate(labels)
        self.weights = np.concatenate(weights)
        self.is_whole = bool(self.is_false.any()) and not bool(self.is_false.all())
        self.mean = flat.mean(axis=0) if len(flat) else np.zeros(_SIZE)
        self.deviation = flat.std(axis=0) + 1e-3 if len(flat) else np.ones(_SIZE)
        self.inputs = (flat - self.mean) / self.deviation

    @cached_property
    def direction(self) -> Numbers:
        """The weights of the regression, ``(1536,)``: found among the rows, which are fewer than the numbers of a look."""
        shares = self.weights.copy()
        for label in (True, False):
            shares[self.is_false == label] /= shares[self.is_false == label].sum()
        scaled = self.inputs * np.sqrt(shares)[:, None]
        targets = np.where(self.is_false, 1.0, -1.0) * np.sqrt(shares)
        products = scaled @ scaled.T
        held = _RIDGE * float(np.trace(products)) / len(products) * np.eye(len(products))
        found: Numbers = scaled.T @ np.linalg.solve(products + held, targets)
        return found

    def unit(self, spared: float) -> Unit:
        """The unit that is zero in the share ``spared`` of the word's windows."""
        along = self.inputs @ self.direction
        begin = _quantile(along[~self.is_false], self.weights[~self.is_false], spared)
        full = _quantile(along[self.is_false], self.weights[self.is_false], _FULL)
        if full <= begin:
            full = _quantile(along[self.is_false], self.weights[self.is_false], 1 - _FULL)
        slope = MOST_LOWERED / max(full - begin, 1e-3 * float(np.abs(along).max()))
        weights = slope * self.direction / self.deviation
        return Unit(weights, -slope * begin - float(weights @ self.mean))


def _quantile(values: Numbers, weights: Numbers, share: float) -> float:
    """The weighted quantile."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][min(int(np.searchsorted(reached, share)), len(values) - 1)])


def _with_unit(head: bytes, unit: Unit, *, scale: float) -> bytes:
    """The head's file with the unit; ``scale``: the weight of the head in the fusion. ``ModelError`` for another graph."""
    proto = onnx.load_model_from_string(head)
    ends = [node for node in proto.graph.node if "logit" in node.output]
    if (
        len(ends) != 1
        or any(name.startswith("house_") for node in proto.graph.node for name in node.output)
        or scale <= 0
    ):
        raise ModelError("expected a head that `wakeword train` wrote, got another network; train the model again")
    ends[0].output[0] = "house_first"
    node = onnx.helper.make_node
    proto.graph.node.extend(
        [
            node("Reshape", ["embeddings", "house_row"], ["house_look"]),
            node("MatMul", ["house_look", "house_weights"], ["house_product"]),
            node("Add", ["house_product", "house_bias"], ["house_sum"]),
            node("Relu", ["house_sum"], ["house_open"]),
            node("Sub", ["house_open", "house_most"], ["house_beyond"]),
            node("Relu", ["house_beyond"], ["house_over"]),
            node("Sub", ["house_open", "house_over"], ["house_capped"]),
            node("Reshape", ["house_capped", "house_flat"], ["house_unit"]),
            node("Sub", ["house_first", "house_unit"], ["logit"]),
        ]
    )
    constants: dict[str, Array | NDArray[np.int64]] = {
        "house_weights": (unit.weights / scale).astype(np.float32)[:, None],
        "house_bias": np.array([unit.bias / scale], np.float32),
        "house_most": np.array([MOST_LOWERED / scale], np.float32),
        "house_row": np.array([1, _SIZE], np.int64),
        "house_flat": np.array([1], np.int64),
    }
    proto.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in constants.items())
    onnx.checker.check_model(proto, full_check=True)
    return bytes(proto.SerializeToString(deterministic=True))
