"""`tacit bench`: networks and tables that are made here, measured small."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnxruntime
import pytest

import tacit
from tacit import _bench, _bench_tables, _zoo
from tacit._inputs import assigned
from tacit._tpch import Data
from tacit.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


def scores(made: _zoo.Made, rows: int) -> Any:
    session = onnxruntime.InferenceSession(made.proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": _zoo.images(made.shape, rows)})[0]


@pytest.mark.parametrize("name", _zoo.NAMES)
def test_a_network_is_always_the_same_and_its_values_keep_their_size(name: str) -> None:
    made = _zoo.make(name, quick=True)
    got = scores(made, 3)
    assert (got == scores(_zoo.make(name, quick=True), 3)).all()
    assert 0.02 < np.abs(got).max() < 100
    assert all((one != other).any() for one, other in pairwise(got))


# Of each: linear layers, max pools, products in linear layers in thousands of millions, their results, each
# of which is truncated, and ReLUs, in millions.
LARGE = {
    "resnet50": (54, 1, 4.09, 11.1, 9.6),
    "densenet121": (121, 1, 2.83, 6.9, 15.7),
    "squeezenet": (26, 3, 0.35, 2.6, 2.6),
}


@pytest.mark.parametrize("name", LARGE)
def test_the_large_networks_have_the_papers_layers(name: str) -> None:
    graph = onnx.shape_inference.infer_shapes(_zoo.make(name).proto).graph
    sizes = {
        info.name: prod(dim.dim_value or 1 for dim in info.type.tensor_type.shape.dim)
        for info in [*graph.value_info, *graph.output]
    }
    weights = {array.name: prod(array.dims[1:]) for array in graph.initializer}
    linear = [node for node in graph.node if node.op_type in {"Conv", "Gemm"}]
    pools = sum(node.op_type == "MaxPool" for node in graph.node)
    products = sum(sizes[node.output[0]] * weights[node.input[1]] for node in linear)
    truncated = sum(sizes[node.output[0]] for node in linear)
    rectified = sum(sizes[node.output[0]] for node in graph.node if node.op_type == "Relu")
    counted = (
        len(linear),
        pools,
        round(products / 1e9, 2),
        round(truncated / 1e6, 1),
        round(rectified / 1e6, 1),
    )
    assert counted == LARGE[name]


@pytest.mark.parametrize("name", LARGE)
def test_images_have_the_scores_of_floats(name: str, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    quick = not pytestconfig.getoption("--long")
    rows = 2 if quick else 10
    made = _zoo.make(name, quick=quick)
    file = tmp_path / "network.onnx"
    file.write_bytes(made.proto.SerializeToString())
    model = tacit.onnx.load(file).calibrate(_zoo.images(made.shape, 2, seed=3))
    plan = model.plan(1, bound=_bench.BOUND)
    asked = _zoo.images(made.shape, rows)
    outputs = []
    for image in asked:
        values: list[Any] = assigned(plan.inputs, {"x": image[None], **model.parameters()}, plan.tables)
        # What parties compute is this to the last bit.
        outputs += [*model.decode(plan._restore(plan._program.evaluate(values)))]
    got, right = np.array(outputs), scores(made, rows)
    errors = np.abs(got - right).max(axis=1) / np.ptp(right, axis=1)
    print(f"{name}: largest error {100 * errors.max():.3f} % of the spread of scores")
    assert (got.argmax(axis=1) == right.argmax(axis=1)).all()
    assert errors.max() <= 0.01


def test_the_papers_tables_have_ours_beside_them() -> None:
    command = [sys.executable, "-m", "tacit", "bench", "dnn", "--paper", "--model", "squeezenet", "--quick"]
    done = subprocess.run(
        [*command, "--transport", "memory", "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    ways = ["Semi + Semi", "SW + BGIN19", "SW + Ours"]
    assert [run["paper_name"] for run in told["runs"]] == [*ways, *ways]
    assert [run["net"] for run in told["runs"]] == [None] * 3 + ["1ms,1gbit"] * 3
    assert all(run["ands"] > 0 and run["bytes"] > 0 for run in told["runs"])
    assert [run["paper_seconds"] for run in told["runs"]][2::3] == [58.89, 448.96]
    assert told["ands"][0]["paper_exact"] == 1_026_065_325


def measured(name: str, *options: str) -> Any:
    command = [sys.executable, "-m", "tacit", "bench", "dnn", "--model", name, "--quick", "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("protocol", ["replicated", "replicated-malicious"])
@pytest.mark.parametrize("transport", ["memory", "tcp"])
def test_weights_are_kept_before_or_given(protocol: str, transport: str) -> None:
    options = ["--protocol", protocol, "--transport", transport, "--weights"]
    kept, given = (measured("mlp", *options, weights) for weights in ["kept", "given"])
    assert (kept["weights"], given["weights"]) == ("kept", "given")
    assert kept["accuracy"]["argmax"] == given["accuracy"]["argmax"] == 1
    # The owner, P1, gives nothing any more, and nobody looks at the weights' ranges.
    assert kept["input_bytes"][1] == 0 < given["input_bytes"][1]
    looked_at = protocol == "replicated-malicious"
    assert (sum(kept["sent_bytes"]) < sum(given["sent_bytes"])) == looked_at


@pytest.mark.parametrize("name", _zoo.NAMES)
def test_the_benchmark_compares_with_the_clear_result_and_with_floats(name: str) -> None:
    figures = measured(name, "--protocol", "replicated-malicious", "--transport", "memory", "--rows", "2")
    assert (figures["bench"], figures["count"]) == ("dnn", 2)
    assert figures["accuracy"]["argmax"] == figures["accuracy"]["rows"] == 2
    assert figures["accuracy"]["error"] < 0.01


def command(*options: str) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", "tacit", "bench", *options, "--json"]
    return subprocess.run(whole, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (("join", "--count", "100", "--columns", "2"), 100),
        (("groupby", "--count", "200", "--bits", "8"), 200),
        (("tpch", "--query", "12", "--quick", "--protocol", "replicated-malicious"), 1),
    ],
)
def test_tables_are_measured_and_send_what_their_cost_says(options: tuple[str, ...], count: int) -> None:
    done = command(*options)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert (figures["bench"], figures["count"], figures["transport"]) == (options[0], count, "tcp")
    assert figures["seconds"] > 0
    cost = json.loads(command(*options, "--cost").stdout)
    for key in ["sent_bytes", "input_bytes", "output_bytes", "rounds"]:
        assert cost[key] == figures[key]


def test_keys_that_are_none_are_refused() -> None:
    done = command("join", "--count", "200", "--bits", "8")
    assert done.returncode == 2
    assert "keys of 8 bits can't have 400 different values" in done.stderr
    assert "up to 60 bits" in command("groupby", "--count", "2", "--bits", "64").stderr


def test_a_wrong_clear_result_ends_a_benchmark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    work = {"work": {"join": {"count": 20, "bits": 8, "columns": 1}}, "quick": True, "seed": 1}
    _bench.measured(json.dumps(work), tmp_path)
    compare = _bench_tables._compare

    def altered(got: dict[str, Any], expected: Any) -> None:
        got["b0"] = got["b0"] ^ 1
        compare(got, expected)

    monkeypatch.setattr(_bench_tables, "_compare", altered)
    with pytest.raises(_bench.WrongResultError, match="that pandas has"):
        _bench.measured(json.dumps(work), tmp_path)
    answer = Data.answer
    monkeypatch.setattr(Data, "answer", lambda data, number: answer(data, number) * 2)
    work = {"work": {"tpch": {"query": 6, "scale": 0.001}}, "quick": True, "seed": 1}
    with pytest.raises(_bench.WrongResultError, match=r"row 0 is \(\d+\.\d+,\), where"):
        _bench.measured(json.dumps(work), tmp_path)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    work = {"work": {"tpch": {"query": 6, "scale": 0.001}}, "quick": True, "seed": 1}
    with pytest.raises(InputError, match="made by tpchgen-cli: pip install tpchgen-cli"):
        _bench.measured(json.dumps(work), tmp_path)
    monkeypatch.setitem(sys.modules, "tacit._bench_tables", None)
    monkeypatch.delattr(tacit, "_bench_tables", raising=False)
    with pytest.raises(InputError, match="pip install duckdb pandas"):
        _bench.measured(json.dumps(work), tmp_path)
