"""How far off results are: on all inputs of small types, and where errors of many elements could add up."""

from __future__ import annotations

import functools
import itertools
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tacit

if TYPE_CHECKING:
    from collections.abc import Callable

WIDTHS = [(2, -4, 4), (4, -128, 127), (8, -20, 20), (10, 0, 31), (16, -1, 1)]
"""Fraction bits, and ranges of which every number is tried."""


def evaluated(function: Callable[[Any], Any], places: Any, bits: int, low: float, high: float) -> Any:
    """What a function computes of secrets, in the clear."""
    plan = tacit.function(lambda x: tacit.reveal(function(x))).trace(
        tacit.secret("alice", shape=places.shape, dtype=tacit.fixed(bits), range=(low, high))
    )
    return plan._restore(plan._program.evaluate([places]))


def normal_cdf(x: Any) -> Any:
    return np.vectorize(math.erfc)(-x / math.sqrt(2)) / 2


FUNCTIONS: list[tuple[Callable[..., Any], Callable[..., Any], float, float]] = [
    (np.exp, np.exp, -math.inf, 2.0**-20),
    (np.exp2, np.exp2, -math.inf, 2.0**-20),
    (np.expm1, np.expm1, -math.inf, 2.0**-20),
    (np.log, np.log, 0, 0),
    (np.log2, np.log2, 0, 0),
    (np.log10, np.log10, 0, 0),
    (np.log1p, np.log1p, -1, 0),
    (np.sqrt, np.sqrt, 0, 0),
    (np.tanh, np.tanh, -math.inf, 0),
    (tacit.sigmoid, lambda x: 1 / (1 + np.exp(-x)), -math.inf, 0),
    (tacit.normal_cdf, normal_cdf, -math.inf, 0),
    (lambda x: x**2.5, lambda x: x**2.5, 0, 3.5 * 2.0**-20),
    (lambda x: x**-0.5, lambda x: x**-0.5, 0, 0),
    (tacit.rsqrt, lambda x: x**-0.5, 0, 0),
    (lambda x: x**-3, lambda x: x**-3.0, 0, 4 * 2.0**-20),
    (lambda x: (-x) ** -5, lambda x: (-x) ** -5.0, 0, 6 * 2.0**-20),
    (lambda x: 3**x, lambda x: 3.0**x, -math.inf, 2.0**-20),
    (lambda x: np.power(0.9, x), lambda x: 0.9**x, -math.inf, 2.0**-20),
    (lambda x: np.logaddexp(x, 1), lambda x: np.logaddexp(x, 1), -math.inf, 0),
    (lambda x: x**-0.7, lambda x: x**-0.7, 0, 1.7 * 2.0**-20),
]


@pytest.mark.parametrize(("bits", "low", "high"), WIDTHS)
@pytest.mark.parametrize("place", range(len(FUNCTIONS)))
def test_functions_of_all_numbers_are_off_by_a_step(place: int, bits: int, low: int, high: int) -> None:
    function, of, above, relative = FUNCTIONS[place]
    every = np.arange(low << bits, (high << bits) + 1) / 2.0**bits
    every = every[every > above]
    want = of(every)
    step = 2.0**-bits
    near = abs(want) < 2.0 ** (47 - bits) * (1 - 2.0**-10)
    off = abs(evaluated(function, every, bits, low, high) - want)[near]
    assert (off <= np.maximum(step, relative * abs(want[near])) * 1.0001).all()
    assert near.any()


@pytest.mark.parametrize(("bits", "low", "high"), WIDTHS)
@pytest.mark.parametrize("function", [np.sinh, np.cosh, np.cbrt])
def test_functions_of_functions_are_off_by_two_steps(
    function: Callable[..., Any], bits: int, low: int, high: int
) -> None:
    every = np.arange(low << bits, (high << bits) + 1) / 2.0**bits
    want = function(every)
    off = abs(evaluated(function, every, bits, low, high) - want)
    near = abs(want) < 2.0 ** (47 - bits) * (1 - 2.0**-10)
    assert (off <= np.maximum(2 * 2.0**-bits, 2.0**-19 * np.hypot(1, want)))[near].all()


def test_sums_of_powers_of_all_pairs_are_off_by_a_step() -> None:
    every = np.arange(-4 << 4, (4 << 4) + 1) / 16
    pairs = np.array([*itertools.product(every, every)])
    off = evaluated(lambda x: np.logaddexp(x[:, 0], x[:, 1]), pairs, 4, -4, 4) - np.logaddexp(*pairs.T)
    assert abs(off).max() <= 1 / 16


