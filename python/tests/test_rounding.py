"""Products with public numbers, quotients, means: rounded once, against fractions, under every protocol."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tests.support import F16, UNIT, declared, ran, revealed, same

if TYPE_CHECKING:
    from collections.abc import Callable

PROTOCOLS = ["replicated", "replicated-malicious", "astra", "astra-malicious", "astra-fair", "gmw"]
PARTIES = ["P0", "P1", "P2"]


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def run_under(protocol: str, function: Callable[..., Any], x: Any, **options: Any) -> Any:
    """What a function computes on a secret, revealed to the parties; a debug run says the same."""
    secret = tacit.secret("P0", shape=np.shape(x), **options)
    plan = tacit.function(lambda x: tacit.reveal(function(x), to=PARTIES)).trace(secret)
    with tacit.local(protocol=protocol) as run:
        result = run(plan, x=x)
    with tacit.local(protocol=protocol, debug=True) as run:
        same(run(plan, x=x), result)
    return result


def nearest(exact: Fraction, unit: int = UNIT) -> float:
    """The nearest multiple of a step, ties up, as the float that is revealed for it."""
    return float(Fraction(floor(exact * unit + Fraction(1, 2)), unit))


def test_a_quotient_in_a_range_that_leaves_no_room(protocol: str) -> None:
    assert run_under(protocol, lambda a: a / 1e6, 1e9, range=(0, 2**45)) == 1000
    assert run_under(protocol, lambda a: a * 1e-6, 1e9, range=(0, 2**45)) == nearest(Fraction(1e-6) * 10**9)
    assert run_under(protocol, lambda a: a * 0.1, 1e9, range=(0, 2**45)) == 1e8
    # Of all that the type holds.
    largest = float((1 << 46) - 1)
    whole = (-(2**47), 2**47 - 2**-5)
    got = run_under(protocol, lambda a: a / [1e6, -3, 0.7**-1], [largest, -largest, 1 / UNIT], range=whole)
    divisors = [Fraction(10**6), Fraction(-3), Fraction(0.7**-1)]
    inputs = [Fraction(largest), -Fraction(largest), Fraction(1, UNIT)]
    assert list(got) == [nearest(x / d) for x, d in zip(inputs, divisors, strict=True)]


@pytest.mark.parametrize("count", [1000, 10_000])
def test_a_mean_of_many(protocol: str, count: int) -> None:
    values = np.random.default_rng(count).integers(0, 10**9, count, endpoint=True).astype(float)
    expected = nearest(Fraction(int(values.sum()), count))
    assert run_under(protocol, lambda x: x.mean(), values, range=(0, 1e9)) == expected


def test_less_than_half_a_step_is_nothing(protocol: str) -> None:
    for high in (1, 2, 2.0**40):
        assert run_under(protocol, lambda x: x / 2**18, 1.0, range=(0, high)) == 0
    got = run_under(protocol, lambda x: x / 2**17, [1.0, -1.0, 1.5], range=(-2, 2))
    # Half a step goes up.
    assert list(got) == [1 / UNIT, 0, 1 / UNIT]


def test_weighted_sums(protocol: str) -> None:
    x = np.array([[1e9, -3.25, 7], [2.0**44, 1 / UNIT, -(2.0**43)]])
    weights = np.array([[1e-6, 0.1], [1 / 3, -0.7], [1e-9, 1e-20]])
    got = run_under(protocol, lambda x: x @ weights, x, range=(-(2**44), 2**44))
    rows, columns = x.tolist(), weights.T.tolist()
    same(got, [[nearest(dot(row, column)) for column in columns] for row in rows])
    got = run_under(protocol, lambda x: weights.T @ x, x.T, range=(-(2**44), 2**44))
    same(got, [[nearest(dot(row, column)) for row in rows] for column in columns])


def dot(x: list[float], y: list[float]) -> Fraction:
    """The sum of products, exactly."""
    return sum((Fraction(a) * Fraction(b) for a, b in zip(x, y, strict=True)), Fraction(0))


def test_integers_are_divided_in_every_range(protocol: str) -> None:
    ends = np.array([-(2**63), 2**63 - 1, -1, 0, 7])
    for divisor in (7, 2**18, 10**6, 2**62 + 1):
        got = run_under(
            protocol, lambda n, by=divisor: n // by, ends, dtype=tacit.int64, range=(-(2**63), 2**63 - 1)
        )
        same(got, ends // divisor)


def test_small_numbers_under_mascot() -> None:
    # Inputs and products are dear there, so that all is one program of few.
    def program(a: Any, n: Any) -> list[Any]:
        return [a / [3, -7, 2**17], a * 0.1, a.mean(), a @ [0.3, -0.7, 1e-4], n // 7, n // -3]

    a, n = [5.5, -2.25, 1 + 1 / UNIT], [100, -100, -1]
    secrets = [
        tacit.secret("P0", shape=3, range=(-8, 8)),
        tacit.secret("P1", shape=3, dtype=tacit.int8, range=(-100, 100)),
    ]
    plan = tacit.function(lambda a, n: [tacit.reveal(one) for one in program(a, n)]).trace(*secrets)
    exact = [Fraction(one) for one in a]
    with tacit.local("mascot") as run:
        quotients, products, mean, weighted, *whole = run(plan, a=a, n=n)
    same(quotients, [nearest(x / by) for x, by in zip(exact, (3, -7, 2**17), strict=True)])
    same(products, [nearest(x * Fraction(0.1)) for x in exact])
    assert mean == nearest(sum(exact, Fraction(0)) / 3)
    assert weighted == nearest(dot(a, [0.3, -0.7, 1e-4]))
    same(whole, [np.array(n) // 7, np.array(n) // -3])


numbers = st.floats(-1e6, 1e6).filter(lambda number: abs(number) > 1e-6)
halves = st.integers(-(2**40), 2**40).map(lambda raw: raw / UNIT)


@given(st.lists(halves, min_size=1, max_size=5), numbers, st.integers(1, 2**40))
@settings(max_examples=60)
def test_products_and_quotients_are_the_nearest(x: list[float], number: float, divisor: int) -> None:
    def program(a: Any) -> list[Any]:
        return [a * number, number * a, a / number, a / divisor, a.mean(), a.sum() / number]

    got = ran(revealed(program), x)
    exact = [Fraction(one) for one in x]
    times = [nearest(one * Fraction(number)) for one in exact]
    same(got[0], times)
    same(got[1], times)
    same(got[2], [nearest(one / Fraction(number)) for one in exact])
    same(got[3], [nearest(one / divisor) for one in exact])
    same(got[4], nearest(sum(exact, Fraction(0)) / len(x)))
    same(got[5], nearest(sum(exact, Fraction(0)) / Fraction(number)))


@given(st.lists(st.integers(-(2**24), 2**24), min_size=2, max_size=40))
@settings(max_examples=40)
def test_every_step_of_a_variance_is_rounded_once(raw: list[int]) -> None:
    x = np.array(raw) / UNIT

    def program(a: Any) -> list[Any]:
        mean = a.mean()
        apart = a - mean
        squares = apart * apart
        return [mean, squares, squares.mean()]

    mean, squares, variance = ran(revealed(program), x)
    assert mean == nearest(Fraction(sum(raw), UNIT * len(raw)))
    apart = [Fraction(one) - Fraction(mean) for one in x.tolist()]
    same(squares, [nearest(one * one) for one in apart])
    assert variance == nearest(sum(map(Fraction, squares.tolist()), Fraction(0)) / len(raw))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1), (2, 0)])
def test_means_over_axes(axis: Any) -> None:
    a = np.random.default_rng(7).integers(-(10**12), 10**12, (3, 5, 7)) / UNIT
    got = ran(revealed(lambda x: x.mean(axis)), a)
    axes = tuple(range(3)) if axis is None else axis
    sums, count = (a * UNIT).sum(axes), a.size // a.sum(axes).size
    expected = np.vectorize(lambda total: nearest(Fraction(int(total), UNIT * count)))(sums)
    same(got, expected)


def test_public_numbers_of_every_sort() -> None:
    a = np.array([100.0, -7.5, 0.0])
    for by in (3, 10**20, 2**70, True, np.float32(0.1), np.int8(-5), np.array([1, 2, 4]), [0.5, 3, 7]):
        exact = [Fraction(one) if isinstance(one, float) else one for one in np.broadcast_to(by, 3).tolist()]
        got = ran(revealed(lambda x, by=by: x / by), a)
        same(got, [nearest(Fraction(x) / one) for x, one in zip(a.tolist(), exact, strict=True)])


def test_scores_of_many_fraction_bits_take_public_numbers_as_fine() -> None:
    def program(x: Any, w: Any) -> Any:
        return tacit.matmul(x, w, exact=True) + 0.1

    x, w = np.array([0.5, 0.25]), np.array([1.5, -3.0])
    plan = tacit.function(lambda x, w: tacit.reveal(program(x, w))).trace(
        declared(x, tacit.fixed(20)), declared(w, tacit.fixed(20), "bob")
    )
    with tacit.local() as run:
        assert run(plan, x=x, w=w) == nearest(Fraction(0.1), 1 << 40)


def test_an_exact_product_is_exact_or_refused() -> None:
    a = np.array([3.0, 1 / UNIT])
    same(ran(revealed(lambda x: tacit.matmul(x, [0.5, 0.375], exact=True)), a), 1.5 + 0.375 / UNIT)
    with pytest.raises(tacit.ProgramError, match="more than 32") as caught:
        ran(revealed(lambda x: tacit.matmul(x, [0.1, 2], exact=True)), a)
    assert "test_rounding.py" in str(caught.value)
    with pytest.raises(tacit.ProgramError, match="not a finite number"):
        ran(revealed(lambda x: tacit.matmul(x, [np.inf, 2], exact=True)), a)


REFUSED: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: x / 1e-9, "the result of `/` may be anything"),
    (lambda x: x * 1e9, "the result of `*` may be anything"),
    (lambda x: x @ [1e9, 0.5], "the result of `@` may be anything"),
    (lambda x: x * 1e-12, "1e-12 would become 0"),
    (lambda x: x * [1, 1e-12], "1e-12 would become 0"),
    (lambda x: x / [1, 0.0], "division by 0"),
    (lambda x: x / float("nan"), "not a finite number"),
]


@pytest.mark.parametrize(("function", "says"), REFUSED)
def test_what_cannot_be_exact_is_refused_with_its_line(function: Callable[[Any], Any], says: str) -> None:
    with pytest.raises(tacit.ProgramError) as caught:
        tacit.function(function).trace(tacit.secret("alice", shape=(2,), dtype=F16, range=(-1e6, 1e6)))
    assert says in str(caught.value)
    assert "test_rounding.py:" in str(caught.value)
