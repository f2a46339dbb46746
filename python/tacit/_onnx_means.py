"""Means in networks: the 1/n of a pool joins the weights that its sums are multiplied by."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit._onnx_graph import reader

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable

    from tacit._onnx_graph import Layer, Mean

LEAST = 2.0**-14
"""The largest weight is at least that when it has taken in 1/n: smaller ones have no more fraction bits."""

LARGE = 1 << 12
"""Constants with more elements aren't looked at for shapes."""

_BETWEEN = {
    *("Dropout", "Flatten", "Identity", "Relu"),
    *("Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"),
}
"""What makes n times as much of n times as much, for an n above 0."""


def averaged(
    layers: list[Layer], readers: Counter[str], shapes: Callable[[], dict[str, tuple[int, ...]]]
) -> list[Layer]:
    """Sums in place of means, where only a convolution or linear layer reads these: its weights take in 1/n.

    So nothing is divided, and nothing truncated.

    Args:
        layers: A network's.
        readers: How many read each value.
        shapes: What says the shapes of values; asked if something depends on it.
    """
    made = {layer.output: layer for layer in layers}
    reading = {name: layer.output for layer in layers for name in layer.inputs if readers[name] == 1}
    known = functools.cache(shapes)
    for layer in layers:
        between, last = [], reading.get(layer.output) if layer.mean is not None else None
        while last is not None and made[last].kind in _BETWEEN:
            between.append(last)
            last = reading.get(last)
        weights = made[last].weights.get("weights") if last is not None else None
        if layer.mean is None or last is None or weights is None:
            continue
        count = _count(layer.mean, known().get(layer.inputs[0], ()))
        if count < 2 or np.abs(weights).max(initial=0) / count < LEAST:
            continue
        size = np.array([1 / count])
        made[last] = _averaging(made[last], count)
        made[layer.output] = replace(layer, apply=_sums(layer.mean, count), size=size)
        made.update({name: replace(made[name], size=size) for name in between})
    return list(made.values())


def shapes_of(proto: Any) -> dict[str, tuple[int, ...]]:
    """Shapes of a model's values, as far as they are known: 0 stands for lengths that aren't."""
    onnx = reader()
    from onnx.shape_inference import infer_shapes

    graph = proto.graph
    light = onnx.ModelProto(ir_version=proto.ir_version, opset_import=proto.opset_import)
    light.graph.name = "shapes"
    for name in ("node", "input", "output"):
        getattr(light.graph, name).extend(getattr(graph, name))
    for one in graph.initializer:
        if np.prod(one.dims, dtype=float) > LARGE:
            light.graph.input.append(
                onnx.helper.make_tensor_value_info(one.name, one.data_type, list(one.dims))
            )
        else:
            light.graph.initializer.append(one)
    try:
        found = infer_shapes(light).graph
    except Exception:
        # The library's own kinds; what is wrong, is told where the network is planned.
        return {}
    return {
        one.name: tuple(dim.dim_value for dim in one.type.tensor_type.shape.dim)
        for one in (*found.input, *found.value_info)
        if one.type.tensor_type.HasField("shape")
    }


def _count(mean: Mean, shape: tuple[int, ...]) -> int:
    """Of how many elements a mean is; 0 if that isn't known."""
    try:
        return mean.count(shape)
    except IndexError:
        return 0


def _averaging(layer: Layer, count: int) -> Layer:
    """A layer that reads sums of so many elements where it read means.

    Its weights have another name, so that no plan that was made for means takes them.
    """
    others = {name: array for name, array in layer.weights.items() if name != "weights"}
    given = {"averaging": layer.weights["weights"] / count, **others}
    apply = layer.apply
    return replace(layer, weights=given, apply=lambda x, w: apply(x, {**w, "weights": w["averaging"]}))


def _sums(mean: Mean, count: int) -> Callable[[list[Any], dict[str, Any]], Any]:
    """What makes sums of as many elements as weights are divided by."""

    def apply(x: list[Any], _: dict[str, Any]) -> Any:
        if mean.count(x[0].shape) != count:
            raise ValueError(f"a mean of {count} elements would be one of {mean.count(x[0].shape)}")
        return mean.sums(x[0])

    return apply
