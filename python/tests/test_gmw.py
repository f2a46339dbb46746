"""The protocol on bits of which all parties but one may put together what they see."""

from pathlib import Path

import numpy as np
import pytest

import tacit
from tests.support import same

A, B = np.array([1, 2, 30]), np.array([-4, 5, 3])


def questions(a: tacit.Tensor, b: tacit.Tensor) -> list[tacit.Revealed]:
    return [tacit.reveal(one) for one in ((a * b).sum(), tacit.clip(a, 0, 5) > b, a // 3, a == b)]


def traced() -> tacit.Plan:
    a = tacit.secret("alice", shape=(3,), range=(-100, 100))
    b = tacit.secret("bob", shape=(3,), range=(-100, 100))
    return tacit.function(questions).trace(a, b)


def test_numbers_are_computed_and_compared() -> None:
    with tacit.local("gmw") as run:
        total, larger, thirds, equal = run(traced(), a=A, b=B)
    assert total == (A * B).sum()
    same(larger, np.clip(A, 0, 5) > B)
    same(thirds, A // 3)
    same(equal, A == B)


def test_more_parties_are_said_by_number() -> None:
    with tacit.local("gmw", parties=3) as run:
        assert run(traced(), a=A, b=B)[0] == (A * B).sum()
        assert "P2" in repr(run)
    with pytest.raises(tacit.TacitError, match="13"):
        tacit.local("gmw", parties=13)


def test_higher_trees_send_less() -> None:
    plan = traced()

    def sent(height: int) -> int:
        (cost,) = plan.cost(protocol="gmw", parties=["P0", "P1", "P2"], ot_height=height).protocols.values()
        return sum(cost.bytes.values())

    assert sent(8) < sent(4) < sent(1)


def test_triples_come_from_a_store(tmp_path: Path) -> None:
    plan, store = traced(), tmp_path / "store"
    tacit.offline(plan, 1, store, "gmw")
    with tacit.local("gmw", store=store) as run:
        assert run(plan, a=A, b=B)[0] == (A * B).sum()
        with pytest.raises(tacit.TacitError, match="triples of 64 bits"):
            run(plan, a=A, b=B)


def test_products_of_too_many_gates_are_refused_at_the_line() -> None:
    a = tacit.secret("alice", shape=(300, 300), dtype=tacit.int64, range=(0, 2**16))
    plan = tacit.function(lambda a: tacit.reveal((a @ a.T).sum())).trace(a)
    with tacit.local("gmw") as run, pytest.raises(tacit.TacitError, match="ANDs"):
        run(plan, a=np.zeros((300, 300), dtype=int))
