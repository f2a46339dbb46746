"""ONNX operators as layers: one function each, which reads a node and says what is computed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import nn
from tacit._functions import joined
from tacit._onnx_graph import Layer, Mean, RefusedError
from tacit._tensor import matmul
from tacit.errors import InputError

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable

    from tacit._onnx_graph import Array, Node


def layer(kind: str, node: Node) -> Layer:
    """What a node computes.

    Raises:
        RefusedError: It has a setting that isn't supported.
    """
    return TABLE[kind](node)


def constant(node: Node) -> Array:
    """What a `Constant` holds."""
    given = node.attributes
    for name in ("value", "value_float", "value_int", "value_floats", "value_ints"):
        if name in given:
            array = np.asarray(given[name])
            if not np.isfinite(array).all():
                raise RefusedError("it holds a NaN or an infinity")
            return array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
    raise RefusedError("it holds no numbers")


def moved(kind: str, node: Node) -> Array:
    """What a node that only moves elements makes of constants."""
    known = [node.constants[name] for name in node.inputs if name]
    if not known or kind not in _MOVES:
        raise RefusedError("it computes with constants alone: fold them before, for example with onnxsim")
    # The layer's own function, on arrays: the first operand counts as computed.
    first = known if kind == "Concat" else known[:1]
    names = node.inputs if kind == "Concat" else node.inputs[:1]
    node.constants = {name: value for name, value in node.constants.items() if name not in names}
    try:
        return np.asarray(TABLE[kind](node).apply(list(first), {}))
    except (ValueError, IndexError) as error:
        raise RefusedError(f"its constants don't fit ({error})") from None


def fold(node: Node, layers: dict[str, Layer], readers: Counter[str]) -> bool:
    """Folds a normalisation into the weights of the layer before it, where only that one's result is read."""
    before = layers.get(node.inputs[0])
    if before is None or before.channels is None or readers[before.output] != 1:
        return False
    factor, summand = _normalisation(node)
    weights = before.weights["weights"]
    if factor.size != weights.shape[before.channels]:
        raise RefusedError(f"it has {factor.size} channels, and what it reads has others")
    places = [1] * weights.ndim
    places[before.channels] = -1
    bias = before.weights.get("bias", np.zeros(factor.size))
    before.weights = {"weights": weights * factor.reshape(places), "bias": bias * factor + summand}
    del layers[before.output]
    before.name += f" and {node.title}"
    before.output = node.output
    layers[node.output] = before
    return True


def signed(layers: list[Layer], readers: Counter[str]) -> list[Layer]:
    """Of a normalisation before a ReLU that one convolution reads, the magnitudes join that one's filters.

    `max(s x + o, 0) = |s| max(sign(s) x + o / |s|, 0)`: a product with a secret 1 or -1 is left, which isn't
    truncated.
    """
    made = {layer.output: layer for layer in layers}
    reader = {name: layer for layer in layers for name in layer.inputs if readers[name] == 1}
    for layer in layers:
        relu = reader.get(layer.output) if layer.kind == "BatchNormalization" else None
        conv = reader.get(relu.output) if relu is not None and relu.kind == "Relu" else None
        if relu is None or conv is None or conv.kind != "Conv" or "factor" not in layer.weights:
            continue
        factor, filters = layer.weights["factor"], conv.weights["weights"]
        size, summand = np.abs(factor), layer.weights["summand"] / np.abs(factor)
        if filters.shape[1] != factor.size or np.abs(summand).max() > MAX_SHIFT:
            continue
        conv.weights = {**conv.weights, "weights": filters * size.reshape(1, -1, *[1] * (filters.ndim - 2))}
        signs = {"sign": np.sign(factor).astype(np.int64), "summand": summand}
        made[layer.output] = replace(layer, apply=_signed, weights=signs, exact=True, size=size)
        made[relu.output] = replace(relu, size=size)
    return list(made.values())


MAX_SHIFT = 8.0
"""A summand over its factor is at most that, or both stay: larger values take more bits of filters."""


