"""Tracing, structure, saving, pricing, and runs as a whole."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.errors import InputError, PlanError
from tests.support import F16

if TYPE_CHECKING:
    from pathlib import Path


@tacit.function
def richer(a: Any, b: Any) -> Any:
    return tacit.reveal((a > b).sum(), to="all"), tacit.reveal((a - b).sum(), to="alice")


A = tacit.secret("alice", shape=(1000,), dtype=F16, range=(0, 1e6))
B = tacit.secret("bob", shape=(1000,), dtype=F16, range=(0, 1e6))


def test_parameters_name_the_inputs() -> None:
    plan = tacit.function(
        lambda one, *rest, **named: tacit.reveal(one + sum(rest) + named["last"][0] + named["last"][1])
    ).trace(
        tacit.secret("alice", range=(0, 9)),
        tacit.secret("bob", range=(0, 9)),
        tacit.secret("bob", range=(0, 9)),
        last=[tacit.secret("carol", range=(0, 9), name="c"), 1],
    )
    assert [(given.owner, given.name) for given in plan.inputs] == [
        ("alice", "one"), ("bob", "rest[0]"), ("bob", "rest[1]"), ("carol", "c"),
    ]  # fmt: skip
    with tacit.local() as run:
        assert run(plan, alice=1, bob=[2, 3], c=4) == 11


def test_a_secret_given_twice_is_one_input_and_public_arguments_are_passed_on() -> None:
    plan = tacit.function(lambda a, b, scale=2: tacit.reveal(a + b * scale)).trace(A, A)
    assert len(plan.inputs) == 1


def test_results_have_the_functions_structure() -> None:
    def program(x: Any) -> Any:
        total = tacit.reveal(x.sum(), to=["alice", "bob"])
        return {"total": total, "parts": [tacit.reveal(x), (total, 7, "text", None)], 3: ()}

    plan = tacit.function(program).trace(tacit.secret("alice", shape=(2,), range=(0, 9)))
    assert [got.to for got in plan.outputs] == ["alice", "bob", "all"]
    with tacit.local() as run:
        got = run(plan, x=[1, 2])
    np.testing.assert_array_equal(got["parts"][0], [1.0, 2.0])
    got["parts"][0] = None
    assert got == {"total": 3.0, "parts": [None, (3.0, 7, "text", None)], 3: ()}


def test_results_are_plain_numbers_and_arrays() -> None:
    plan = tacit.function(lambda x, n: [tacit.reveal(v) for v in (x[0], x > 1, n, n[0] > 0, x)]).trace(
        tacit.secret("alice", shape=(2,), range=(0, 9)), tacit.secret("bob", shape=(2,), dtype=tacit.int8)
    )
    with tacit.local() as run:
        scalar, bools, ints, one, floats = run(plan, x=[1, 2], n=[3, 4])
    assert type(scalar) is float
    assert type(one) is bool
    assert [array.dtype for array in (bools, ints, floats)] == [np.bool_, np.int64, np.float64]


def test_a_function_can_call_another() -> None:
    double = tacit.function(lambda x: x * 2)
    plan = tacit.function(lambda x: tacit.reveal(double(x) + 1)).trace(tacit.secret("alice", range=(0, 9)))
    with tacit.local() as run:
        assert run(plan, x=4) == 9


@pytest.mark.parametrize("form", [pd.Series, np.array, list, tuple, lambda v: np.array(v)[::-1][::-1]])
def test_values_of_many_kinds_are_accepted(form: Any) -> None:
    plan = tacit.function(lambda x: tacit.reveal(x)).trace(tacit.secret("alice", shape=(3,), range=(0, 9)))
    with tacit.local() as run:
        np.testing.assert_array_equal(run(plan, alice={"x": form([1, 2.5, 3])}), [1, 2.5, 3])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64", "float32", "float64"])
def test_frames_and_arrays_of_every_width_are_accepted(dtype: str) -> None:
    frame = pd.DataFrame({"one": [1, 2], "two": [3, 4]}).astype(dtype)
    plan = tacit.function(lambda x: tacit.reveal(x)).trace(tacit.secret("alice", shape=(2, 2), range=(0, 9)))
    with tacit.local() as run:
        np.testing.assert_array_equal(run(plan, x=frame), [[1, 3], [2, 4]])
        np.testing.assert_array_equal(run(plan, x=frame.to_numpy().T), [[1, 2], [3, 4]])


def test_a_column_of_a_frame_is_public_beside_a_secret() -> None:
    frame = pd.DataFrame({"one": [1, 2]})
    plan = tacit.function(lambda x: tacit.reveal((x + frame["one"], frame["one"] * x))).trace(
        tacit.secret("alice", shape=(2,), range=(0, 9))
    )
    with tacit.local() as run:
        sums, products = run(plan, x=[1, 3])
    np.testing.assert_array_equal(sums, [2, 5])
    np.testing.assert_array_equal(products, [1, 6])


def test_a_plan_is_saved_and_read(tmp_path: Path) -> None:
    plan = richer.trace(A, B)
    plan.save(tmp_path / "plan")
    read = tacit.Plan.load(tmp_path / "plan")
    assert (read, read.hash, read.name, read.inputs, read.outputs) == (
        plan, plan.hash, "richer", plan.inputs, plan.outputs,
    )  # fmt: skip
    assert str(read.cost()) == str(plan.cost())
    with tacit.local() as run:
        assert run(read, a=np.ones(1000), b=np.zeros(1000)) == (1000, 1000.0)


def test_a_result_that_is_no_number_is_not_saved(tmp_path: Path) -> None:
    plan = tacit.function(lambda x: (tacit.reveal(x), float("nan"))).trace(tacit.secret("a", range=(0, 9)))
    with pytest.raises(PlanError, match="JSON"):
        plan.save(tmp_path / "plan")


RESULTS: list[Any] = [
    None, 5, {}, {"tup": []}, {"outputs": [9]}, {"outputs": []}, {"outputs": [True]}, {"tuple": [7]},
    {"dict": [[[], {"value": 1}]]}, {"dict": [1]}, {"value": []}, {"array": [1], "dtype": "O", "shape": [1]},
]  # fmt: skip


@pytest.mark.parametrize("result", RESULTS, ids=str)
def test_a_plan_with_a_damaged_structure_is_refused(tmp_path: Path, result: Any) -> None:
    richer.trace(A, B).save(tmp_path / "plan")
    head, body = (tmp_path / "plan").read_bytes().split(b"\n", 1)
    (tmp_path / "plan").write_bytes(json.dumps(json.loads(head) | {"result": result}).encode() + b"\n" + body)
    with pytest.raises(PlanError, match="structure"):
        tacit.Plan.load(tmp_path / "plan")


def test_a_plan_that_is_damaged_is_refused(tmp_path: Path) -> None:
    richer.trace(A, B).save(tmp_path / "plan")
    good = (tmp_path / "plan").read_bytes()
    _, body = good.split(b"\n", 1)
    for bad in (b"", b"\n", good[:-1], good + b"x", body, b"[]\n" + body, b"[" * 100_000 + b"\n" + body):
        (tmp_path / "bad").write_bytes(bad)
        with pytest.raises(PlanError):
            tacit.Plan.load(tmp_path / "bad")


def test_the_hash_is_that_of_what_is_computed() -> None:
    assert richer.trace(A, B).hash == richer.trace(A, B).hash
    other = tacit.secret("bob", shape=(1000,), dtype=F16, range=(0, 1e5))
    assert richer.trace(A, other).hash != richer.trace(A, B).hash


def test_a_plan_says_what_it_does() -> None:
    text = repr(richer.trace(A, B))
    assert "alice gives a: fixed(16) (1000,), 0 to 1e+06" in text
    assert "everybody learns\n    [0]: int16 (), 0 to 1000" in text
    assert "alice learns\n    [1]: fixed(16) ()" in text
    assert "to=['alice']" not in text


def test_a_plan_shows_its_operations(capsys: pytest.CaptureFixture[str]) -> None:
    plan = richer.trace(A, B)
    plan.show()
    text = capsys.readouterr().out
    assert text == f"{plan}\n"
    assert "operations:\n    %2 = < %1, %0: bool (1000,)  # " in text
    assert text.index("alice gives a") < text.index("operations:") < text.index("everybody learns")
    named = tacit.function(lambda x: {"\x1b[2Jé": tacit.reveal(x)}).trace(tacit.secret("bob\x07"))
    assert "bob\\x07 gives x" in str(named)
    assert "[2Jé']: fixed(16)" in repr(named)
    assert "default range" not in text
    usual = tacit.function(lambda x, n, m, b: tacit.reveal(x + n + m + b)).trace(
        tacit.secret("a"),
        tacit.secret("a", dtype=tacit.int8),
        tacit.secret("a", dtype=tacit.int64, range=(-5, 5)),
        tacit.secret("a", dtype=tacit.bool_),
    )
    given = [line for line in str(usual).splitlines() if " gives " in line]
    assert [line.endswith(" (default range)") for line in given] == [True, True, False, False]
    assert "x: fixed(16) (), -2.14748e+09 to 2.14748e+09 (default range)" in given[0]
    assert "\x1b" not in str(named)
    long = tacit.function(lambda x: tacit.reveal(sum(x[i] * (i + 2) for i in range(60)))).trace(A)
    assert "more; plan.show() prints them all" in str(long)
    long.show()
    assert len(capsys.readouterr().out.splitlines()) > len(str(long).splitlines()) + 20


def test_the_cost_is_that_of_the_run() -> None:
    plan = richer.trace(A, B)
    cost = plan.cost(net="wan")
    with tacit.local() as run:
        run(plan, a=np.arange(1000.0), b=np.ones(1000))
    assert run.report is not None
    assert run.report.bytes == cost.bytes
    assert run.report.rounds == cost.protocols["replicated"].phases["online"][0]
    for protocol in cost.protocols.values():
        lines = sum(line.bytes for line in protocol.lines)
        assert lines + protocol.shared_bytes == sum(protocol.bytes.values())
    assert "rounds online" in str(run.report)


def test_the_cost_prints_by_party_and_by_line() -> None:
    cost = richer.trace(A, B).cost(net="20ms,100mbit", protocol="replicated")
    text = str(cost)
    assert "on links of 100 Mbit/s, 20 ms round trip" in text
    assert "(a > b)" in text or "a > b" in text
    assert f"{cost.bytes['P0']:,}" in text
    read = json.loads(cost.to_json())
    assert read["net"] == {"rtt_seconds": 0.02, "bits_per_second": 1e8}
    assert read["protocols"][0]["bytes"] == list(cost.bytes.values())
    assert cost.seconds == pytest.approx(cost.rounds * 0.01, rel=0.2)


def test_a_party_that_gives_inputs_sends_less_than_a_client() -> None:
    plan = richer.trace(A, B)
    assert sum(plan.cost(parties=["alice", "bob", "carol"]).bytes.values()) < sum(plan.cost().bytes.values())


@pytest.mark.parametrize("net", ["", "fast", "1,2,3", "0,1", "1ms,-5", "20ms"])
def test_a_network_that_is_none(net: str) -> None:
    with pytest.raises(InputError, match="is not lan, wan, or a round trip"):
        richer.trace(A, B).cost(net=net)


def test_a_protocol_that_is_none() -> None:
    with pytest.raises(InputError, match="no protocol is named"):
        richer.trace(A, B).cost(protocol="nonsense")


def test_the_interpreter_goes_on_during_a_run() -> None:
    plan = tacit.function(lambda x: tacit.reveal((x @ x).sum())).trace(
        tacit.secret("alice", shape=(300, 300), range=(0, 1))
    )
    ticks = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    with tacit.local() as run:
        for _ in range(3):
            run(plan, x=np.ones((300, 300)))
    done.set()
    thread.join()
    assert len(ticks) > 3


def test_a_run_can_be_interrupted() -> None:
    code = (
        "import signal, threading, os, time, numpy as np, tacit\n"
        # Whoever started the tests in the background had the signal ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "x = tacit.secret('a', shape=(200000,), range=(0, 1))\n"
        "plan = tacit.function(lambda x: tacit.reveal(sum((x > i / 64).sum() for i in range(64)))).trace(x)\n"
        "threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "try:\n"
        "    with tacit.local() as run:\n"
        "        while True: run(plan, x=np.zeros(200000))\n"
        "except KeyboardInterrupt: print('interrupted')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "interrupted\n", done.stderr
    assert done.returncode in (0, -signal.SIGINT)


def test_importing_is_light() -> None:
    code = "import sys, tacit; print([m for m in ('numpy', 'pandas', 'inspect') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "numpy" not in done.stdout
    assert "pandas" not in done.stdout
