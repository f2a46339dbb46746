"""What `tacit bench` measures of networks and tables: a plan and its inputs, as files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tacit._inputs import assigned
from tacit.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from tacit._plan import Plan

OWNER, CLIENT = "P1", "P0"
"""Who gives the weights, and who asks and is told: parties of the benchmark."""

BOUND = 16.0
"""Images are below that."""


class WrongResultError(Exception):
    """What a plan computes in the clear isn't what others compute."""


def measured(work: str, folder: Path) -> None:
    """Writes `bench.plan`, and `bench-0.npy` and so on in the order of the plan's inputs.

    If a network's weights are to be kept, `keep.plan` keeps them, with inputs `keep-0.npy` and so on. The
    other plan reads them in that order.

    Args:
        work: What is measured, as JSON.
        folder: Where the files go.

    Raises:
        InputError: A package is missing, or there is nothing of these sizes.
        WrongResultError: What the plan computes in the clear isn't what pandas or DuckDB do.
    """
    asked = json.loads(work)
    ((name, sizes),) = asked["work"].items()
    if name == "dnn":
        _network(sizes["network"], sizes["rows"], asked["quick"], sizes["weights"] == "kept", folder)
        return
    try:
        from tacit import _bench_tables
    except ImportError as error:
        raise InputError(
            f"tables are compared with pandas and DuckDB, and there is no {error.name}: "
            "pip install duckdb pandas pyarrow sqlglot tpchgen-cli"
        ) from None
    if name == "tpch":
        plan, given, check = _bench_tables.tpch(sizes["query"], sizes["scale"], asked["quick"], folder)
    else:
        make = {"join": _bench_tables.join, "groupby": _bench_tables.groupby}[name]
        plan, given, check = make(sizes["count"], sizes["bits"], sizes["columns"], asked["seed"])
    check(plan._restore(plan._program.evaluate(written("bench", plan, given, folder))))


def written(name: str, plan: Plan, given: dict[str, Any], folder: Path) -> list[Any]:
    """Writes a plan and its inputs, and gives those back."""
    import numpy as np

    plan.save(folder / f"{name}.plan")
    values = assigned(plan.inputs, given, plan.tables)
    for place, value in enumerate(values):
        np.save(folder / f"{name}-{place}.npy", np.asarray(value))
    return values


def _network(name: str, rows: int, quick: bool, kept: bool, folder: Path) -> None:
    """A network's plan and inputs, and `float.npy`, which is what onnxruntime computes.

    Ranges come from other images.
    """
    import numpy as np

    from tacit import _zoo, onnx

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
    written("bench", plan, {declared.name: given[declared.name] for declared in plan.inputs}, folder)
    if kept:
        keep = model.keep(owner=OWNER, readers=[plan])
        written("keep", keep, {declared.name: given[declared.name] for declared in keep.inputs}, folder)
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    np.save(folder / "float.npy", session.run(None, {"x": asked})[0].astype(np.float64))
