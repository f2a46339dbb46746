"""ONNX files as layers: read with the package `onnx`, checked, constants put aside. Nothing is shared yet."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from tacit.errors import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

MAX_FILE = 1 << 30
"""Bytes of a file that are read at most: with float32, a quarter of a billion weights."""

MAX_NODES = 1 << 16
"""Nodes of a graph at most."""

OPSETS = range(13, 22)
"""Versions of the operators that are read."""


class RefusedError(Exception):
    """Why a node can't be taken; all nodes' reasons are told at once."""


@dataclass(slots=True)
class Layer:
    """A step of a network.

    Attributes:
        kind: The operator.
        name: The node's operator and name, for messages.
        inputs: The values that it reads.
        output: The value that it makes.
        apply: What it does with them and its weights, by name.
        weights: What its owner knows, as float64.
        channels: Along which axis of its first weight its outputs are, if it is a convolution or linear.
        exact: Whether it takes values that aren't truncated yet, and makes the same of them.
        size: By what its values are smaller than the file's, for each channel, if they are.
        mean: Of how many elements its values are means, if it makes means of as many.
    """

    kind: str
    name: str
    inputs: tuple[str, ...]
    output: str
    apply: Callable[[list[Any], dict[str, Any]], Any]
    weights: dict[str, Array] = field(default_factory=dict)
    channels: int | None = None
    exact: bool = False
    size: Array | None = None
    mean: Mean | None = None


@dataclass(frozen=True, slots=True)
class Mean:
    """Means, each of as many elements.

    Attributes:
        count: Of how many, by the shape of what is read.
        sums: What makes sums of them, as a layer's `apply` makes the means.
    """

    count: Callable[[tuple[int, ...]], int]
    sums: Callable[[Any], Any]


@dataclass(slots=True)
class Graph:
    """A network.

    Attributes:
        inputs: Shapes of its inputs; a first length of 0 is as many rows as are asked for.
        outputs: Names of its outputs.
        layers: In an order in which each comes after what it reads.
        softmax: Outputs of which the client takes the softmax, and along which axis.
    """

    inputs: dict[str, tuple[int, ...]]
    outputs: tuple[str, ...]
    layers: list[Layer]
    softmax: dict[str, int]


@dataclass(slots=True)
class Node:
    """One of the file's nodes."""

    kind: str
    title: str
    attributes: dict[str, Any]
    inputs: list[str]
    output: str
    constants: dict[str, Array]
    opset: int

    def constant(self, place: int) -> Array | None:
        """An operand that is known, or `None` if it is left out.

        Raises:
            RefusedError: It isn't known.
        """
        name = self.inputs[place] if place < len(self.inputs) else ""
        if name and name not in self.constants:
            raise RefusedError(f"its operand {place} has to be a constant")
        return self.constants[name] if name else None

    def integers(self, place: int, attribute: str) -> list[int] | None:
        """Integers that are an operand or, in older versions, an attribute; `None` if they are left out."""
        found = self.constant(place)
        if found is None:
            given = self.attributes.get(attribute)
            return None if given is None else [int(one) for one in given]
        if found.dtype.kind != "i" or found.ndim > 1 or found.size > 64:
            raise RefusedError(f"its {attribute} have to be a few integers")
        return [int(one) for one in found.reshape(-1)]

    def values(self) -> tuple[str, ...]:
        """The operands that are computed."""
        return tuple(name for name in self.inputs if name and name not in self.constants)


def proto_of(path: str | os.PathLike[str]) -> Any:
    """An ONNX file's model, not looked at yet.

    Raises:
        OSError: The file can't be read.
        InputError: It is no such file, or too large, or the package isn't there.
    """
    onnx = reader()
    with Path(path).open("rb") as file:
        data = file.read(MAX_FILE + 1)
    if len(data) > MAX_FILE:
        raise InputError(f"{path} has more than {MAX_FILE} bytes")
    try:
        proto = onnx.ModelProto.FromString(data)
    except Exception:
        # The reader's own kind, which is protobuf's.
        raise InputError(f"{path} is no ONNX file, or a damaged one") from None
    if not proto.HasField("graph"):
        raise InputError(f"{path} is no ONNX file, or a damaged one: it has no graph")
    return proto


