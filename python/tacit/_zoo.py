"""Networks to measure with, made here: He weights, normalisations that fit their values, always the same.

Trained weights would have to be fetched, and cost the same. These keep magnitudes as trained ones do:
filters are normal with variance 2 / (inputs of a window), and a normalisation has mean and variance of what
comes to it from a few images, which go through the network while it is made. Signs of scales are mixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tacit._onnx_graph import reader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]

OPSET = 17

SAMPLES = 4
"""Images that go through a network while it is made."""


@dataclass(frozen=True, slots=True)
class Made:
    """A network.

    Attributes:
        proto: As ONNX has it.
        shape: Of one input, without the rows.
    """

    proto: Any
    shape: tuple[int, ...]


def make(name: str, *, quick: bool = False, seed: int = 1) -> Made:
    """A network by name, of `NAMES`; a small one of the same form if `quick`."""
    return NAMES[name](quick, np.random.default_rng(seed))


def images(shape: Sequence[int], rows: int, seed: int = 2) -> Array:
    """Normal inputs; images have large patches and a little noise, so that they differ as a whole."""
    rng = np.random.default_rng(seed)
    fine = rng.normal(size=(rows, *shape))
    if len(shape) < 3:
        return fine.astype(np.float32)
    patch = max(1, shape[1] // 4)
    coarse = rng.normal(size=(rows, shape[0], *(-(-length // patch) for length in shape[1:])))
    large = coarse.repeat(patch, 2).repeat(patch, 3)[:, :, : shape[1], : shape[2]]
    return (large + fine / 4).astype(np.float32)


class _Maker:
    """A graph in the making. Its values are kept by name, on a few images."""

    def __init__(self, shape: tuple[int, ...], rng: np.random.Generator) -> None:
        self.shape = shape
        self.rng = rng
        self.nodes: list[Any] = []
        self.constants: dict[str, Array] = {}
        self.values: dict[str, Array] = {"x": images(shape, SAMPLES, seed=0)}

    def conv(
        self, x: str, outputs: int, size: int, *, stride: int = 1, pad: int = 0, bias: bool = False
    ) -> str:
        channels = self.values[x].shape[1]
        filters = self._normal((outputs, channels, size, size), channels * size * size)
        given = [x, self._constant("w", filters)]
        value = _convolved(self.values[x], filters, stride, pad)
        if bias:
            given.append(self._constant("b", self._normal((outputs,), 200)))
            value += self.constants[given[-1]][:, None, None]
        return self._node("Conv", given, value, kernel_shape=[size] * 2, strides=[stride] * 2, pads=[pad] * 4)

    def norm(self, x: str) -> str:
        value = self.values[x]
        mean, variance = value.mean(axis=(0, 2, 3)), value.var(axis=(0, 2, 3))
        channels = len(mean)
        scale = self.rng.uniform(0.5, 1.5, channels) * self.rng.choice([1, 1, 1, -1], channels)
        given = [scale, self.rng.normal(size=channels) / 4, mean, variance]
        s, o, m, v = (array.astype(np.float32)[:, None, None] for array in given)
        names = [self._constant(name, array) for name, array in zip("somv", given, strict=True)]
        return self._node(
            "BatchNormalization", [x, *names], (value - m) / np.sqrt(v + 1e-5) * s + o, epsilon=1e-5
        )

    def relu(self, x: str) -> str:
        return self._node("Relu", [x], np.maximum(self.values[x], 0))

    def max_pool(self, x: str, size: int, stride: int, pad: int = 0) -> str:
        around = np.pad(self.values[x], [(0, 0)] * 2 + [(pad, pad)] * 2, constant_values=-np.inf)
        value = _windows(around, size, stride).max(axis=(4, 5))
        return self._node(
            "MaxPool", [x], value, kernel_shape=[size] * 2, strides=[stride] * 2, pads=[pad] * 4
        )

    def avg_pool(self, x: str, size: int) -> str:
        value = _windows(self.values[x], size, size).mean(axis=(4, 5))
        return self._node("AveragePool", [x], value, kernel_shape=[size] * 2, strides=[size] * 2)

    def mean(self, x: str) -> str:
        pooled = self._node("GlobalAveragePool", [x], self.values[x].mean(axis=(2, 3), keepdims=True))
        return self._node("Flatten", [pooled], self.values[pooled].reshape(SAMPLES, -1))

    def add(self, x: str, y: str) -> str:
        return self._node("Add", [x, y], self.values[x] + self.values[y])

    def join(self, *parts: str) -> str:
        return self._node("Concat", list(parts), np.concatenate([self.values[x] for x in parts], 1), axis=1)

    def linear(self, x: str, outputs: int) -> str:
        inputs = self.values[x].shape[1]
        matrix, bias = self._normal((outputs, inputs), inputs), self._normal((outputs,), 200)
        given = [x, self._constant("w", matrix), self._constant("b", bias)]
        return self._node("Gemm", given, self.values[x] @ matrix.T + bias, transB=1)

    def made(self, output: str) -> Made:
        onnx = reader()
        helper, kind = onnx.helper, onnx.TensorProto.FLOAT
        arrays = [onnx.numpy_helper.from_array(value, name) for name, value in self.constants.items()]
        graph = helper.make_graph(
            self.nodes,
            "network",
            [helper.make_tensor_value_info("x", kind, (None, *self.shape))],
            [helper.make_tensor_value_info(output, kind, None)],
            arrays,
        )
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        return Made(proto, self.shape)

    def _normal(self, shape: tuple[int, ...], inputs: int) -> Array:
        values: Array = self.rng.normal(size=shape) * np.sqrt(2 / inputs)
        return values.astype(np.float32)

    def _constant(self, name: str, value: Array) -> str:
        called = f"{name}{len(self.constants)}"
        self.constants[called] = value.astype(np.float32)
        return called

    def _node(self, kind: str, inputs: list[str], value: Array, **attributes: Any) -> str:
        output = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(reader().helper.make_node(kind, inputs, [output], output, **attributes))
        self.values[output] = value.astype(np.float32)
        return output


def _windows(x: Array, size: int, stride: int) -> Array:
    seen: Array = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3))
    return seen[:, :, ::stride, ::stride]


def _convolved(x: Array, filters: Array, stride: int, pad: int) -> Array:
    around = np.pad(x, [(0, 0)] * 2 + [(pad, pad)] * 2)
    seen = _windows(around, filters.shape[2], stride).transpose(0, 2, 3, 1, 4, 5)
    batch, high, wide = seen.shape[:3]
    made: Array = seen.reshape(batch * high * wide, -1) @ filters.reshape(len(filters), -1).T
    return made.reshape(batch, high, wide, -1).transpose(0, 3, 1, 2)


def _resnet50(quick: bool, rng: np.random.Generator) -> Made:
    """He et al. 2016, table 1; strides in the 3 x 3 convolutions, as all libraries have them."""
    width, side, classes, blocks = (4, 32, 10, (1, 2, 1, 1)) if quick else (64, 224, 1000, (3, 4, 6, 3))
    net = _Maker((3, side, side), rng)
    x = net.relu(net.norm(net.conv("x", width, 7, stride=2, pad=3)))
    x = net.max_pool(x, 3, 2, 1)
    for level, count in enumerate(blocks):
        inner = width << level
        for block in range(count):
            stride = 2 if block == 0 and level > 0 else 1
            y = net.relu(net.norm(net.conv(x, inner, 1)))
            y = net.relu(net.norm(net.conv(y, inner, 3, stride=stride, pad=1)))
            y = net.norm(net.conv(y, 4 * inner, 1))
            side_way = x if block else net.norm(net.conv(x, 4 * inner, 1, stride=stride))
            x = net.relu(net.add(y, side_way))
    return net.made(net.linear(net.mean(x), classes))


def _densenet121(quick: bool, rng: np.random.Generator) -> Made:
    """Huang et al. 2017, table 1."""
    growth, side, classes, blocks = (4, 32, 10, (2, 3, 2, 2)) if quick else (32, 224, 1000, (6, 12, 24, 16))
    net = _Maker((3, side, side), rng)
    x = net.relu(net.norm(net.conv("x", 2 * growth, 7, stride=2, pad=3)))
    x = net.max_pool(x, 3, 2, 1)
    for level, count in enumerate(blocks):
        for _ in range(count):
            y = net.conv(net.relu(net.norm(x)), 4 * growth, 1)
            y = net.conv(net.relu(net.norm(y)), growth, 3, pad=1)
            x = net.join(x, y)
        x = net.relu(net.norm(x))
        if level + 1 < len(blocks) and net.values[x].shape[2] > 1:
            x = net.avg_pool(net.conv(x, net.values[x].shape[1] // 2, 1), 2)
    return net.made(net.linear(net.mean(x), classes))


def _squeezenet(quick: bool, rng: np.random.Generator) -> Made:
    """SqueezeNet 1.1 of Iandola et al. 2016: their repository's second version."""
    width, side, classes = (2, 47, 10) if quick else (16, 224, 1000)
    net = _Maker((3, side, side), rng)
    x = net.max_pool(net.relu(net.conv("x", 4 * width, 3, stride=2, bias=True)), 3, 2)
    for place, squeezed in enumerate((1, 1, 2, 2, 3, 3, 4, 4)):
        if place in (2, 4):
            x = net.max_pool(x, 3, 2)
        x = net.relu(net.conv(x, squeezed * width, 1, bias=True))
        parts = [
            net.relu(net.conv(x, 4 * squeezed * width, size, pad=size // 2, bias=True)) for size in (1, 3)
        ]
        x = net.join(*parts)
    return net.made(net.mean(net.relu(net.conv(x, classes, 1, bias=True))))


def _mlp(quick: bool, rng: np.random.Generator) -> Made:
    """Three linear layers on images of 28 x 28."""
    inputs, hidden = (49, 16) if quick else (784, 128)
    net = _Maker((inputs,), rng)
    x = net.relu(net.linear("x", hidden))
    x = net.relu(net.linear(x, hidden))
    return net.made(net.linear(x, 10))


NAMES = {"resnet50": _resnet50, "densenet121": _densenet121, "squeezenet": _squeezenet, "mlp": _mlp}
"""What can be made."""