@pytest.mark.parametrize(("bits", "low", "high"), WIDTHS)
@pytest.mark.parametrize(
    ("function", "at"),
    [
        *((function, 0) for function in (np.log, np.log2, np.log10, tacit.rsqrt)),
        *((functools.partial(lambda y, x: x**y, exponent), 0) for exponent in (-0.5, -0.7, -1.5)),
        (np.log1p, -1),
    ],
)
def test_functions_of_0_and_below_are_those_of_the_least_step(
    function: Callable[..., Any], at: int, bits: int, low: int, high: int
) -> None:
    low = min(low, at - 1)
    every = np.arange(low << bits, (at << bits) + 1) / 2.0**bits
    got = evaluated(function, np.append(every, at + 2.0**-bits), bits, low, high)
    assert np.isfinite(got).all()
    assert (got == got[-1]).all()


@pytest.mark.parametrize("bits", [2, 4, 8, 10, 16])
@pytest.mark.parametrize("exponent", [-1, -2, -3, -4, -5])
def test_whole_powers_of_0_are_those_of_the_least_step(exponent: int, bits: int) -> None:
    at_0, least = evaluated(functools.partial(powered, exponent), np.array([0, 2.0**-bits]), bits, -1, 1)
    assert at_0 == least
    assert least == pytest.approx(min(2.0 ** (-bits * exponent), 2.0 ** (47 - bits)), rel=1e-5)


@pytest.mark.parametrize(
    "function", [np.sqrt, *(functools.partial(lambda y, x: x**y, y) for y in (0.3, 2.5))]
)
@pytest.mark.parametrize(("bits", "low", "high"), WIDTHS)
def test_roots_and_powers_of_0_and_below_are_0(
    function: Callable[..., Any], bits: int, low: int, high: int
) -> None:
    every = np.arange(low << bits, 1) / 2.0**bits
    assert not evaluated(function, every, bits, low, high).any()