def _signed(x: list[Any], w: dict[str, Any]) -> Any:
    places = (-1,) + (1,) * (x[0].ndim - 2)
    sign, summand = (value.reshape(*places) for value in (w["sign"], w["summand"]))
    return x[0] * sign + summand


def _made(node: Node, apply: Callable[[list[Any], dict[str, Any]], Any], **options: Any) -> Layer:
    return Layer(node.kind, node.title, node.values(), node.output, apply, **options)


def _weights(node: Node, places: dict[str, int]) -> dict[str, Array]:
    """Operands that have to be constants, by what they are."""
    found = {name: node.constant(place) for name, place in places.items()}
    return {name: array.astype(np.float64) for name, array in found.items() if array is not None}


def _conv(node: Node) -> Layer:
    weights = _weights(node, {"weights": 1, "bias": 2})
    filters = weights["weights"]
    if filters.ndim < 3 or weights.get("bias", np.zeros(len(filters))).shape != (len(filters),):
        raise RefusedError(f"its filters have the shape {filters.shape}")
    lengths = list(filters.shape[2:])
    if node.attributes.get("kernel_shape", lengths) != lengths:
        raise RefusedError("its kernel_shape isn't that of its filters")
    gap, groups = node.attributes.get("dilations", 1), int(node.attributes.get("group", 1))
    placed = _placed(node, lengths)

    def apply(x: list[Any], w: dict[str, Any]) -> Any:
        stride, padding = placed(x[0].shape)
        return nn.conv(
            x[0], w["weights"], w.get("bias"),
            stride=stride, padding=padding, dilation=gap, groups=groups, exact=True,
        )  # fmt: skip

    return _made(node, apply, weights=weights, channels=0)


def _gemm(node: Node) -> Layer:
    given = node.attributes
    if given.get("transA", 0):
        raise RefusedError("transA is not supported: transpose its operand before")
    weights = _weights(node, {"weights": 1, "bias": 2})
    matrix = weights["weights"] * given.get("alpha", 1.0)
    if matrix.ndim != 2:
        raise RefusedError(f"its weights have the shape {matrix.shape}")
    weights["weights"] = matrix.T if given.get("transB", 0) else matrix
    outputs = weights["weights"].shape[1]
    if "bias" in weights:
        bias = weights["bias"] * given.get("beta", 1.0)
        if bias.size not in (1, outputs):
            raise RefusedError(f"its bias has the shape {bias.shape}")
        weights["bias"] = np.broadcast_to(bias.reshape(-1), (outputs,)).copy()
    return _made(node, lambda x, w: nn.linear(x[0], w["weights"], w.get("bias"), exact=True),
                 weights=weights, channels=1)  # fmt: skip


def _matmul(node: Node) -> Layer:
    left, right = (node.constants.get(name) for name in node.inputs[:2])
    if left is not None:
        weights = {"weights": left.astype(np.float64)}
        return _made(node, lambda x, w: matmul(w["weights"], x[0], exact=True), weights=weights)
    if right is not None:
        weights, channels = {"weights": right.astype(np.float64)}, 1 if right.ndim == 2 else None
        apply = lambda x, w: matmul(x[0], w["weights"], exact=True)  # noqa: E731
        return _made(node, apply, weights=weights, channels=channels)
    return _made(node, lambda x, _: matmul(x[0], x[1], exact=True))


def _arithmetic(sign: int) -> Callable[[Node], Layer]:
    """A sum or a difference."""

    def read(node: Node) -> Layer:
        known = [node.constants.get(name) for name in node.inputs]
        if known[0] is None and known[1] is None:
            return _made(node, lambda x, _: x[0] + x[1] if sign > 0 else x[0] - x[1], exact=True)
        at = 1 if known[0] is None else 0
        weights = {"summand": np.asarray(known[at], dtype=np.float64)}
        if at == 1:
            weights["summand"] = weights["summand"] * sign
            return _made(node, lambda x, w: x[0] + w["summand"], weights=weights, exact=True)
        apply = lambda x, w: w["summand"] + x[0] if sign > 0 else w["summand"] - x[0]  # noqa: E731
        return _made(node, apply, weights=weights, exact=True)

    return read


