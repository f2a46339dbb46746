"""The protocol of which all parties but one may deviate."""

import numpy as np
import pytest

import tacit
from tests.support import same

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


def test_what_it_cannot_do_is_refused_at_the_line() -> None:
    a = tacit.secret("alice", shape=(3,), range=(-100, 100))
    plan = tacit.function(lambda a: tacit.reveal(tacit.shuffle(a))).trace(a)
    with tacit.local("mascot") as run, pytest.raises(tacit.TacitError, match="shuffle"):
        run(plan, a=A)
