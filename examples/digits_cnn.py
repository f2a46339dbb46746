"""A small convolutional network reads handwritten digits; its owner and its client show each other nothing.

The owner trains the network in the clear (a convolution, ReLU, a pool, a linear layer; in NumPy, a second)
and writes it as an ONNX file, as a framework would export it. The client asks about images and is told which
digits they are, not how sure the network is. The servers learn neither weights nor images.

`python digits_cnn.py digits.onnx` keeps the file, for `tacit infer digits.onnx`.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import tacit
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.datasets import load_digits

CHANNELS, EPOCHS, RATE = 8, 30, 0.006

digits = load_digits()
images = (digits.images[:, None] / 16).astype(np.float32)
asked, truth = images[1437:], digits.target[1437:]


def forward(weights: dict[str, Any], x: Any) -> tuple[Any, ...]:
    """Scores, and what the gradient needs."""
    windows = sliding_window_view(x[:, 0], (3, 3), axis=(1, 2)).reshape(len(x), 36, 9)
    seen = windows @ weights["filters"].reshape(CHANNELS, 9).T + weights["shift"]
    blocks = seen.reshape(len(x), 3, 2, 3, 2, CHANNELS).transpose(0, 5, 1, 3, 2, 4).reshape(len(x), -1, 4)
    pooled = np.maximum(blocks.max(axis=2), 0)
    return pooled @ weights["linear"] + weights["bias"], windows, blocks, pooled


def train() -> dict[str, Any]:
    """Adam on batches of 64 (Kingma and Ba, 2015)."""
    rng = np.random.default_rng(0)
    weights = {
        "filters": rng.normal(size=(CHANNELS, 1, 3, 3)) / 3,
        "shift": np.zeros(CHANNELS),
        "linear": rng.normal(size=(9 * CHANNELS, 10)) / 8,
        "bias": np.zeros(10),
    }
    first = {name: np.zeros_like(value) for name, value in weights.items()}
    second = {name: np.zeros_like(value) for name, value in weights.items()}
    step = 0
    for _ in range(EPOCHS):
        for rows in np.array_split(rng.permutation(1437), 23):
            scores, windows, blocks, pooled = forward(weights, images[rows])
            odds = tacit.nn.softmax(scores)
            odds[np.arange(len(rows)), digits.target[rows]] -= 1
            odds /= len(rows)
            back = (odds @ weights["linear"].T * (pooled > 0))[:, :, None]
            back = back * (np.arange(4) == blocks.argmax(axis=2)[:, :, None])
            back = (
                back.reshape(-1, CHANNELS, 3, 3, 2, 2).transpose(0, 2, 4, 3, 5, 1).reshape(-1, 36, CHANNELS)
            )
            gradients = {
                "filters": np.einsum("rpc,rpw->cw", back, windows).reshape(CHANNELS, 1, 3, 3),
                "shift": back.sum(axis=(0, 1)),
                "linear": pooled.T @ odds,
                "bias": odds.sum(axis=0),
            }
            step += 1
            for name, gradient in gradients.items():
                first[name] = 0.9 * first[name] + 0.1 * gradient
                second[name] = 0.999 * second[name] + 0.001 * gradient**2
                mean, square = first[name] / (1 - 0.9**step), second[name] / (1 - 0.999**step)
                weights[name] -= RATE * mean / (np.sqrt(square) + 1e-8)
    return weights


def write(weights: dict[str, Any], path: Path) -> None:
    """The network as an ONNX file."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes = [
        helper.make_node("Conv", ["image", "filters", "shift"], ["seen"]),
        helper.make_node("Relu", ["seen"], ["lit"]),
        helper.make_node("MaxPool", ["lit"], ["pooled"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("Gemm", ["flat", "linear", "bias"], ["scores"]),
        helper.make_node("ArgMax", ["scores"], ["digit"], axis=1, keepdims=0),
    ]
    constants = [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()]
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [None, 1, 8, 8])
    digit = helper.make_tensor_value_info("digit", TensorProto.INT64, [None])
    graph = helper.make_graph(nodes, "digits", [image], [digit], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save_model(model, path)


if __name__ == "__main__":
    trained = train()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(sys.argv[1] if len(sys.argv) > 1 else f"{folder}/digits.onnx")
        write(trained, file)
        model = tacit.onnx.load(file)
    plan = model.plan(rows=len(asked), owner="owner", client="client", bound=1.0)
    with tacit.local() as run:
        told = model.decode(run(plan, owner=model.parameters(), client=asked))
    clear = forward(trained, asked)[0].argmax(axis=1)
    print(f"{np.sum(told == truth)} of {len(asked)} right in secret, {np.sum(clear == truth)} in the clear")
    print(f"{run.report.rounds} rounds, {sum(run.report.bytes.values()):,} bytes")