def _mul(node: Node) -> Layer:
    known = [node.constants[name] for name in node.inputs if name in node.constants]
    if not known:
        return _made(node, lambda x, _: x[0] * x[1])
    return _made(node, lambda x, w: x[0] * w["factor"], weights={"factor": known[0].astype(np.float64)})


def _div(node: Node) -> Layer:
    divisor = node.constant(1)
    if divisor is None or node.inputs[0] in node.constants:
        raise RefusedError("it divides by a computed value; constants are supported")
    if (divisor == 0).any():
        raise RefusedError("it divides by 0")
    return _made(node, lambda x, w: x[0] * w["factor"], weights={"factor": 1 / divisor.astype(np.float64)})


def _clip(node: Node) -> Layer:
    ends = [None if end is None else float(end.reshape(-1)[0]) for end in map(node.constant, (1, 2))]
    return _made(node, lambda x, _: nn.clip(x[0], *ends))


def _leaky(node: Node) -> Layer:
    slope = node.attributes.get("alpha", 0.01)
    return _made(node, lambda x, _: nn.leaky_relu(x[0], slope))


def _max_pool(node: Node) -> Layer:
    size, gap = _size(node), node.attributes.get("dilations", 1)
    if node.attributes.get("storage_order", 0):
        raise RefusedError("storage_order is not supported")
    placed = _placed(node, size)

    def apply(x: list[Any], _: dict[str, Any]) -> Any:
        stride, padding = placed(x[0].shape)
        return nn.max_pool(x[0], size, stride=stride, padding=padding, dilation=gap)

    return _made(node, apply, exact=True)


def _avg_pool(node: Node) -> Layer:
    size = _size(node)
    if any(gap != 1 for gap in node.attributes.get("dilations", [])):
        raise RefusedError("dilations are not supported in a mean")
    counted, placed = bool(node.attributes.get("count_include_pad", 0)), _placed(node, size)

    def apply(x: list[Any], _: dict[str, Any]) -> Any:
        stride, padding = placed(x[0].shape)
        return nn.avg_pool(x[0], size, stride=stride, padding=padding, count_padding=counted)

    def sums(x: Any) -> Any:
        stride, padding = placed(x.shape)
        return nn.window_sums(x, size, stride=stride, padding=padding)

    is_padded = any(node.attributes.get("pads", [])) or node.attributes.get("auto_pad", "").startswith("SAME")
    alike = Mean(lambda _: math.prod(size), sums) if counted or not is_padded else None
    return _made(node, apply, mean=alike)


def _global_pool(node: Node) -> Layer:
    mean = Mean(
        lambda shape: math.prod(shape[2:]) if shape[2:] else 0,
        lambda x: x.sum(axis=tuple(range(2, x.ndim)), keepdims=True),
    )
    return _made(node, lambda x, _: nn.avg_pool(x[0], x[0].shape[2:]), mean=mean)


def _reduce_mean(node: Node) -> Layer:
    axes, keep = node.integers(1, "axes"), bool(node.attributes.get("keepdims", 1))
    if not axes and node.attributes.get("noop_with_empty_axes", 0):
        return TABLE["Identity"](node)

    def sums(x: Any) -> Any:
        which = tuple(axis % x.ndim for axis in axes) if axes else tuple(range(x.ndim))
        return x.sum(axis=which, keepdims=keep)

    def count(shape: tuple[int, ...]) -> int:
        return math.prod(shape[axis] for axis in axes) if axes else math.prod(shape)

    return _made(node, lambda x, _: nn.divided(sums(x[0]), count(x[0].shape)), mean=Mean(count, sums))


def _normalisation(node: Node) -> tuple[Array, Array]:
    if node.attributes.get("training_mode", 0):
        raise RefusedError("it is in training mode: export the network for inference")
    given = _weights(node, {"scale": 1, "shift": 2, "mean": 3, "variance": 4})
    if len(given) != 4 or len({one.shape for one in given.values()}) != 1 or given["scale"].ndim != 1:
        raise RefusedError("it needs one number of each kind for every channel")
    try:
        return nn.folded(**given, epsilon=node.attributes.get("epsilon", 1e-5))
    except InputError as error:
        raise RefusedError(str(error)) from None