@pytest.mark.parametrize(("bits", "low", "high"), [*WIDTHS, (16, 0, 1 << 30), (20, -8, 8)])
def test_inverse_squares_are_the_nearest(bits: int, low: int, high: int) -> None:
    first, last = low << bits, high << bits
    raw = np.arange(first, last + 1) if last - first < 1 << 18 else np.arange(-(1 << 13), 1 << 13)
    wide = np.geomspace(1, last, 3000).astype(np.int64)
    raw = np.unique(np.concatenate([raw[(raw >= first) & (raw != 0)], wide]))
    got = evaluated(lambda x: x**-2, raw / 2.0**bits, bits, low, high)
    want = [min((2 * 8**bits // int(one) ** 2 + 1) // 2, (1 << 47) - 1) for one in raw]
    np.testing.assert_array_equal(got * 2.0**bits, want)


def powered(exponent: float, x: Any) -> Any:
    return x**exponent


@pytest.mark.parametrize(("bits", "low", "high"), [(16, 0, 4), (16, 1, 1 << 31), (24, 0, 100), (32, 0, 4)])
def test_inverse_roots_of_few_steps_and_of_many(bits: int, low: int, high: int) -> None:
    first, last = max(low << bits, 1), (high << bits) - 1
    spread = np.geomspace(first, last, 1000).astype(np.int64)
    raw = np.unique(np.concatenate([np.arange(first, first + 300), spread, np.arange(last - 99, last + 1)]))
    x = raw.astype(np.longdouble) / 2**bits
    got = evaluated(tacit.rsqrt, raw / 2**bits, bits, low, high - 2.0**-bits)
    want = x**-0.5
    near = want < 2.0 ** (47 - bits) * (1 - 2.0**-10)
    assert near.sum() > 900
    assert (abs(got - want) <= np.maximum(2.0**-bits, 2.0**-30 * want))[near].all()


@pytest.mark.parametrize("bits", [30, 31, 32])
@pytest.mark.parametrize("function", [lambda x: 1 / x, lambda x: x**-1, np.reciprocal])
def test_reciprocals_of_fine_numbers_are_the_nearest(function: Callable[..., Any], bits: int) -> None:
    raw = np.unique(np.geomspace(1 << bits - 5, 5 << bits, 200).astype(np.int64))
    got = evaluated(function, raw / 2.0**bits, bits, 2**-5, 5)
    want = [(2 * 4**bits // int(one) + 1) // 2 for one in raw]
    np.testing.assert_array_equal(got * 2.0**bits, want)


@pytest.mark.parametrize("function", [np.sinh, np.expm1])
def test_functions_of_fine_numbers_near_0_are_off_by_a_part_of_the_power(
    function: Callable[..., Any],
) -> None:
    every = np.linspace(-1 / 16, 1 / 16, 999)
    every = np.floor(every * 2.0**28) / 2.0**28
    off = abs(evaluated(function, every, 28, -1, 1) - function(every))
    assert off.max() <= 2.0**-19


@pytest.mark.parametrize(("bits", "high"), [(3, 1), (4, 0.5), (2, 1), (5, 0.25)])
@pytest.mark.parametrize("exponent", [0.3, 1.5, 2.5])
def test_powers_of_numbers_of_few_steps(bits: int, high: float, exponent: float) -> None:
    every = np.arange(int(high * 2**bits) + 1) / 2.0**bits
    off = evaluated(functools.partial(powered, exponent), every, bits, 0, high) - every**exponent
    assert abs(off).max() <= 2.0**-bits


def test_powers_of_what_is_below_0_are_0() -> None:
    for exponent in (0.3, 2.5):
        assert not evaluated(functools.partial(powered, exponent), np.array([-3.0, 0]), 16, -3, 0).any()


def test_quotients_of_all_numbers_are_the_nearest() -> None:
    raw = np.arange(-24, 25)
    pairs = np.array([*itertools.product(raw, raw[raw != 0])])
    got = evaluated(lambda x: x[:, 0] / x[:, 1], pairs / 8, 3, -3, 3)
    np.testing.assert_array_equal(got, np.floor(pairs[:, 0] * 16 / pairs[:, 1] / 2 + 0.5) / 8)


def softmax(x: Any) -> Any:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


VECTORS = [(1, -4, 4, 3), (2, -1, 1, 4), (3, -1, 1, 3), (3, -4, 4, 2), (6, -1, 1, 2)]
"""Fraction bits, range and length of vectors that are all tried."""


@pytest.mark.parametrize(
    ("function", "of", "steps"),
    [
        (tacit.softmax, softmax, 0.75),
        (lambda x: x.var(axis=1), lambda x: x.var(axis=1), 1.0),
        (lambda x: x.std(axis=1), lambda x: x.std(axis=1), 1.0),
        (lambda x: x.std(axis=1, ddof=1), lambda x: x.std(axis=1, ddof=1), 1.0),
        (lambda x: np.linalg.norm(x, axis=1), lambda x: np.linalg.norm(x, axis=1), 1.0),
        (lambda x: x.mean(axis=1), lambda x: x.mean(axis=1), 0.5),
    ],
)
@pytest.mark.parametrize(("bits", "low", "high", "length"), VECTORS)
def test_all_short_vectors(
    function: Callable[..., Any],
    of: Callable[..., Any],
    steps: float,
    bits: int,
    low: int,
    high: int,
    length: int,
) -> None:
    raw = np.arange(low << bits, (high << bits) + 1) / 2.0**bits
    every = np.array([*itertools.product(raw, repeat=length)])
    off = abs(evaluated(function, every, bits, low, high) - of(every)) * 2**bits
    assert off.max() <= steps + 1e-9


@pytest.mark.parametrize("length", [3, 50, 1000])
def test_errors_of_many_powers_do_not_add_up_in_a_softmax(length: int) -> None:
    step = 2.0**-16
    small = -np.arange(0, 12, 0.5) - np.random.default_rng(1).integers(0, 1 << 15, 24) * step
    vectors = np.stack([np.append(0, np.full(length - 1, one)) for one in small])
    off = abs(evaluated(tacit.softmax, vectors, 16, -16, 0) - softmax(vectors)) / step
    assert off.max() <= 0.75


def test_deviations_of_large_numbers_are_off_by_what_differences_are() -> None:
    random = np.random.default_rng(3)
    pay = np.floor(random.lognormal(10, 1.2, (40, 800)).clip(0, 500_000) * 2**16) / 2**16
    pay[:20] = np.floor(random.uniform(0, 3, (20, 800)) * 2**16) / 2**16 + 250_000
    got = evaluated(lambda x: x.std(axis=1), pay, 16, 0, 500_000)
    assert (abs(got - pay.std(axis=1)) <= 2.0**-16).all()


@pytest.mark.parametrize("count", [2, 100])
@pytest.mark.parametrize("method", ["var", "std"])
def test_a_refused_deviation_says_what_has_room(method: str, count: int) -> None:
    def traced(dtype: tacit.DType, most: float | None) -> tacit.Plan:
        limits = None if most is None else (-most, most)
        given = tacit.secret("a", shape=count, dtype=dtype, range=limits)
        return tacit.function(lambda x: tacit.reveal(getattr(x, method)())).trace(given)

    def hint(most: float | None) -> str:
        with pytest.raises(tacit.ProgramError, match=r"room") as refused:
            traced(tacit.fixed(16), most)
        return str(refused.value)

    # Nothing is declared; then, of a variance, the type has no room for squares.
    for most in (None, *([3e7] if method == "var" else [])):
        said = hint(most)
        number = re.search(r"up to (\S+)(?: have room| there is room)", said)
        assert number is not None, said
        room = float(number[1])
        traced(tacit.fixed(16), room)
        if most is not None:
            assert room >= 4e6
            coarser = re.search(r"use fixed\((\d+)\)", said)
            assert coarser is not None, said
            traced(tacit.fixed(int(coarser[1])), most)
