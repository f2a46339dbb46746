"""The protocol of which all parties but one may deviate."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import tacit
from tests.support import same

if TYPE_CHECKING:
    from pathlib import Path

A, B = np.array([1, 2, 30]), np.array([-4, 5, 3])


def questions(a: tacit.Tensor, b: tacit.Tensor) -> list[tacit.Revealed]:
    return [
        tacit.reveal(one)
        for one in ((a * b).sum(), tacit.clip(a, 0, 5) > b, a / 3, tacit.assume(a, 0, 50) > b)
    ]


def test_numbers_are_computed_and_compared() -> None:
    a = tacit.secret("alice", shape=(3,), range=(-100, 100))
    b = tacit.secret("bob", shape=(3,), range=(-100, 100))
    plan = tacit.function(questions).trace(a, b)
    with tacit.local("mascot") as run:
        total, larger, thirds, again = run(plan, a=A, b=B)
    assert total == (A * B).sum()
    same(larger, np.clip(A, 0, 5) > B)
    assert np.allclose(thirds, A / 3, atol=1e-4)
    same(again, A > B)
    cost = plan.cost().protocols["mascot"]
    assert set(cost.bytes) == {"P0", "P1", "alice", "bob"}


def test_functions_of_secrets_are_those_of_other_protocols() -> None:
    def functions(x: tacit.Tensor, m: tacit.Tensor, n: tacit.Tensor) -> list[tacit.Revealed]:
        return [tacit.reveal(made) for made in (tacit.sigmoid(x), np.sqrt(x), x / (x + 1), m // n, m % n)]

    x = tacit.secret("alice", shape=(), dtype=tacit.fixed(8), range=(0, 16))
    m = tacit.secret("bob", shape=(), dtype=tacit.int32, range=(0, 100))
    n = tacit.secret("carol", shape=(), dtype=tacit.int32, range=(1, 12))
    plan = tacit.function(functions).trace(x, m, n)
    results = []
    for protocol in ("mascot", "replicated"):
        with tacit.local(protocol) as run:
            results.append(run(plan, x=6.25, m=100, n=7))
    assert results[0] == results[1]
    assert results[0][1] == 2.5
    assert results[0][3:] == [14, 2]


def test_what_it_cannot_do_is_refused_at_the_line() -> None:
    a = tacit.secret("alice", shape=(3,), range=(-100, 100))
    plan = tacit.function(lambda a: tacit.reveal(tacit.shuffle(a))).trace(a)
    with tacit.local("mascot") as run, pytest.raises(tacit.TacitError, match="shuffle"):
        run(plan, a=A)


def test_what_is_stocked_serves_any_program_until_it_is_used_up(tmp_path: Path) -> None:
    x = tacit.secret("alice", shape=(3,), range=(-9, 9))
    plan = tacit.function(lambda x: tacit.reveal((x * x).sum())).trace(x)
    store = tmp_path / "store"
    tacit.stock(store, "mascot", triples=2016, bits=2016, masks=2016)
    with tacit.local("mascot", store=store) as run:
        assert run(plan, x=[1, 2, -3]) == 14
    tacit.stock(tmp_path / "small", "mascot", triples=64)
    with tacit.local("mascot", store=tmp_path / "small") as run, pytest.raises(tacit.TacitError) as caught:
        run(plan, x=[1, 2, -3])
    assert "tacit offline" in str(caught.value)


def test_the_command_fills_a_store_once(tmp_path: Path) -> None:
    store = tmp_path / "store"
    words = ["offline", "--simulate", "--protocol", "mascot", "--triples", "64", "--up-to", "--json"]
    command = [sys.executable, "-m", "tacit", *words, "--store", str(store)]
    made = []
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        made.append([json.loads(line)["supplies"] for line in done.stdout.splitlines()])
    assert made == [[{"triples of 2^128-159": 64}] * 2, [{}, {}]]
