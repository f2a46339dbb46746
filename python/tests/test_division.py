"""Quotients that are rounded down, and what they leave, against NumPy: exact, by what is public or secret."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tacit

if TYPE_CHECKING:
    from collections.abc import Callable

rng = np.random.default_rng(3)
FINE = rng.integers(-50 << 16, (50 << 16) + 1, 200) / 65536
FINE[:9] = [-3, 3, 0, 1, -1, 0.5, -0.5, 1.5, -1.5]
WHOLE = rng.integers(-40, 41, 200)
ABOVE = rng.integers(1 << 12, 8 << 16, 200) / 65536
COARSE = np.maximum(np.floor(ABOVE * 256) / 256, 1 / 16)
COUNTS = abs(WHOLE) + 1

FUNCTIONS = [operator.floordiv, operator.mod, divmod, np.floor_divide, np.mod, np.divmod, np.fmod]


def declared(array: Any, low: float, high: float, bits: int = 16) -> dict[str, Any]:
    dtype = tacit.int64 if array.dtype.kind == "i" else tacit.fixed(bits)
    return {"shape": array.shape, "dtype": dtype, "range": (low, high)}


def evaluated(function: Callable[..., Any], *given: tuple[Any, dict[str, Any]]) -> Any:
    secrets = [tacit.secret(f"owner{place}", **options) for place, (_, options) in enumerate(given)]
    plan = tacit.function(lambda *x: tacit.reveal(function(*x))).trace(*secrets)
    return plan._restore(plan._program.evaluate([array for array, _ in given]))


SIGNED = [(FINE, declared(FINE, -50, 50)), (WHOLE, declared(WHOLE, -40, 40))]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dividend", SIGNED)
@pytest.mark.parametrize(
    "divisor",
    [
        (ABOVE, declared(ABOVE, 1 / 16, 8)),
        (-ABOVE, declared(ABOVE, -8, -1 / 16)),
        (COARSE, declared(COARSE, 1 / 16, 8, 8)),
        (COUNTS, declared(COUNTS, 1, 41)),
    ],
)
def test_by_secrets(function: Callable[..., Any], dividend: Any, divisor: Any) -> None:
    got = evaluated(function, dividend, divisor)
    np.testing.assert_array_equal(got, function(dividend[0], divisor[0]))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("divisor", [1.0, 0.5, 3, -2, -0.75, np.array([1.0, 0.25])])
@pytest.mark.parametrize(("dividend", "options"), SIGNED)
def test_by_public_numbers(function: Callable[..., Any], divisor: Any, dividend: Any, options: Any) -> None:
    pairs = dividend.reshape(-1, 2)
    got = evaluated(lambda x: function(x, divisor), (pairs, options | {"shape": pairs.shape}))
    np.testing.assert_array_equal(got, function(pairs, divisor))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dividend", [7, 7.5, -7.25])
def test_of_public_numbers(function: Callable[..., Any], dividend: float) -> None:
    got = evaluated(lambda x: function(dividend, x), (ABOVE, declared(ABOVE, 1 / 16, 8)))
    np.testing.assert_array_equal(got, function(dividend, ABOVE))


@pytest.mark.parametrize("divisor", [1, 2, 3, 1000, 10**9, 2**40 + 1, 2**62])
def test_of_numbers_as_large_as_there_is_room_for(divisor: int) -> None:
    # The dividend and the product that it is compared with have no room for their difference.
    end = 2**62
    given = np.append(rng.integers(-end, end, 60), [end, -end, end - 1, 1 - end, 0, 1, -1, 999, -1000])
    options = {"shape": given.shape, "dtype": tacit.int64, "range": (-end, end)}
    assert (evaluated(lambda x: x % divisor, (given, options)) == given % divisor).all()
    whole, rest = evaluated(lambda x: tacit.stack(list(divmod(x, divisor))), (given, options))
    assert (whole == given // divisor).all()
    assert (rest == given % divisor).all()


def test_what_is_behind_the_point() -> None:
    np.testing.assert_array_equal(evaluated(np.modf, SIGNED[0]), np.modf(FINE))


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x: x % 0.1, "no multiple of 2\\*\\*-16"),
        (lambda x: x // 0, "raise it, with tacit.maximum"),
        (lambda x: divmod(1, x), "declare the divisor's range"),
        (lambda x: x // 1e30, "or too large"),
        (lambda x: x % float("nan"), "not a finite number"),
        (lambda x: x.astype(tacit.int32) // -(1 << 70), "use less than 2\\*\\*63"),
    ],
)
def test_what_has_no_quotient(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(tacit.ProgramError, match=said):
        evaluated(function, SIGNED[0])
