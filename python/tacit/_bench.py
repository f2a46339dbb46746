"""What `tacit bench dnn` measures: a network's plan, its inputs and its clear result, as files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _zoo, onnx
from tacit.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from tacit._plan import Plan

OWNER, CLIENT = "P1", "P0"
"""Who gives the weights, and who asks and is told: parties of the benchmark."""

BOUND = 16.0
"""Images are below that."""


def network(name: str, rows: int, quick: bool, kept: bool, folder: Path) -> None:
    """Writes `network.plan`, `network-0.npy` and so on in the order of the plan's inputs, and `float.npy`.

    If the weights are to be kept, `keep.plan` keeps them, with inputs `keep-0.npy` and so on. The other plan
    reads them in that order. Ranges come from other images. `float.npy` is what onnxruntime computes.

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
    asked = _zoo.images(made.shape, rows)
    given = {"x": asked, **model.parameters()}
    weights = "kept" if kept else "secret"
    plan = model.plan(rows, owner=OWNER, client=CLIENT, bound=BOUND, weights=weights)
    _write("network", plan, given, folder)
    if kept:
        _write("keep", model.keep(owner=OWNER, readers=[plan]), given, folder)
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    np.save(folder / "float.npy", session.run(None, {"x": asked})[0].astype(np.float64))


def _write(name: str, plan: Plan, given: dict[str, Any], folder: Path) -> None:
    """Writes a plan and what its inputs are."""
    plan.save(folder / f"{name}.plan")
    for place, declared in enumerate(plan.inputs):
        array = np.asarray(given[declared.name])
        kind = np.int64 if array.dtype.kind == "i" else np.float64
        np.save(folder / f"{name}-{place}.npy", array.astype(kind))