def _batch_norm(node: Node) -> Layer:
    factor, summand = _normalisation(node)
    weights = {"factor": factor, "summand": summand}
    return _made(node, lambda x, w: nn.batch_norm(x[0], w["factor"], w["summand"]), weights=weights)


def _relu(node: Node) -> Layer:
    return _made(node, lambda x, _: nn.relu(x[0]), exact=True)


def _concat(node: Node) -> Layer:
    axis = int(node.attributes.get("axis", 0))
    if any(name in node.constants for name in node.inputs) and node.values():
        raise RefusedError("it joins constants with computed values")
    return _made(node, lambda x, _: joined(x, axis))


def _flatten(node: Node) -> Layer:
    axis = int(node.attributes.get("axis", 1))
    return _made(node, lambda x, _: nn.flatten(x[0], axis if axis >= 0 else axis + x[0].ndim), exact=True)


def _reshape(node: Node) -> Layer:
    shape = node.integers(1, "shape")
    if shape is None or node.attributes.get("allowzero", 0):
        raise RefusedError("it needs a constant shape, without allowzero")

    def apply(x: list[Any], _: dict[str, Any]) -> Any:
        return x[0].reshape(*(x[0].shape[at] if length == 0 else length for at, length in enumerate(shape)))

    return _made(node, apply, exact=True)


def _transpose(node: Node) -> Layer:
    order = node.attributes.get("perm")
    return _made(node, lambda x, _: x[0].transpose(*order) if order else x[0].transpose(), exact=True)


def _squeeze(node: Node) -> Layer:
    axes = node.integers(1, "axes")

    def apply(x: list[Any], _: dict[str, Any]) -> Any:
        shape, rank = x[0].shape, len(x[0].shape)
        gone = [axis % rank for axis in axes] if axes else [at for at in range(rank) if shape[at] == 1]
        if any(shape[axis] != 1 for axis in gone):
            raise ValueError(f"axes {axes} of {shape} aren't of length 1")
        return x[0].reshape(*(length for at, length in enumerate(shape) if at not in gone))

    return _made(node, apply, exact=True)


def _unsqueeze(node: Node) -> Layer:
    axes = node.integers(1, "axes")
    if axes is None:
        raise RefusedError("it needs constant axes")

    def apply(x: list[Any], _: dict[str, Any]) -> Any:
        rank, rest = len(x[0].shape) + len(axes), iter(x[0].shape)
        new = {axis % rank for axis in axes}
        return x[0].reshape(*(1 if at in new else next(rest) for at in range(rank)))

    return _made(node, apply, exact=True)


def _pad(node: Node) -> Layer:
    pads, axes, value = node.integers(1, "pads"), node.integers(3, "axes"), node.constant(2)
    if node.attributes.get("mode", "constant") != "constant" or pads is None or min(pads) < 0:
        raise RefusedError("it needs mode 'constant' and constant pads from 0 on")
    filled = 0.0 if value is None else float(value.reshape(-1)[0])

    def apply(x: list[Any], _: dict[str, Any]) -> Any:
        which = [axis % x[0].ndim for axis in axes] if axes else list(range(x[0].ndim))
        half = len(pads) // 2
        if half != len(which) or len(pads) % 2:
            raise ValueError(f"pads {pads} don't fit {x[0].shape}")
        pairs = {axis: (pads[at], pads[at + half]) for at, axis in enumerate(which)}
        return nn.padded(x[0], pairs, filled)

    return _made(node, apply)


def _slice(node: Node) -> Layer:
    starts, ends, steps = (node.integers(at, name) for at, name in ((1, "starts"), (2, "ends"), (4, "steps")))
    axes = node.integers(3, "axes")
    if starts is None or ends is None or len(starts) != len(ends):
        raise RefusedError("it needs constant starts and ends")
    spans = [slice(*ends) for ends in zip(starts, ends, steps or [1] * len(starts), strict=False)]

    def apply(x: list[Any], _: dict[str, Any]) -> Any:
        places = [slice(None)] * len(x[0].shape)
        for at, span in zip(axes or range(len(spans)), spans, strict=True):
            end = span.stop
            backwards = span.step < 0 and end < -x[0].shape[at]
            places[at] = slice(span.start, None if backwards else end, span.step)
        return x[0][tuple(places)]

    return _made(node, apply, exact=True)


