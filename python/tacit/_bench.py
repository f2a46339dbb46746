"""What `tacit bench dnn` measures: a network's plan, its inputs and its clear result, as files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit import _zoo, onnx
from tacit.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

OWNER, CLIENT = "P1", "P0"
"""Who gives the weights, and who asks and is told: parties of the benchmark."""

BOUND = 16.0
"""Images are below that."""


def network(name: str, rows: int, quick: bool, folder: Path) -> None:
    """Writes `network.plan`, `input-0.npy` and so on in the order of the plan's inputs, and `float.npy`.

    Ranges come from other images. `float.npy` is what onnxruntime computes.

    Raises:
        InputError: A package is missing.
    """
    try:
        import onnxruntime
    except ImportError:
        raise InputError(
            "networks are compared with onnxruntime's results: pip install onnxruntime"
        ) from None
    made = _zoo.make(name, quick=quick)
    file = folder / "network.onnx"
    file.write_bytes(made.proto.SerializeToString())
    model = onnx.load(file).calibrate(_zoo.images(made.shape, 2, seed=3))
    plan = model.plan(rows, owner=OWNER, client=CLIENT, bound=BOUND)
    plan.save(folder / "network.plan")
    asked = _zoo.images(made.shape, rows)
    given = {"x": asked, **model.parameters()}
    for place, declared in enumerate(plan.inputs):
        array = np.asarray(given[declared.name])
        np.save(
            folder / f"input-{place}.npy", array.astype(np.int64 if array.dtype.kind == "i" else np.float64)
        )
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    np.save(folder / "float.npy", session.run(None, {"x": asked})[0].astype(np.float64))