def reader() -> Any:
    """The package `onnx`.

    Raises:
        InputError: It isn't installed.
    """
    try:
        import onnx
        import onnx.helper
        import onnx.numpy_helper
    except ImportError:
        raise InputError("reading networks needs the package onnx: pip install onnx") from None
    return onnx


def graph_of(proto: Any) -> Graph:
    """A model's graph.

    Raises:
        InputError: Something in it isn't taken: all such nodes are named, each with its reason.
    """
    from tacit import _onnx_operators
    from tacit._onnx_means import averaged, shapes_of

    graph, opset = proto.graph, _opset(proto)
    if len(graph.node) > MAX_NODES:
        raise InputError(f"the network has {len(graph.node)} nodes, and {MAX_NODES} are taken at most")
    wrong: list[str] = []
    constants = {one.name: _array(one) for one in graph.initializer}
    inputs = _inputs(graph, constants)
    known = {*inputs, *constants}
    readers = Counter(name for node in graph.node for name in node.input)
    readers.update(one.name for one in graph.output)
    layers: dict[str, Layer] = {}
    softmax: dict[str, int] = {}
    for place, node in enumerate(graph.node):
        kind = f"{node.domain}.{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type
        title = f"{kind} {node.name!r}" if node.name else f"{kind} (node {place})"
        outputs = list(node.output)
        if not outputs or outputs[0] in known:
            wrong.append(f"{title}: it makes nothing new")
            continue
        missing = [name for name in node.input if name and name not in known]
        known.add(outputs[0])
        try:
            if missing:
                raise RefusedError(
                    f"it reads {missing[0]!r}, which no initialiser and no node before it makes"
                )
            if kind not in _onnx_operators.TABLE:
                instead = _onnx_operators.INSTEAD.get(kind)
                raise RefusedError("this operator is not supported" + (f": {instead}" if instead else ""))
            if any(name and readers[name] for name in outputs[1:]):
                raise RefusedError("only its first output is supported")
            one = Node(kind, title, _attributes(node), list(node.input), outputs[0], constants, opset)
            if kind == "Constant":
                constants[outputs[0]] = _onnx_operators.constant(one)
            elif not one.values():
                constants[outputs[0]] = _onnx_operators.moved(kind, one)
            elif kind == "Softmax":
                if readers[outputs[0]] != 1 or outputs[0] not in {out.name for out in graph.output}:
                    raise RefusedError("it has to be last: the client computes it")
                softmax[outputs[0]] = int(one.attributes.get("axis", -1))
                layers[outputs[0]] = _onnx_operators.layer("Identity", one)
            elif not (kind == "BatchNormalization" and _onnx_operators.fold(one, layers, readers)):
                layers[outputs[0]] = _onnx_operators.layer(kind, one)
        except (InputError, RefusedError) as reason:
            wrong.append(f"{title}: {reason}")
        except (AttributeError, IndexError, TypeError, ValueError):
            # A number where there has to be a list, or the like.
            wrong.append(f"{title}: its attributes or constants are of other kinds than it has")
    outputs = [one.name for one in graph.output]
    wrong += [f"output {name!r}: no node computes it" for name in outputs if name not in known]
    if not wrong and not outputs:
        wrong.append("it has no output")
    wrong += [
        f"output {name!r}: it is no computed value" for name in outputs if name in constants or name in inputs
    ]
    if wrong:
        raise InputError("the network can't be taken:\n  " + "\n  ".join(wrong))
    made = _onnx_operators.signed(_pooled(list(layers.values()), readers), readers)
    made = averaged(made, readers, lambda: shapes_of(proto))
    return Graph(inputs, tuple(outputs), _needed(made, outputs), softmax)


