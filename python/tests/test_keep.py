"""Values that stay with the parties from one run to the next."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import tacit

if TYPE_CHECKING:
    from pathlib import Path

    from tacit import Revealed, Tensor


@tacit.function
def train(x: Tensor, y: Tensor) -> None:
    weights = tacit.dot(x.T, y) / 4
    tacit.keep(weights, "weights")


@tacit.function
def predict(weights: Tensor, row: Tensor) -> Revealed:
    return tacit.reveal(tacit.dot(row, weights), to="client")


X = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25], [-2.0, 1.0]])
Y = np.array([1.0, -1.0, 2.0, 0.5])
WEIGHTS = X.T @ Y / 4

TRAIN = train.trace(
    tacit.secret("P0", shape=(4, 2), range=(-8, 8)), tacit.secret("P1", shape=4, range=(-8, 8))
)
PREDICT = predict.trace(
    tacit.kept("weights", shape=2, range=(-100, 100)), tacit.secret("client", shape=2, range=(-8, 8))
)


@pytest.mark.parametrize("protocol", ["replicated", "replicated-malicious", "astra", "astra-malicious"])
def test_a_model_that_nobody_knows_stays(protocol: str) -> None:
    row = np.array([0.5, -3.0])
    with tacit.local(protocol) as run:
        assert run(TRAIN, x=X, y=Y) is None
        assert run.report is not None
        assert run.report.kept == ("weights@1",)
        for _ in range(2):
            assert run(PREDICT, row=row) == pytest.approx(row @ WEIGHTS, abs=1e-3)
        assert run.report.read == {"weights": "weights@1"}
        run(TRAIN, x=X, y=-Y)
        assert run.kept == ("weights@1", "weights@2")
        assert run(PREDICT, row=row) == pytest.approx(-row @ WEIGHTS, abs=1e-3)
        old = run(PREDICT, kept={"weights": "weights@1"}, row=row)
        assert old == pytest.approx(row @ WEIGHTS, abs=1e-3)
        run.drop("weights@2")
        assert run(PREDICT, row=row) == pytest.approx(row @ WEIGHTS, abs=1e-3)
        run.drop("weights")
        with pytest.raises(tacit.InputError, match="no version of it is left"):
            run(PREDICT, row=row)


def test_what_is_kept_is_for_those_it_says() -> None:
    @tacit.function
    def enrol(key: Tensor) -> None:
        tacit.keep(key, "keys", readers=[reading], learners=["alice"])

    @tacit.function
    def read(key: Tensor, to: str) -> Revealed:
        return tacit.reveal(key, to=to)

    kept = tacit.kept("keys", shape=2, dtype=tacit.int32)
    reading = read.trace(kept, "alice")
    key = tacit.secret("alice", shape=2, dtype=tacit.int32)
    plan = enrol.trace(key)
    assert plan.keeps[0].learners == ("alice",)
    assert "keeps keys: int32 (2,), for alice to learn" in repr(plan)
    with tacit.local("replicated-malicious") as run:
        run(plan, key=[4, 5])
        assert list(run(reading)) == [4, 5]
        for other in ["bob", "all"]:
            with pytest.raises(tacit.InputError, match=r"keys@1 may be read by other programs only"):
                run(read.trace(kept, other))


def test_a_counter_and_its_cost() -> None:
    @tacit.function
    def count(total: Tensor, step: Tensor) -> Revealed:
        total = tacit.clip(total + step, 0, 1000)
        tacit.keep(total, "total")
        return tacit.reveal(total)

    step = tacit.secret("P0", dtype=tacit.int32, range=(0, 100))
    total = tacit.kept("total", dtype=tacit.int32, range=(0, 1000))
    plan = count.trace(total, step)

    @tacit.function
    def begin(step: Tensor) -> None:
        tacit.keep(step, "total", writers=[plan])

    assert begin.trace(step).keeps[0].writers == (plan.hash,)
    with tacit.local() as run:
        run(begin.trace(step), step=7)
        assert [run(plan, step=3) for _ in range(3)] == [10, 13, 16]
        assert run.report is not None
        assert run.report.bytes == plan.cost(protocol="replicated").protocols["replicated"].bytes
        assert plan.kept[0].name == "total"
        assert plan.keeps[0].name == "total"


@pytest.mark.parametrize("protocol", ["replicated", "astra-malicious", "gmw"])
def test_a_plan_reads_rows_and_fresh_shares(protocol: str) -> None:
    @tacit.function
    def enrol(keys: Tensor) -> None:
        tacit.keep(keys, "principals")

    @tacit.function
    def compare(keys: Tensor) -> Revealed:
        return tacit.reveal(keys[0] == keys[1])

    @tacit.function
    def overwrite(key: Tensor) -> None:
        tacit.keep(key, "principals")

    table = np.array([[1, 2], [3, 4], [1, 2]])
    with tacit.local(protocol) as run:
        run(enrol.trace(tacit.secret("P0", shape=(3, 2), dtype=tacit.int32)), keys=table)
        plan = compare.trace(tacit.kept("keys", shape=(2, 2), dtype=tacit.int32))
        for _ in range(2):
            assert list(run(plan, kept={"keys": "principals[0,2]"})) == [True, True]
            assert list(run(plan, kept={"keys": "principals[1,2]"})) == [False, False]
            last = run.refresh("principals")
        assert last == "principals@3"
        assert run.kept == ("principals@3",)
        with pytest.raises(tacit.InputError, match="principals@3 has no row 3"):
            run(plan, kept={"keys": "principals[0,3]"})
        with pytest.raises(tacit.InputError, match='"principals" is for other programs to keep'):
            run(overwrite.trace(tacit.secret("mallory", shape=(3, 2), dtype=tacit.int32)), key=table)
        with pytest.raises(tacit.InputError, match="nothing is kept under the name"):
            run.refresh("keys")
        for wrong in ["principals", {"keys": 3}, ["keys"]]:
            with pytest.raises(tacit.InputError, match="kept= says what is read by name"):
                run(plan, kept=wrong)


def test_misuse_is_refused_with_a_reason() -> None:
    for name in ["a@1", "a[1]"]:
        with pytest.raises(tacit.ProgramError, match="can't be the name of a kept value"):
            tacit.kept(name)

    @tacit.function
    def twice(x: Tensor) -> None:
        tacit.keep(x, "x")
        tacit.keep(x, "x")

    with pytest.raises(tacit.ProgramError, match='already keeps a value called "x"'):
        twice.trace(tacit.secret("P0"))

    @tacit.function
    def known(x: Tensor) -> None:
        tacit.keep(x, "x")
        tacit.keep(3, "y")

    with pytest.raises(tacit.ProgramTypeError, match="takes a secret"):
        known.trace(tacit.secret("P0"))
    with tacit.local(debug=True) as run, pytest.raises(tacit.InputError, match="a debug run keeps no values"):
        run(TRAIN, x=X, y=Y)


def test_what_lies_in_a_folder_outlives_the_process(tmp_path: Path) -> None:
    row = np.array([0.5, -3.0])
    folder = tmp_path / "state"
    with tacit.local(state=folder) as run:
        run(TRAIN, x=X, y=Y)
        with pytest.raises(tacit.StoreError, match="another process uses it"):
            tacit.local(state=folder)
    with tacit.local(state=folder) as run:
        assert run.kept == ("weights@1",)
        assert run(PREDICT, row=row) == pytest.approx(row @ WEIGHTS, abs=1e-3)


def test_the_command_keeps_lists_and_drops(tmp_path: Path) -> None:
    (tmp_path / "keep.py").write_text(
        "import tacit\n\n@tacit.function\ndef keep(x):\n    tacit.keep(x, 'x', learners=['P1'])\n\n"
        "plan = keep.trace(tacit.secret('P0', shape=3, dtype=tacit.int32))\n"
    )
    (tmp_path / "read.py").write_text(
        "import sys\nimport tacit\n\n@tacit.function\n"
        "def read(x):\n    return tacit.reveal(x, to=sys.argv[1])\n\n"
        "plan = read.trace(tacit.kept('x', shape=3, dtype=tacit.int32))\n"
    )
    np.save(tmp_path / "x.npy", np.array([1, 2, 3]))

    def command(*args: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "tacit", *args], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done
        return done.stdout + done.stderr

    on = ("--simulate", "--state", "state")
    for version in (1, 2):
        assert f"kept x@{version}" in command("run", "keep.py", *on, "--input", "x=x.npy")
    read = command("run", "read.py", *on, "--kept", "x=x@1", "--arg", "P1")
    assert "[1, 2, 3]" in read or "[1 2 3]" in read
    refused = command("run", "read.py", *on, "--arg", "P2", code=2)
    assert "what depends on x@2 may be learnt by P1 only" in refused
    assert "state" in command("run", "read.py", "--simulate", "--arg", "P1", code=2)
    listed = command("state", "list", "state/P0")
    assert "x@1: kept, int [3], " in listed
    assert "for P1 to learn" in listed
    for party in ("P0", "P1", "P2"):
        assert "x@2: dropped" in command("state", "drop", f"state/{party}", "x@2")
    assert "x@1" in json.loads(command("state", "list", "state/P1", "--json").splitlines()[0])["value"]
    command("run", "read.py", *on, "--arg", "P1")
    assert "kept x@3" in command("state", "refresh", "x", "--state", "state", "--simulate")
    shown = command("state", "show", "state/P2", "x")
    assert "x@1: dropped" in shown
    assert "fresh shares of: x@1" in shown
    assert "who may learn of it: P1" in shown
    command("state", "export", "state/P0", "copy")
    command("state", "import", "back", "copy")
    assert command("state", "list", "back") == command("state", "list", "state/P0")
    command("run", "read.py", *on, "--arg", "P1")
    assert "nothing is kept as" in command("state", "drop", "state/P0", "x@7", code=2)