def _identity(node: Node) -> Layer:
    if node.attributes.get("training_mode", 0):
        raise RefusedError("it is in training mode: export the network for inference")
    return _made(node, lambda x, _: x[0], exact=True)


def _dropout(node: Node) -> Layer:
    training = node.constant(2)
    if training is not None and training.any():
        raise RefusedError("it is in training mode: export the network for inference")
    return _identity(node)


def _argmax(node: Node) -> Layer:
    axis, keep = int(node.attributes.get("axis", 0)), bool(node.attributes.get("keepdims", 1))
    if node.attributes.get("select_last_index", 0):
        raise RefusedError("select_last_index is not supported")
    return _made(node, lambda x, _: x[0].argmax(axis=axis, keepdims=keep), exact=True)


def _size(node: Node) -> list[int]:
    size = node.attributes.get("kernel_shape")
    if not size or min(size) < 1 or node.attributes.get("ceil_mode", 0):
        raise RefusedError("it needs a kernel_shape, and ceil_mode is not supported")
    return list(size)


def _placed(node: Node, lengths: list[int]) -> Callable[[tuple[int, ...]], tuple[list[int], list[Any]]]:
    """Strides and padding, once the shape of the image is known."""
    given, axes = node.attributes, len(lengths)
    stride, gap = given.get("strides", [1] * axes), given.get("dilations", [1] * axes)
    pads, auto = given.get("pads", [0] * (2 * axes)), given.get("auto_pad", "NOTSET")
    if auto not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER") or len(pads) != 2 * axes:
        raise RefusedError(f"its padding {pads} ({auto}) is not supported")
    if not len(stride) == len(gap) == axes or min((*stride, *gap)) < 1 or min(pads) < 0:
        raise RefusedError("it needs strides and dilations from 1 and pads from 0 on, for each spatial axis")

    def placed(shape: tuple[int, ...]) -> tuple[list[int], list[Any]]:
        if not auto.startswith("SAME"):
            return stride, list(zip(pads[:axes], pads[axes:], strict=True))
        pairs = []
        for own, length, step, apart in zip(shape[2:], lengths, stride, gap, strict=True):
            total = max((-(-own // step) - 1) * step + (length - 1) * apart + 1 - own, 0)
            small, large = total // 2, total - total // 2
            pairs.append((small, large) if auto == "SAME_UPPER" else (large, small))
        return stride, pairs

    return placed


_MOVES = {"Identity", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Concat", "Slice", "Dropout"}
"""What is done to constants before anything is shared."""

TABLE: dict[str, Callable[[Node], Layer]] = {
    "Add": _arithmetic(1),
    "ArgMax": _argmax,
    "AveragePool": _avg_pool,
    "BatchNormalization": _batch_norm,
    "Clip": _clip,
    "Concat": _concat,
    "Constant": _identity,
    "Conv": _conv,
    "Div": _div,
    "Dropout": _dropout,
    "Flatten": _flatten,
    "Gemm": _gemm,
    "GlobalAveragePool": _global_pool,
    "Identity": _identity,
    "LeakyRelu": _leaky,
    "MatMul": _matmul,
    "MaxPool": _max_pool,
    "Mul": _mul,
    "Pad": _pad,
    "ReduceMean": _reduce_mean,
    "Relu": _relu,
    "Reshape": _reshape,
    "Slice": _slice,
    "Softmax": _identity,
    "Squeeze": _squeeze,
    "Sub": _arithmetic(-1),
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
"""The operators that are supported, all of them without training."""

INSTEAD = {
    "Sigmoid": "train with Relu, or write a program with tacit.sigmoid",
    "Tanh": "train with Relu, or write a program with tacit.tanh",
    **dict.fromkeys(("Gelu", "Erf"), "train with Relu, or write a program with tacit.normal_cdf"),
}
"""What there is in the place of some that aren't."""