def _pooled(layers: list[Layer], readers: Counter[str]) -> list[Layer]:
    """A ReLU that only a maximum reads comes after it: of fewer numbers it is the same."""
    made: dict[str, Layer] = {}
    for layer in layers:
        before = made.get(layer.inputs[0]) if layer.inputs else None
        if (
            layer.kind == "MaxPool"
            and before is not None
            and before.kind == "Relu"
            and readers[before.output] == 1
        ):
            del made[before.output]
            between = f"{layer.output} before its ReLU"
            made[between] = replace(layer, inputs=before.inputs, output=between)
            made[layer.output] = replace(before, inputs=(between,), output=layer.output)
        else:
            made[layer.output] = layer
    return list(made.values())


def _needed(layers: list[Layer], outputs: list[str]) -> list[Layer]:
    """The layers on which outputs depend."""
    wanted, kept = set(outputs), []
    for layer in reversed(layers):
        if layer.output in wanted:
            wanted.update(layer.inputs)
            kept.append(layer)
    return kept[::-1]


def _opset(proto: Any) -> int:
    """The version of the standard operators."""
    versions = [one.version for one in proto.opset_import if one.domain in ("", "ai.onnx")]
    if len(versions) != 1 or versions[0] not in OPSETS:
        said = ", ".join(map(str, versions)) or "none"
        raise InputError(
            f"the network is of opset {said}, and {OPSETS[0]} to {OPSETS[-1]} are read: convert it with "
            "onnx.version_converter, or export it anew"
        )
    return int(versions[0])


def _inputs(graph: Any, constants: dict[str, Array]) -> dict[str, tuple[int, ...]]:
    """Shapes of inputs that are no initialisers."""
    inputs: dict[str, tuple[int, ...]] = {}
    for one in graph.input:
        if one.name in constants:
            continue
        tensor = one.type.tensor_type
        if tensor.elem_type != 1 or not tensor.HasField("shape"):
            raise InputError(f"the input {one.name!r} is no tensor of float32 with a shape")
        shape = [dim.dim_value if dim.HasField("dim_value") else 0 for dim in tensor.shape.dim]
        if any(length < 0 for length in shape) or 0 in shape[1:] or not shape or one.name in inputs:
            raise InputError(
                f"the input {one.name!r} needs a length for every axis but the first: export it so, or use "
                "onnx.tools.update_model_dims"
            )
        inputs[one.name] = tuple(shape)
    if not inputs:
        raise InputError("the network has no input")
    return inputs


def _array(tensor: Any) -> Array:
    """A tensor of the file: float32 as float64, integers as int64."""
    name = tensor.name or "a constant"

    def wrong(why: str) -> NoReturn:
        raise InputError(f"the initialiser {name!r} {why}")

    if tensor.data_location == 1 or tensor.external_data:
        wrong("stands in another file: save the network as one, with onnx.save_model(onnx.load(path), ...)")
    if tensor.data_type not in (1, 6, 7):
        wrong(f"is of type {tensor.data_type}, and float32 (1), int32 (6) and int64 (7) are read")
    count = 1
    for length in tensor.dims:
        if length < 0:
            wrong(f"has the shape {list(tensor.dims)}")
        count *= length
    size = 8 if tensor.data_type == 7 else 4
    given = {1: tensor.float_data, 6: tensor.int32_data, 7: tensor.int64_data}[tensor.data_type]
    held = len(tensor.raw_data) if tensor.HasField("raw_data") else len(given) * size
    if held != count * size:
        wrong(f"says it has {count} elements, and holds {held} bytes")
    array: Array = reader().numpy_helper.to_array(tensor)
    if not np.isfinite(array).all():
        wrong("has a NaN or an infinity")
    return array.astype(np.float64 if tensor.data_type == 1 else np.int64)


def _attributes(node: Any) -> dict[str, Any]:
    """A node's attributes; of a kind that no operator here has, refused."""
    found: dict[str, Any] = {}
    for one in node.attribute:
        match one.type:
            case 1:
                found[one.name] = float(one.f)
            case 2:
                found[one.name] = int(one.i)
            case 3:
                found[one.name] = one.s.decode("utf-8", "replace")
            case 4:
                found[one.name] = _array(one.t)
            case 6:
                found[one.name] = [float(value) for value in one.floats]
            case 7:
                found[one.name] = [int(value) for value in one.ints]
            case _:
                raise RefusedError(f"its attribute {one.name!r} is of a kind that is not supported")
    return found
