"""Which elements are among others, and where: by all pairs and by sorts, against NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tacit
from tacit import _matching
from tests.support import computed

if TYPE_CHECKING:
    from collections.abc import Callable

rng = np.random.default_rng(6)

PAIRS = [
    (np.array([3.0]), np.array([3.0])),
    (np.array([2.0]), np.array([3.0, 1.0])),
    (rng.integers(0, 4, 9) / 2, rng.integers(0, 4, 7) / 2),
    (rng.integers(-3, 9, 30) / 4, rng.integers(0, 20, 12) / 4),
    (np.full(5, 1.5), np.full(4, 1.5)),
    (rng.permutation(40) / 8, rng.permutation(60)[:25] / 8),
]


def elements(selection: Any, most: int) -> Any:
    """How many elements there are, and the first ones in order."""
    return tacit.stack([selection.count() + 0.0, *(selection[place] for place in range(most))])


FUNCTIONS: list[Callable[[Any, Any], Any]] = [
    np.isin,
    lambda a, b: np.isin(a, b, invert=True),
    lambda a, b: np.searchsorted(np.sort(b), a),
    lambda a, b: np.searchsorted(np.sort(b), a, side="right"),
    lambda a, b: np.isin(a[: len(a) // 2 * 2].reshape(2, -1), b) if len(a) > 1 else np.isin(a, b),
    lambda a, _: np.isin(a, [0.5, 1.0, 1.5, 0.5]),
    lambda _, b: np.searchsorted([-1.0, 0.5, 0.5, 2.0], b, side="right"),
    lambda a, _: np.digitize(a, [0.0, 0.5, 0.5, 2.0]),
    lambda _, b: np.isin([[0.5, 1.0], [9.0, 1.5]], b),
]

SETS: list[Callable[..., Any]] = [np.intersect1d, np.setdiff1d]


@pytest.fixture(params=["pairs", "sorts"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_matching, "_PAIRS", 1e9 if request.param == "pairs" else 0)


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_where_elements_are(function: Callable[[Any, Any], Any], pair: Any) -> None:
    np.testing.assert_array_equal(computed(function, *pair), function(*pair))


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("function", SETS)
@pytest.mark.parametrize("unique", [False, True])
def test_sets(function: Callable[..., Any], pair: Any, unique: bool) -> None:
    if unique and any(len(np.unique(one)) < len(one) for one in pair):
        pair = tuple(rng.permutation(np.unique(one)) for one in pair)
    want = function(*pair, assume_unique=unique)
    got = computed(lambda a, b: elements(function(a, b, assume_unique=unique), len(pair[0])), *pair)
    assert got[0] == len(want)
    np.testing.assert_array_equal(got[1 : 1 + len(want)], want)
    assert not got[1 + len(want) :].any()


def counted(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: function(a, b).count()


def traced(function: Callable[[Any, Any], Any], first: int, second: int) -> tacit.Plan:
    secrets = [
        tacit.secret(owner, shape=shape, dtype=tacit.int32, range=(0, 10**6))
        for owner, shape in (("alice", first), ("bob", second))
    ]
    return tacit.function(lambda a, b: tacit.reveal(function(a, b))).trace(*secrets)


@pytest.mark.parametrize(
    ("function", "few", "many"),
    [
        (np.isin, 470, 490),
        (np.searchsorted, 470, 490),
        (counted(np.intersect1d), 200, 215),
        (counted(np.setdiff1d), 200, 215),
    ],
)
def test_the_cheaper_way_is_taken(function: Callable[[Any, Any], Any], few: int, many: int) -> None:
    before, after = (
        sum(traced(function, size, size).cost(protocol="replicated").bytes.values()) for size in (few, many)
    )
    assert after < before


def test_what_has_no_order_is_compared_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_matching, "_PAIRS", 0)
    first, second = np.array([5, 7, 250, 1], np.uint64), np.array([250, 5], np.uint64)
    got = computed(np.isin, first, second, dtype=tacit.modular(2**64))
    np.testing.assert_array_equal(got, np.isin(first, second))


def test_two_thousand_beside_two_thousand_send_less_than_two_megabytes() -> None:
    for function in (np.isin, np.searchsorted):
        assert max(traced(function, 2000, 2000).cost(protocol="replicated").bytes.values()) < 2_000_000
    assert (
        max(traced(counted(np.intersect1d), 2000, 2000).cost(protocol="replicated").bytes.values())
        < 1_000_000
    )


def test_twenty_thousand_beside_as_many_are_no_longer_too_many() -> None:
    assert max(traced(np.isin, 20_000, 20_000).cost(protocol="replicated").bytes.values()) < 30_000_000
