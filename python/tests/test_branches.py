"""Branches by secret conditions."""

from typing import Any

import numpy as np
import pytest

import tacit
from tests.support import same

PROTOCOLS = ["gmw", "replicated", "mascot"]


def number(owner: str, low: int = -20, high: int = 20) -> tacit.Secret:
    return tacit.secret(owner, shape=(), dtype=tacit.int32, range=(low, high))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_cond_takes_an_arm(protocol: str) -> None:
    def chosen(c: tacit.Tensor, x: tacit.Tensor) -> list[tacit.Revealed]:
        def larger(x: tacit.Tensor) -> Any:
            return {"product": x * x, "flag": (x > 0).any(), "public": 3}

        def other(x: tacit.Tensor) -> Any:
            return {"product": x - 7, "flag": (x == 2).any(), "public": 4}

        made = tacit.cond(c > 0, larger, other, x)
        return [tacit.reveal(made[key]) for key in ("product", "flag", "public")]

    x = np.array([1, -2, 5])
    plan = tacit.function(chosen).trace(number("alice"), tacit.secret("bob", shape=(3,), range=(-9, 9)))
    with tacit.local(protocol) as run:
        for c in (4, -4):
            product, flag, public = run(plan, c=c, x=x)
            same(product, x * x if c > 0 else x - 7)
            assert (flag, public) == ((True, 3) if c > 0 else (False, 4))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("arms", [1, 2, 3, 5])
def test_switch_takes_the_arm_of_its_number_or_the_last(protocol: str, arms: int) -> None:
    def chosen(i: tacit.Tensor, x: tacit.Tensor) -> Any:
        return tacit.reveal(tacit.switch(i, [lambda x, by=by: x * (x + by) for by in range(arms)], x))

    plan = tacit.function(chosen).trace(number("alice", -2, 8), number("bob"))
    with tacit.local(protocol) as run:
        for i in (-2, 0, 1, arms - 1, arms, 8) if protocol == "gmw" else (-1, arms - 1):
            by = i if 0 <= i < arms else arms - 1
            assert run(plan, i=i, x=6) == 6 * (6 + by)


def test_branches_stand_in_arms() -> None:
    def chosen(c: tacit.Tensor, d: tacit.Tensor, x: tacit.Tensor) -> Any:
        def outer(x: tacit.Tensor) -> Any:
            return tacit.cond(d > x, lambda x: x * 3 + d, lambda x: x * d, x)

        return tacit.reveal(tacit.cond(c > 0, outer, lambda x: x - 1, x))

    plan = tacit.function(chosen).trace(number("alice"), number("bob"), number("carol"))
    with tacit.local("gmw") as run:
        for c, d, x in [(1, 5, 2), (1, 2, 5), (-1, 5, 2)]:
            expected = (x * 3 + d if d > x else x * d) if c > 0 else x - 1
            assert run(plan, c=c, d=d, x=x) == expected


def test_arms_share_rounds() -> None:
    def rounds(one: Any, other: Any) -> int:
        def chosen(c: tacit.Tensor, x: tacit.Tensor) -> Any:
            return tacit.reveal(tacit.cond(c > 0, one, other, x))

        plan = tacit.function(chosen).trace(number("alice"), number("bob"))
        return plan.cost(protocol="gmw").protocols["gmw"].rounds

    def long(x: tacit.Tensor) -> tacit.Tensor:
        return x * (x + 1) * 3

    def short(x: tacit.Tensor) -> tacit.Tensor:
        return x * x

    def nothing(x: tacit.Tensor) -> tacit.Tensor:
        return x

    alone = rounds(short, nothing) - rounds(nothing, nothing)
    assert rounds(long, short) - rounds(long, nothing) < alone


