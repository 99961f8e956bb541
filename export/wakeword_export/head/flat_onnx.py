"""A graph of ``flat_model`` in ONNX: the same operators under their names there."""

from collections.abc import Sequence

import numpy as np

from wakeword.format.protobuf import encoded_field, encoded_number
from wakeword_export import flat_model as flat
from wakeword_export.flat_model import FlatModel, FlatNode, Operator

_OPSET, _IR_VERSION = 13, 7
"""Old ones, which ONNX Runtime 1.7 of 2021 and later ones run."""
_KINDS = {np.dtype(np.float32): 1, np.dtype(np.int64): 7}
_INT, _INTS = 2, 7
_SAME: dict[Operator, str] = {
    flat.ADD: "Add",
    flat.LOGISTIC: "Sigmoid",
    flat.MAXIMUM: "Max",
    flat.MUL: "Mul",
    flat.SUB: "Sub",
    flat.TANH: "Tanh",
}
"""Operators that take and give the same."""


def onnx_bytes(model: FlatModel, embeddings: int, score: int, *, name: str, description: str) -> bytes:
    """The file of a graph ``embeddings -> score``, two of its tensors, which are called so."""
    return _Writer(model, {embeddings: "embeddings", score: "score"}).written(embeddings, score, name, description)


class _Writer:
    def __init__(self, model: FlatModel, names: dict[int, str]) -> None:
        self._model, self._names = model, names
        self._constants: dict[str, np.ndarray] = {}
        self._nodes: list[bytes] = []

    def written(self, embeddings: int, score: int, name: str, description: str) -> bytes:
        for node in self._model.nodes:
            self._write(node)
        graph = b"".join(encoded_field(1, node) for node in self._nodes) + _text(2, name)
        graph += b"".join(encoded_field(5, _constant(name, value)) for name, value in self._constants.items())
        for field, tensor in ((11, embeddings), (12, score)):
            graph += encoded_field(field, _value(self._names[tensor], self._model.shape(tensor)))
        opset = _text(1, "") + encoded_number(2, _OPSET)
        head = encoded_number(1, _IR_VERSION) + _text(2, "wakeword") + _text(6, description)
        return head + encoded_field(7, graph) + encoded_field(8, opset)

    def _name(self, tensor: int) -> str:
        """The name of a tensor; one of constants is written where it is first used."""
        name = self._names.setdefault(tensor, f"t{tensor}")
        if (value := self._model.value(tensor)) is not None:
            self._constants[name] = value.astype(np.int64) if value.dtype.kind == "i" else value
        return name

    def _numbers(self, tensor: int) -> list[int]:
        value = self._model.value(tensor)
        assert value is not None
        return [int(one) for one in value.ravel()]

    def _write(self, node: FlatNode) -> None:
        """The nodes for one operator. ``KeyError`` for one that no exporter uses."""
        inputs, options = list(node.inputs), {key: value for key, _, value in node.options}
        outputs = [self._name(tensor) for tensor in node.outputs]
        if node.operator is flat.FULLY_CONNECTED:
            product = f"{outputs[0]}_linear" if options.get(0) else outputs[0]
            self._add("Gemm", [self._name(tensor) for tensor in inputs], [product], transB=1)
            if options.get(0):
                self._add("Relu", [product], outputs)
        elif node.operator is flat.SPLIT:
            (axis,) = self._numbers(inputs[0])
            self._add("Split", [self._name(inputs[1])], outputs, axis=axis)
        elif node.operator is flat.REDUCE_MAX:
            self._add("ReduceMax", [self._name(inputs[0])], outputs, axes=self._numbers(inputs[1]), keepdims=1)
        elif node.operator is flat.TRANSPOSE:
            self._add("Transpose", [self._name(inputs[0])], outputs, perm=self._numbers(inputs[1]))
        else:
            attributes: dict[Operator, tuple[str, dict[str, int]]] = {
                flat.CONCATENATION: ("Concat", {"axis": options.get(0, 0)}),
                flat.GATHER: ("Gather", {"axis": options.get(0, 0)}),
                flat.RESHAPE: ("Reshape", {}),
                flat.SOFTMAX: ("Softmax", {"axis": len(self._model.shape(inputs[0])) - 1}),
                flat.SUM: ("ReduceSum", {"keepdims": int(options.get(0, 0))}),
            }
            kind, own = attributes.get(node.operator) or (_SAME[node.operator], {})
            self._add(kind, [self._name(tensor) for tensor in inputs], outputs, **own)

    def _add(self, kind: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: int | list[int]) -> None:
        message = b"".join(_text(1, one) for one in inputs) + b"".join(_text(2, one) for one in outputs)
        message += _text(4, kind)
        for name, value in attributes.items():
            numbers = (
                encoded_number(3, value) if isinstance(value, int) else b"".join(encoded_number(8, n) for n in value)
            )
            kind_of = _INT if isinstance(value, int) else _INTS
            message += encoded_field(5, _text(1, name) + numbers + encoded_number(20, kind_of))
        self._nodes.append(message)


def _text(number: int, text: str) -> bytes:
    return encoded_field(number, text.encode())


def _constant(name: str, value: np.ndarray) -> bytes:
    dims = b"".join(encoded_number(1, size) for size in value.shape)
    content = encoded_field(9, np.ascontiguousarray(value).tobytes())
    return dims + encoded_number(2, _KINDS[value.dtype]) + _text(8, name) + content


def _value(name: str, shape: Sequence[int]) -> bytes:
    """An input or output of float."""
    dims = b"".join(encoded_field(1, encoded_number(1, size)) for size in shape)
    tensor = encoded_number(1, _KINDS[np.dtype(np.float32)]) + encoded_field(2, dims)
    return _text(1, name) + encoded_field(2, encoded_field(1, tensor))
