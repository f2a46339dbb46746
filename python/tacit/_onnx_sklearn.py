"""scikit-learn's multilayer perceptrons as ONNX networks: where scikit-learn is imported."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.neural_network import MLPClassifier, MLPRegressor

from tacit import _onnx_graph
from tacit._sklearn import fitted_steps
from tacit.errors import InputError


def network(estimator: Any) -> tuple[Any, tuple[Any, ...]]:
    """An estimator's network, and its labels. See `tacit.onnx.from_sklearn`."""
    scalers, last = fitted_steps(estimator)
    if not isinstance(last, (MLPClassifier, MLPRegressor)):
        raise InputError(f"an MLPClassifier or MLPRegressor is needed, not {type(last).__name__}")
    if last.activation not in ("relu", "identity"):
        raise InputError(
            f'the activation {last.activation!r} is not supported: train it with activation="relu"'
        )
    if last.out_activation_ == "logistic" and last.n_outputs_ > 1:
        raise InputError("the estimator tells several labels at once: train one for each")
    matrices = [np.asarray(one, dtype=np.float64) for one in last.coefs_]
    biases = [np.asarray(one, dtype=np.float64) for one in last.intercepts_]
    for scaler in reversed(scalers):
        if scaler.with_std:
            matrices[0] = (matrices[0].T / scaler.scale_).T
        if scaler.with_mean:
            biases[0] = biases[0] - scaler.mean_ @ matrices[0]
    classes = tuple(
        one.item() if isinstance(one, np.generic) else one for one in getattr(last, "classes_", ())
    )
    if classes and last.n_outputs_ == 1:
        # One score, of the second class; the first one's is 0, and wins where they are equal.
        matrices[-1] = np.hstack([np.zeros_like(matrices[-1]), matrices[-1]])
        biases[-1] = np.concatenate([[0.0], biases[-1]])
    return _proto(matrices, biases, last.activation == "relu", bool(classes)), classes


def _proto(matrices: list[Any], biases: list[Any], relu: bool, classes: bool) -> Any:
    """The ONNX model of some linear layers."""
    onnx = _onnx_graph.reader()
    helper, array = onnx.helper, onnx.numpy_helper.from_array
    nodes, constants, at = [], [], "x"
    for place, (matrix, bias) in enumerate(zip(matrices, biases, strict=True)):
        constants += [
            array(matrix.astype(np.float32), f"w{place}"),
            array(bias.astype(np.float32), f"b{place}"),
        ]
        nodes.append(helper.make_node("Gemm", [at, f"w{place}", f"b{place}"], [f"h{place}"]))
        at = f"h{place}"
        if relu and place < len(matrices) - 1:
            nodes.append(helper.make_node("Relu", [at], [f"r{place}"]))
            at = f"r{place}"
    if classes:
        nodes.append(helper.make_node("ArgMax", [at], ["class"], axis=1, keepdims=0))
        at = "class"
    kind = onnx.TensorProto.INT64 if classes else onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "mlp",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [None, len(matrices[0])])],
        [helper.make_tensor_value_info(at, kind, None)],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
