"""Products along axes, rows, blocks and pieces, and reductions of what a mask says: against NumPy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tacit
from tests.support import computed, rounded

if TYPE_CHECKING:
    from collections.abc import Callable

rng = np.random.default_rng(8)
# Multiples of a quarter: products of three are exact.
A = rng.integers(-8, 9, (2, 3, 4)) / 4
B = rng.integers(-8, 9, (4, 3)) / 4
V = rng.integers(-8, 9, 5) / 4
KEYS = rng.integers(0, 3, (3, 12)).astype(float)
MASK = np.arange(24).reshape(2, 3, 4) % 5 < 3

PROGRAMS: list[tuple[Callable[..., Any], list[Any]]] = [
    (lambda a, b: np.tensordot(a, b, axes=1), [A, B]),
    (lambda a, b: np.tensordot(a, b, axes=([2, 1], [0, 1])), [A, B]),
    (lambda a, b: np.tensordot(a, b, axes=(1, -1)), [A, B]),
    (lambda a, b: np.tensordot(a[0], b, axes=0), [A, B]),
    (lambda a: np.tensordot(B, a, axes=([0], [2])), [A]),
    (lambda a, b: np.linalg.multi_dot([a[0], b, a[1]]), [A, B]),
    (lambda a, b: np.cross(a[0].T, b), [A, B]),
    (lambda a: np.cross([1, 2, 3], a[:, :, 1]), [A]),
    (lambda v: [one + v[0] for one in np.meshgrid(v, [1.0, 2.0])], [V]),
    (lambda v, b: np.meshgrid(v[:2], v, b[0], indexing="ij"), [V, B]),
    (lambda a, b: np.block([[a[0], np.ones((3, 2))], [b.T, np.zeros((3, 2))]]), [A, B]),
    (lambda v: np.block([v, 1, v[:2]]), [V]),
    (
        lambda v: (
            tacit.stack([[v[0], v[1] * 2], [v[2], 3.0]])
            if isinstance(v, tacit.Tensor)
            else np.array([[v[0], v[1] * 2], [v[2], 3.0]])
        ),
        [V],
    ),
    (lambda a: (np.linalg.matrix_power(a[0] @ B, 2), np.linalg.matrix_power(a[0, :, :3], 0)), [A]),
    (lambda a: [np.linalg.matrix_power(a[0, :, :3] * 2, n) for n in (1, 2, 3, 5)], [A]),
    (lambda v: np.block([[v], [v + 1]]), [V]),
    (lambda a: np.apply_along_axis(lambda row: row.max() - row.min(), 1, a), [A]),
    (lambda a: np.apply_along_axis(np.cumsum, 1, a), [A]),
    (lambda a: np.apply_along_axis(lambda row, by: row[:2] * by, 0, a, 2.0), [A]),
    (lambda v: np.piecewise(v, [v < 0, v > 1], [lambda x: -x, 3.0, lambda x: x * 2]), [V]),
    (lambda v: np.piecewise(v, [v < 1, v < 0], [2.0, lambda x: x * 3]), [V]),
    (lambda k: np.lexsort((k[0], k[1], k[2])), [KEYS]),
    (lambda k: np.lexsort(k), [KEYS]),
    (lambda a: np.logical_and.reduce(a > -1.5, axis=1), [A]),
    (lambda a: np.logical_or.reduce(a > 1.5), [A]),
    (lambda a: np.bitwise_or.reduce(a > 1.5), [A]),
]


@pytest.mark.parametrize(("function", "arrays"), PROGRAMS)
def test_programs(function: Callable[..., Any], arrays: list[Any]) -> None:
    compared(function, arrays)


def compared(function: Callable[..., Any], arrays: list[Any]) -> None:
    got, want = computed(function, *arrays), function(*arrays)
    pairs = zip(got, want, strict=True) if isinstance(want, (tuple, list)) else [(got, want)]
    for one, other in pairs:
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(np.asarray(one, float), np.asarray(other, float), atol=2.0**-16)


MASKED: list[Callable[..., Any]] = [
    lambda a, m: a.sum(where=m),
    lambda a, m: a.sum(axis=1, where=m, initial=2),
    lambda a, m: a.mean(where=m, keepdims=True),
    lambda a, m: a.mean(axis=0, where=m),
    lambda a, m: np.mean(a, axis=(0, 2), where=m, keepdims=True),
    lambda a, m: a.max(initial=0.5, where=m),
    lambda a, m: np.max(a, axis=2, where=m, initial=-5),
    lambda a, m: a.min(axis=1, where=m, initial=9, keepdims=True),
    lambda a, m: np.min(a, initial=-9) + a.max(initial=9) + 0 * m[0, 0, 0],
    lambda a, m: a.prod(axis=2, where=m),
    lambda a, m: np.prod(a[0, 0], where=m[0, 0], initial=2),
    lambda a, m: a.var(where=m),
    lambda a, m: np.std(a, where=m, ddof=1),
    lambda a, m: (a > 0).any(axis=1, where=m),
    lambda a, m: np.all(a > -2, where=m),
    lambda a, m: np.all(a > 0, axis=0, where=m),
    # A mask of the last axis alone is the same for all rows, as NumPy has it.
    lambda a, m: a.sum(where=m[0, 0]),
    lambda a, m: np.sum(a, axis=0, where=m[1]),
    lambda a, m: np.sum(a > 0, where=m),
    lambda a, m: np.sum(a > 0, axis=1, where=m),
    # Of none there is what is first, also where that is beyond all that elements can be.
    lambda a, m: np.max(a, axis=1, where=m & (a > 1.9), initial=-7),
    lambda a, m: np.min(a, where=m & (a < -9), initial=7),
    lambda a, m: np.all(a, where=m & (np.zeros(4) > 0)),
    lambda a, m: np.max(a, axis=(0, 2), where=m, initial=-9),
    lambda a, m: np.all(a, axis=(2, 1), where=m, keepdims=True),
    lambda a, m: np.prod(a[0, :2, :2], axis=(0, 1), where=m[0, :2, :2]),
]

SEVERAL: list[Callable[..., Any]] = [
    lambda a: a.max(axis=(0, 2)),
    lambda a: np.min(a, axis=(-1, 0), keepdims=True),
    lambda a: np.ptp(a, axis=(1, 2)),
    lambda a: (a > 0).any(axis=(0, 1)),
    lambda a: np.all(a, axis=(0, 1, 2), keepdims=True),
    lambda a: np.prod(a[:, :1, :2], axis=(0, 1)),
    lambda a: np.var(a, axis=(0, 1)),
    lambda a: a.std(axis=(2, 0), keepdims=True),
    lambda a: np.max(a, axis=()),
    lambda a: np.any(a, axis=(1,)),
]


@pytest.mark.parametrize("function", SEVERAL)
def test_several_axes_at_once(function: Callable[..., Any]) -> None:
    compared(function, [A])


@pytest.mark.parametrize("axis", [(0, 0), (0, 3), (-4,), (1, -2)])
def test_axes_that_there_are_not(axis: tuple[int, ...]) -> None:
    with pytest.raises(tacit.ProgramError, match="name each axis once"):
        computed(lambda a: a.max(axis=axis), A)


@pytest.mark.parametrize("function", MASKED)
def test_masks_that_say_which_count(function: Callable[..., Any]) -> None:
    # Secret, and public.
    compared(lambda a, m: function(a, m > 0), [A, MASK.astype(float)])
    compared(lambda a: function(a, MASK), [A])


@pytest.mark.parametrize("chosen", [[0], [1], [2, 4, 5], [0, 1, 3, 4], [1, 2, 3, 4, 5]])
@pytest.mark.parametrize("of", [lambda s: s.median(), np.median])
def test_the_median_of_what_a_mask_selects(chosen: list[int], of: Callable[[Any], Any]) -> None:
    values, mask = np.array([3.5, -2, 8, 0.25, -7, 3]), np.isin(np.arange(6), chosen)
    got = computed(lambda x, m: of(x[m > 0]), values, mask.astype(float))
    assert got == np.median(values[mask])


@pytest.mark.parametrize("count", [1, 2, 3, 10, 30])
def test_the_quantiles_of_what_a_mask_selects(count: int) -> None:
    values = np.round(rng.uniform(0, 500_000, 32), 2)
    mask = rng.permutation(32) < count
    parts = [0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 0.999, 1]
    got = computed(lambda x, m: np.quantile(x[m > 0], parts), values, mask.astype(float))
    np.testing.assert_allclose(got, np.quantile(rounded(values[mask]), parts), rtol=0, atol=2.0**-17 + 1e-9)
    one = computed(lambda x, m: np.percentile(x[m > 0], 90), values, mask.astype(float))
    assert one == got[5]


def test_a_quantile_of_nothing_is_the_largest_that_there_could_be() -> None:
    assert computed(lambda x: x[x > 5].quantile(0.3), np.array([1.0, 4, 2])) == 4


def test_the_median_of_nothing_is_the_largest_that_there_could_be() -> None:
    assert computed(lambda x: x[x > 5].median(), np.array([1.0, 4, 2])) == 4


X = tacit.secret("alice", shape=(2, 3), dtype=tacit.fixed(16), range=(-9, 9))

REFUSED: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: np.zeros(3).__setitem__(0, x.sum()), "np.zeros_like(x, shape=3)"),
    (lambda x: np.array([x[0].sum(), x[1].sum()]), "tacit.stack([x, y])"),
    (lambda x: np.arange(9)[x[0, 0] > 0], "np.choose(i, table)"),
    (lambda x: np.take(np.arange(9), x[0] > 0), "np.choose(i, table)"),
    (lambda x: [1, 2][(x[0, 0] > 0) + 0], "np.choose(i, table)"),
    (lambda x: x[: (x[0, 0] > 0) + 0], "x[np.arange(len(x)) < i]"),
    (lambda x: range((x > 0).sum()), "tacit.where(np.arange(len(x)) < i, x, 0)"),
    (lambda x: math.sqrt(x.sum()), "np.sqrt(x)"),
    (lambda x: f"{x.sum():.1f}", "the text of what the run gives back"),
    (lambda x: x.tolist(), "list(x)"),
    (lambda x: np.mean([x[0], x[1]]), "tacit.stack([x, y]).sum()"),
    (lambda x: len(set(x)), "np.unique(x).count()"),
    (lambda x: {x[0, 0]: 1}, "np.unique(x).count()"),
    (lambda x: max(x[0]), "x.max()"),
    (lambda x: sorted(x[0]), "np.sort(x)"),
    (lambda x: x.var(axis=1, where=x > 0), "tacit.stack"),
    (lambda x: np.mean(x[x > 0], keepdims=True), "docs/numpy.md"),
    (lambda x: x[x > 0].var(ddof=0.5), "a whole number"),
    (lambda x: x[x > 0].quantile(1.5), "from 0 to 1"),
    (lambda x: x[x[:, 0] > 0].quantile(0.5), "quantiles of rows"),
    (lambda x: np.cross(x, x[:, :2]), "three numbers each"),
    (lambda x: np.tensordot(x, x, axes=1), "don't go together"),
    (lambda x: np.piecewise(x, [x > 0], [1, 2, 3]), "3 functions for 1 conditions"),
]


@pytest.mark.parametrize(("function", "said"), REFUSED)
def test_what_is_refused_says_what_to_write(function: Callable[[Any], Any], said: str) -> None:
    with pytest.raises(tacit.ProgramError) as refused:
        tacit.function(function).trace(X)
    assert said in str(refused.value)
    assert "test_along.py:" in str(refused.value)