@pytest.mark.parametrize("protocol", ["gmw", "replicated"])
def test_dicts_of_arms_go_by_their_keys(protocol: str) -> None:
    @tacit.function
    def chosen(c: tacit.Tensor, x: tacit.Tensor) -> tacit.Revealed:
        one = tacit.cond(c > 0, lambda x: {"a": x, "b": x + 1}, lambda x: {"b": x + 20, "a": x + 10}, x)
        return tacit.reveal(tacit.stack([one["a"], one["b"]]))

    plan = chosen.trace(number("alice"), number("bob"))
    with tacit.local(protocol=protocol) as run:
        for c, expected in ((1, [5, 6]), (-1, [15, 25])):
            given = {given.name: value for given, value in zip(plan.inputs, (c, 5), strict=True)}
            assert run(plan, **given).tolist() == expected


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_steps_that_repeat_have_branches(protocol: str) -> None:
    def collatz(x: tacit.Tensor, flags: tacit.Tensor) -> Any:
        def step(x: tacit.Tensor, flag: tacit.Tensor) -> Any:
            return tacit.cond(flag > 0, lambda x: tacit.clip(x * 3 + 1, 0, 99), lambda x: x // 2, x)

        return tacit.reveal(tacit.repeat(3, step, x, over=flags))

    plan = tacit.function(collatz).trace(
        number("alice", 0, 99), tacit.secret("bob", shape=(3,), dtype=tacit.int32, range=(0, 1))
    )
    with tacit.local(protocol) as run:
        assert run(plan, x=7, flags=np.array([1, 0, 1])) == 34
        assert run(plan, x=40, flags=np.array([0, 0, 0])) == 5


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_arms_look_up_and_have_remainders_and_deviations(protocol: str) -> None:
    def made(x: Any, i: Any) -> Any:
        # Of each the range is known to be narrower than its parts tell.
        return [x[i], x % 7, x.std(), np.linalg.norm(x), x[x > 3].mean(), x[x > 3].median()]

    def chosen(c: tacit.Tensor, x: tacit.Tensor, i: tacit.Tensor) -> Any:
        results = tacit.cond(c > 0, made, lambda x, i: [one * 0 for one in made(x, i)], x, i)
        return [tacit.reveal(one) for one in results]

    values = tacit.secret("bob", shape=(5,), dtype=tacit.int32, range=(0, 50))
    plan = tacit.function(chosen).trace(number("alice"), values, number("carol", -1, 6))
    x = np.array([9, 2, 33, 4, 21])
    expected = [33, x % 7, x.std(), np.linalg.norm(x), x[x > 3].mean(), np.median(x[x > 3])]
    with tacit.local(protocol) as run:
        for c in (1, -1):
            for got, want in zip(run(plan, c=c, x=x, i=2), expected, strict=True):
                np.testing.assert_allclose(got, want if c > 0 else np.zeros_like(want), atol=1e-4)


def test_what_cannot_be_in_an_arm_is_refused_at_its_line() -> None:
    def refused(body: Any, match: str) -> None:
        def chosen(c: tacit.Tensor, x: tacit.Tensor) -> Any:
            return tacit.reveal(tacit.cond(c > 0, body, lambda x: x, x))

        with pytest.raises(tacit.ProgramError, match=match):
            tacit.function(chosen).trace(number("alice"), number("bob"))

    refused(lambda x: tacit.assume(x, 0, 3), "assumed in an arm")
    refused(lambda x: tacit.reveal(x), "revealed in an arm of a branch")
    refused(lambda x: tacit.repeat(2, lambda s: tacit.clip(s + 1, -20, 20), x), "repeated")
    kept: list[tacit.Tensor] = []

    def leaks(c: tacit.Tensor, x: tacit.Tensor) -> tacit.Revealed:
        def keeps(x: tacit.Tensor) -> tacit.Tensor:
            kept.append(x * x)
            return x

        tacit.cond(c > 0, keeps, lambda x: x, x)
        return tacit.reveal(kept[-1])

    with pytest.raises(tacit.ProgramError, match="chosen from both arms"):
        tacit.function(leaks).trace(number("alice"), number("bob"))


def test_conditions_and_results_have_to_fit() -> None:
    several = tacit.secret("alice", shape=(2,), range=(0, 3))

    def by(condition: Any, *arms: Any) -> Any:
        return tacit.function(lambda a: tacit.reveal(tacit.cond(condition(a), *arms, a)))

    with pytest.raises(tacit.TacitError, match="single bool"):
        by(lambda a: a > 0, lambda x: x, lambda x: x).trace(several)
    with pytest.raises(tacit.TacitError, match="different structures"):
        by(lambda a: a[0] > 0, lambda x: x, lambda x: [x]).trace(several)
    with pytest.raises(tacit.TacitError, match="at least one arm"):
        tacit.function(lambda a: tacit.reveal(tacit.switch(a[0], [], a))).trace(several)


def test_public_conditions_trace_one_arm() -> None:
    def chosen(x: tacit.Tensor) -> Any:
        taken = tacit.cond(True, lambda x: x + 1, lambda _: 1 / 0, x)
        return tacit.reveal(tacit.switch(9, [lambda _: 1 / 0, lambda x: x * 2], taken))

    plan = tacit.function(chosen).trace(number("alice"))
    with tacit.local("gmw") as run:
        assert run(plan, x=4) == 10


def test_costs_say_what_arms_take() -> None:
    def chosen(c: tacit.Tensor, p: tacit.Tensor, q: tacit.Tensor) -> Any:
        def longer(p: tacit.Tensor) -> Any:
            return p & q & ~p

        return tacit.reveal(tacit.cond(c, longer, lambda p: p & q, p))

    bools = [tacit.secret("alice", shape=(200,), dtype=tacit.bool_) for _ in range(2)]
    plan = tacit.function(chosen).trace(tacit.secret("bob", shape=(), dtype=tacit.bool_), *bools)
    cost = plan.cost()
    masked, standard = (
        plan.cost(protocol="gmw", branching=way).protocols[f"gmw branching={way}"]
        for way in ("masked", "standard")
    )
    # Two ANDs in an arm, one in the other, and a choice.
    for one in (masked, standard, cost.protocols["replicated"]):
        assert sum(line.ands for line in one.lines) == 4 * 200
    # Blocks of 128 columns; with masks three ANDs on the longest path, and a transfer for the branch's masks.
    assert (masked.transfers, standard.transfers) == (3 * 256 + 1, 4 * 256)
    assert "longest path" in (masked.branches or "")
    assert standard.branches == cost.protocols["replicated"].branches != masked.branches
    for words in ("ANDs", f"gmw: {masked.branches}", "769 random"):
        assert words in str(cost)
