"""Bodies that are repeated, and what authors assume."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tacit
from tacit.errors import ProgramError, ProgramTypeError
from tests.support import UNIT, computed, declared, ran, same

if TYPE_CHECKING:
    from pathlib import Path


def clipped(x: tacit.Tensor) -> tacit.Tensor:
    return tacit.clip(x, -8, 8)


def fitted(x: Any, y: Any, steps: int) -> tacit.Tensor:
    """A regression, a batch at a time."""

    def step(w: Any, batch: Any) -> tacit.Tensor:
        rows, labels = batch
        return clipped(w - 0.125 * (rows.T @ (rows @ w - labels)))

    weights: tacit.Tensor = tacit.repeat(steps, step, np.zeros(2), over=(x, y))
    return weights


def test_step_i_sees_slice_i() -> None:
    x = np.array([[1, 2], [30, 4], [5, -60]])
    same(
        computed(lambda x: tacit.repeat(3, lambda s, row: tacit.clip(s + row, -9, 20), np.zeros(2), x), x),
        [20, -9],
    )
    got = computed(lambda x: [*tacit.repeat(2, lambda s: (s[1], clipped(s[0])), (x[0], x[1]))], x)
    same(got[0], np.clip(x[0], -8, 8))
    same(got[1], np.clip(x[1], -8, 8))


def test_a_state_may_begin_public_beside_secrets_of_the_function() -> None:
    x = np.array([[1.0, 2], [3, -1], [-2, 2]])
    y = x @ [1.5, -0.75]

    def descended(x: Any, y: Any) -> Any:
        return tacit.repeat(40, lambda w: tacit.clip(w - 0.2 * (x.T @ (x @ w - y)) / 3, -8, 8), np.zeros(2))

    np.testing.assert_allclose(computed(descended, x, y), [1.5, -0.75], atol=1e-3)
    counted = computed(lambda x: tacit.repeat(3, lambda n: tacit.clip(n + (x > 0).sum(), 0, 99), 0), x)
    assert counted == 3 * 4
    with pytest.raises(tacit.ProgramError, match="none of the operands is secret"):
        tacit.repeat(3, lambda n: n, np.zeros(2))


def test_training_is_what_a_loop_computes() -> None:
    random = np.random.default_rng(1)
    x = random.integers(-2, 3, (6, 4, 2)).astype(float)
    y = x @ [1.5, -0.75]
    weights = computed(lambda x, y: fitted(x, y, 6), x, y)

    def unrolled(x: Any, y: Any) -> Any:
        w: Any = tacit.clip(x[0, 0] * 0, 0, 0)
        for rows, labels in zip(x, y, strict=True):
            w = clipped(w - 0.125 * (rows.T @ (rows @ w - labels)))
        return w

    same(weights, computed(unrolled, x, y))
    assert np.abs(weights - [1.5, -0.75]).max() < 1


def test_a_thousand_steps_are_as_small_as_one(tmp_path: Path) -> None:
    def size(steps: int) -> int:
        x = tacit.secret("alice", shape=(steps, 4, 2), range=(-1, 1))
        y = tacit.secret("alice", shape=(steps, 4), range=(-1, 1))
        plan = tacit.function(lambda x, y: tacit.reveal(fitted(x, y, steps))).trace(x, y)
        plan.save(tmp_path / "plan")
        assert tacit.Plan.load(tmp_path / "plan") == plan
        return (tmp_path / "plan").stat().st_size

    assert size(1) == size(1000)


def test_a_body_that_widens_a_range_is_refused() -> None:
    with pytest.raises(ProgramError, match=r"tacit\.assume") as caught:
        computed(lambda x: tacit.repeat(3, lambda s: s + x, x), np.array([1, 2]))
    assert "test_repeat.py:" in str(caught.value)
    got = computed(lambda x: tacit.repeat(3, lambda s: tacit.assume(s + x, -9, 9), x), np.array([1, 2]))
    same(got, [4, 8])


def test_assumptions_are_listed_and_checked_by_debug_runs() -> None:
    function = tacit.function(lambda x: tacit.reveal(tacit.assume(x, 0, 1.5) * 2))
    plan = function.trace(declared([0, 5]))
    assert len(plan.assumptions) == 1
    assert "test_repeat.py:" in plan.assumptions[0]
    assert plan.assumptions[0] in repr(plan)
    assert plan.assumptions[0] in str(plan.cost(protocol="replicated"))

    def doubled(x: Any) -> Any:
        return tacit.reveal(tacit.assume(x, 0, 1.5) * 2)

    same(ran(doubled, np.array([0, 1.5 - 1 / UNIT, 1.5]), debug=True), [0, 3 - 2 / UNIT, 3])
    with pytest.raises(tacit.RunError, match="assume"):
        ran(doubled, np.array([0, 2]), debug=True)


LOOKS = ["replicated", "replicated-malicious", "astra", "astra-malicious", "mascot", "gmw"]


@pytest.mark.parametrize("protocol", LOOKS)
def test_a_run_ends_where_an_assumption_does_not_hold(protocol: str) -> None:
    def steps(x: Any) -> Any:
        """Within 3 of zero after two steps, and not always between."""
        return tacit.repeat(2, lambda s, by: tacit.assume(s + by, -3, 3), np.zeros(1, dtype=int), over=x)

    x = tacit.secret("alice", shape=(2, 1), dtype=tacit.int64, range=(-9, 9))
    plan = tacit.function(lambda x: tacit.reveal(steps(x))).trace(x)
    with tacit.local(protocol=protocol) as run:
        same(run(plan, alice=np.array([[3], [-1]])), [2])
        assert run.report is not None
        assert run.report.bytes == plan.cost(protocol=protocol).bytes
        with pytest.raises(tacit.RunError, match=r"a range that the program assumes at .*test_repeat"):
            run(plan, alice=np.array([[4], [-4]]))
        # In the last step, after which nothing is computed.
        with pytest.raises(tacit.RunError, match=r"a range that the program assumes"):
            run(plan, alice=np.array([[2], [2]]))
        # The next run is another one.
        same(run(plan, alice=np.array([[-3], [6]])), [3])


def test_under_astra_fair_nothing_is_opened_before_the_outputs() -> None:
    x = declared([0, 5], owner="P0")
    plan = tacit.function(lambda x: tacit.reveal(tacit.assume(x, 0, 1.5) * 2)).trace(x)
    costs = [plan.cost(protocol=name).protocols[name] for name in ("astra-malicious", "astra-fair")]
    assert costs[0].rounds > costs[1].rounds
    with tacit.local(protocol="astra-fair") as run:
        same(run(plan, P0=[np.array([0.5, 1])]), [1, 2])


def test_what_a_body_must_not_do() -> None:
    x = np.array([[1, 2], [3, 4]])
    with pytest.raises(ProgramError, match="nothing can be revealed"):
        computed(lambda x: tacit.repeat(2, lambda s: (tacit.reveal(s), s)[1], x), x)
    with pytest.raises(ProgramTypeError, match="something else than a state"):
        computed(lambda x: tacit.repeat(2, lambda s: (s, s), x), x)
    with pytest.raises(ProgramError, match="goes 3 steps over a value of shape"):
        computed(lambda x: tacit.repeat(3, lambda s, row: s + row, x[0], x), x)
    with pytest.raises(ProgramTypeError, match="an integer from 1 on"):
        computed(lambda x: tacit.repeat(0, lambda s: s, x), x)
    with pytest.raises(ProgramError, match="don't go together"):
        computed(lambda x: tacit.repeat(2, lambda s: s[0], x), x)


def test_dicts_of_states_go_by_their_keys() -> None:
    def swapped(x: Any) -> Any:
        state = {"a": x, "b": x + 10}
        end = tacit.repeat(3, lambda s: {"b": s["b"], "a": s["a"]}, state)
        return tacit.stack([end["a"], end["b"]])

    same(ran(lambda x: tacit.reveal(swapped(x)), np.array([1, 2])), [[1, 2], [11, 12]])
