"""`tacit bench dnn`: networks that are made here, measured small."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import onnxruntime
import pytest

from tacit import _zoo


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


def test_the_large_networks_have_the_papers_layers() -> None:
    kinds = {name: [node.op_type for node in _zoo.make(name).proto.graph.node] for name in ["squeezenet"]}
    assert kinds["squeezenet"].count("Conv") == 26
    assert kinds["squeezenet"].count("MaxPool") == 3


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
