"""How far off statistics are, against exact fractions: at the ends of ranges and for the least deviations."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tacit
from tests.test_bounds import evaluated

RANGES = [
    (16, 0, 4, 7),
    (16, 0, 100_000, 10),
    (16, 0, 500_000, 300),
    (16, -50_000, 50_000, 2),
    (16, -100, 1_000_000, 1000),
    (16, 0, 1 << 22, 5),
    (16, 1_000_000, 1_000_100, 10),
    (8, 0, 1 << 26, 20),
    (24, 0, 1000, 50),
    (31, -1, 1, 5),
    (4, 0, 10, 3),
]
"""Fraction bits, a range, and how many numbers there are."""


def rows(bits: int, low: int, high: int, count: int) -> Any:
    """Rows of raw values: at the ends, constant, off by a few steps, apart as far as can be, and random."""
    random = np.random.default_rng(7)
    low, high = low << bits, high << bits
    middle, places = (low + high) // 2, np.arange(count)
    made = [np.full(count, end) for end in (low, middle, high)]
    made += [
        np.where(places < count // 2, low, high),
        np.where(places, low, high),
        np.where(places, high, low),
    ]
    for base in (low + 8, high - 8, middle, low + (high - low) // 3):
        made += [(base + change).clip(low, high) for change in (places == 0, places % 2)]
        for width in (1, 2, 8, 1 << 6, 1 << 11, 1 << 16):
            made.append((base + random.integers(-width, width + 1, count)).clip(low, high))
    made += [random.integers(low, high + 1, count) for _ in range(4)]
    return np.array(made)


def root(square: Fraction) -> Fraction:
    """The square root, to 2**-120."""
    return Fraction(math.isqrt((square.numerator << 240) // square.denominator), 1 << 120)


def exact_products(first: Any, second: Any) -> Fraction:
    """The mean product of what raw values are off their means."""
    x, y = [[int(one) for one in row] for row in (first, second)]
    return Fraction(len(x) * sum(map(int.__mul__, x, y)) - sum(x) * sum(y), len(x) ** 2)


def errors(got: Any, wanted: list[Fraction], bits: int) -> list[Fraction]:
    """How many steps results are off, beyond what a float of 53 bits leaves of them."""
    pairs = zip(map(float, got), wanted, strict=True)
    return [abs(Fraction(one) - want) * 2**bits - abs(want) * Fraction(2**bits, 2**53) for one, want in pairs]


@pytest.mark.parametrize(("bits", "low", "high", "count"), RANGES)
@pytest.mark.parametrize("ddof", [0, 1])
def test_deviations(bits: int, low: int, high: int, count: int, ddof: int) -> None:
    raw = rows(bits, low, high, count)
    more = Fraction(count, count - ddof)
    variances = [exact_products(row, row) / 4**bits * more for row in raw]
    got = evaluated(
        lambda x: (x.var(axis=1, ddof=ddof), x.std(axis=1, ddof=ddof)), raw / 2**bits, bits, low, high
    )
    width = Fraction(high - low)
    assert max(errors(got[0], variances, bits)) <= 1 + more * width**2 / 2**60 * 2**bits
    roots = [*map(root, variances)]
    assert within(errors(got[1], roots, bits), roots, more * width**2 / 2**60, bits)


def within(off: list[Fraction], roots: list[Fraction], of_square: Fraction, bits: int) -> bool:
    """Whether roots are off by a step, and by what a change of their squares makes of it."""
    most = [min(root(of_square), of_square / one) if one else root(of_square) for one in roots]
    return all(one <= 1 + more * 2**bits for one, more in zip(off, most, strict=True))


@pytest.mark.parametrize(
    ("low", "high", "count"), [(0, 1, 9), (-100, 1000, 50), (0, 1 << 20, 2000), (5, 7, 3)]
)
def test_deviations_of_integers(low: int, high: int, count: int) -> None:
    def spread(x: Any) -> Any:
        return x.var(axis=1), x.std(axis=1), x[0].var(ddof=1), np.linalg.norm(x, axis=1)

    whole = rows(0, low, high, count)
    plan = tacit.function(lambda x: tacit.reveal(spread(x))).trace(
        tacit.secret("alice", shape=whole.shape, dtype=tacit.int64, range=(low, high))
    )
    got = plan._restore(plan._program.evaluate([whole]))
    variances = [exact_products(row, row) for row in whole]
    assert max(errors(got[0], variances, 16)) <= 1
    assert max(errors(got[1], [*map(root, variances)], 16)) <= 1
    norms = [root(Fraction(sum(int(one) ** 2 for one in row))) for row in whole]
    assert max(errors(got[3], norms, 16)) <= 1
    assert max(errors([got[2]], [variances[0] * Fraction(count, count - 1)], 16)) <= 1


@pytest.mark.parametrize(("bits", "low", "high", "count"), RANGES)
def test_norms(bits: int, low: int, high: int, count: int) -> None:
    raw = rows(bits, low, high, count)
    norms = [root(Fraction(sum(int(one) ** 2 for one in row), 4**bits)) for row in raw]
    got = evaluated(lambda x: np.linalg.norm(x, axis=1), raw / 2**bits, bits, low, high)
    end = Fraction(max(abs(low), abs(high)))
    assert within(errors(got, norms, bits), norms, count * end**2 / 2**60, bits)


@pytest.mark.parametrize(("bits", "low", "high", "count"), RANGES)
def test_correlations(bits: int, low: int, high: int, count: int) -> None:
    raw = rows(bits, low, high, count)
    raw = np.append(raw, (raw[::-1] // 2 + raw // 2).clip(low << bits, high << bits), axis=0)
    got = evaluated(lambda x: (np.corrcoef(x), np.cov(x, ddof=0)), raw / 2**bits, bits, low, high)
    width = Fraction(high - low)
    own = [exact_products(row, row) for row in raw]
    for i, j in np.ndindex(len(raw), len(raw)):
        if j > i:
            continue
        product = exact_products(raw[i], raw[j])
        (off,) = errors([got[1][i, j]], [product / 4**bits], bits)
        assert off <= 1 + width**2 / 2**60 * 2**bits
        if not own[i] or not own[j]:
            assert got[0][i, j] == 0
            continue
        want = product / root(own[i] * own[j])
        least = width**2 / 2**60 + Fraction(1, 4 * 4**bits)
        allowed = sum(least / (one / 4**bits) for one in (own[i], own[j]))
        assert abs(Fraction(float(got[0][i, j])) - want) <= Fraction(2, 1 << 16) + allowed


@pytest.mark.parametrize(("bits", "low", "high", "count"), [one for one in RANGES if one[3] < 1000])
def test_deviations_of_what_a_mask_selects(bits: int, low: int, high: int, count: int) -> None:
    raw = rows(bits, low, high, count)
    random = np.random.default_rng(4)
    masks = random.random(raw.shape) < 0.7
    masks[:, 0] = True

    def spread(x: Any) -> Any:
        chosen = [row[mask == 1] for row, mask in zip(x[: len(raw)], x[len(raw) :], strict=True)]
        return tacit.stack([one.var() for one in chosen]), tacit.stack([one.std() for one in chosen])

    plan = tacit.function(lambda x, m: tacit.reveal(spread(tacit.concatenate([x, m])))).trace(
        tacit.secret("alice", shape=raw.shape, dtype=tacit.fixed(bits), range=(low, high)),
        tacit.secret("bob", shape=raw.shape, dtype=tacit.fixed(bits), range=(0, 1)),
    )
    got = plan._restore(plan._program.evaluate([raw / 2**bits, masks.astype(float)]))
    chosen = [row[mask] for row, mask in zip(raw, masks, strict=True)]
    variances = [exact_products(row, row) / 4**bits for row in chosen]
    # What the mask leaves out counts as 0, so that 0 is in the range.
    width = Fraction(max(high, 0) - min(low, 0))
    near = [place for place, one in enumerate(variances) if one < 2 ** (47 - bits)]
    assert len(near) > len(raw) // 2
    off = errors(got[0][near], [variances[place] for place in near], bits)
    assert max(off) <= 1 + width**2 / 2**59 * 2**bits
    assert max(errors(got[1], [*map(root, variances)], bits)) <= 1 + width / 2**29 * 2**bits


@pytest.mark.parametrize(("least", "most", "count"), [(-1, 1, 9), (0, 1.4, 8), (-3, 3, 5), (0.5, 2, 6)])
def test_products_of_many(least: float, most: float, count: int) -> None:
    bits, random = 16, np.random.default_rng(2)
    low, high = math.ceil(least * 2**bits), math.floor(most * 2**bits)
    raw = random.integers(low, high + 1, (300, count))
    raw[:100] = np.where(random.random((100, count)) < 0.5, low, high) + random.integers(0, 2, (100, count))
    raw = raw.clip(low, high)
    end = Fraction(max(-low, high, 2**bits) + 1, 2**bits)

    def power(x: Any) -> Any:
        return x[:, 0] ** count

    got = evaluated(
        lambda x: (x.prod(axis=1), power(x), np.cumprod(x, axis=1)[:, -1]), raw / 2**bits, bits, least, most
    )
    for place, one in enumerate(got):
        factors = [[int(row[0])] * count if place == 1 else map(int, row) for row in raw]
        exact = [Fraction(math.prod(each), 2 ** (bits * count)) for each in factors]
        assert max(errors(one, exact, bits)) <= Fraction(count - 1, 2) * end ** (count - 2)


@pytest.mark.parametrize(("bits", "low", "high", "count"), RANGES[:6])
def test_means(bits: int, low: int, high: int, count: int) -> None:
    raw = rows(bits, low, high, count)
    weights = np.random.default_rng(5).integers(1, 3 << bits, count)

    def means(x: Any, w: Any) -> Any:
        by_rows = np.average(x, axis=1, weights=np.broadcast_to(w, x.shape))
        known = np.average(x, axis=1, weights=weights)
        each = tacit.stack([np.average(row, weights=w) for row in x])
        return x.mean(axis=1), known, np.average(x, axis=1, weights=w), by_rows, each

    plan = tacit.function(lambda x, w: tacit.reveal(means(x, w))).trace(
        tacit.secret("alice", shape=raw.shape, dtype=tacit.fixed(bits), range=(low, high)),
        tacit.secret("bob", shape=count, dtype=tacit.fixed(bits), range=(0, 3)),
    )
    plain, known, *weighted = plan._restore(plan._program.evaluate([raw / 2**bits, weights / 2**bits]))
    total = int(weights.sum())
    exact = [Fraction(sum(map(int, row)), count * 2**bits) for row in raw]
    by_weights = [
        Fraction(sum(int(a) * int(w) for a, w in zip(row, weights, strict=True)), total * 2**bits)
        for row in raw
    ]
    assert max(errors(plain, exact, bits)) <= Fraction(1, 2)
    # A public weight is a float.
    assert max(errors(known, by_weights, bits)) <= Fraction(1, 2) + Fraction(high, 2**20)
    for one in weighted:
        assert max(errors(one, by_weights, bits)) <= Fraction(1, 2) + Fraction(2**bits, 2 * total)


@pytest.mark.parametrize(
    ("low", "high", "count"),
    [
        (None, None, 1),
        (None, None, 3),
        (None, None, 1000),
        (None, None, 70_000),
        (-(2**46), 2**46, 7),
        (2**40, 2**47 - 1, 12),
        (-(2**44), 2**44, 200_000),
    ],
)
def test_means_of_integers_as_large_as_fixed_point_has_room_for(low: Any, high: Any, count: int) -> None:
    # The first are those for which no range is declared.
    first, last = (-(2**47), 2**47 - 1) if low is None else (low, high)
    options: dict[str, Any] = {} if low is None else {"range": (low, high)}
    random = np.random.default_rng(count)
    ends = np.where(np.arange(count) % 2, first, last)
    for given in [random.integers(first, last, count, endpoint=True), np.full(count, last), ends]:
        secret = tacit.secret("owner", shape=count, dtype=tacit.int64, **options)
        plan = tacit.function(lambda x: tacit.reveal(x.mean())).trace(secret)
        got = plan._restore(plan._program.evaluate([given]))
        steps = math.floor(Fraction(sum(map(int, given)), count) * 2**16 + Fraction(1, 2))
        assert Fraction(float(got)) == Fraction(float(Fraction(steps, 2**16)))


def test_means_of_large_integers_along_an_axis_and_on_shares() -> None:
    given = np.random.default_rng(4).integers(-(2**47), 2**47, (5, 3))
    secret = tacit.secret("owner", shape=(5, 3), dtype=tacit.int64)
    plan = tacit.function(lambda x: [tacit.reveal(x.mean(axis=0)), tacit.reveal(x.mean())]).trace(secret)
    with tacit.local(debug=True) as run:
        by_column, whole = run(plan, owner=[given])
    np.testing.assert_allclose(by_column, given.mean(axis=0), rtol=2**-50)
    np.testing.assert_allclose(whole, given.mean(), rtol=2**-50)


def test_means_of_integers_without_room_say_how_large_they_may_be() -> None:
    secret = tacit.secret("owner", shape=4, dtype=tacit.int64, range=(0, 2**50))
    with pytest.raises(tacit.ProgramError, match=r"may be 2\*\*47 or more.*\n.*\(x // 1000\).mean\(\)"):
        tacit.function(lambda x: tacit.reveal(x.mean())).trace(secret)


@pytest.mark.parametrize("end", [1, 5000, 2**20])
def test_parts_of_a_norm_are_from_minus_one_to_one(end: int) -> None:
    # Beyond squares that 61 bits hold, norms of small numbers count as 0, and quotients are bounded.
    small = np.array([[1, -1, 2], [100, 0, -3], [-(2**12), 77, 5]]) / 2.0**16
    rows = np.concatenate([small, np.array([[end, -end, 0.5], [0, 0, 0]])])

    def parts(x: Any) -> Any:
        made = x / np.linalg.norm(x, axis=1, keepdims=True), x / np.linalg.norm(x)
        assert all(one.range == (-1, 1) for one in made)
        return made

    plan = tacit.function(lambda x: tacit.reveal(parts(x))).trace(
        tacit.secret("alice", shape=rows.shape, dtype=tacit.fixed(16), range=(-end, end))
    )
    with tacit.local(debug=True) as run:
        by_row, of_all = run(plan, alice=[rows])
    norms = np.linalg.norm(rows[3])
    np.testing.assert_allclose(by_row[3], rows[3] / norms, atol=2.0**-16)
    np.testing.assert_allclose(of_all, rows / np.linalg.norm(rows), atol=2.0**-16)
    assert (abs(by_row) <= 1).all()
    assert not by_row[4].any()


LARGE = [
    (tacit.int64, (0, 10**10), [5 * 10**9, 6 * 10**9, 3, 10**10]),
    (tacit.int64, None, [2**47 - 1, -(2**47), 2**47 - 1, 7]),
    (tacit.int32, None, [2**31 - 1, -(2**31), 2**31 - 1, -5]),
    (tacit.fixed(16), (0, 1e10), [5e9, 6e9 + 0.5, 3, 1e10]),
    (tacit.fixed(24), (-(2**27), 2**27), [2**27, 2**27, -(2**27), 0.25]),
]
"""Types, ranges and numbers whose means are beyond where quotients end."""


@pytest.mark.parametrize(("dtype", "range_", "values"), LARGE)
@pytest.mark.parametrize("mask", [[1, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]])
def test_masked_means_of_large_numbers(dtype: Any, range_: Any, values: list[float], mask: Any) -> None:
    def means(x: Any, k: Any) -> Any:
        twice = tacit.stack([x, x])
        rows = np.mean(twice, axis=1, where=tacit.stack([k, k]) > 0)
        return tacit.reveal((x[k > 0].mean(), np.mean(x, where=k > 0), rows[1], np.average(x, weights=k)))

    plan = tacit.function(means).trace(
        tacit.secret("alice", shape=4, dtype=dtype, range=range_),
        tacit.secret("bob", shape=4, dtype=tacit.int8, range=(0, 1)),
    )
    got = plan._restore(plan._program.evaluate([np.array(values), np.array(mask)]))
    chosen = [Fraction(one) for one, there in zip(values, mask, strict=True) if there]
    bits = dtype.bits if dtype.kind == "fixed" else 16
    want = sum(chosen, Fraction()) / max(len(chosen), 1)
    assert max(errors(got, [want] * 4, bits)) <= Fraction(1, 2)


@pytest.mark.parametrize("weights", [tacit.fixed(16), tacit.fixed(24), tacit.fixed(4), tacit.int8])
def test_averages_of_large_numbers_by_secret_weights(weights: Any) -> None:
    values = [[5e9, 6e9], [-1e10, 1e10], [1e10, 1e10], [0.5, 0.25]]
    given: list[list[float]] = [[1, 2], [0, 0], [0, 1], [5, 0], [0.25, 2.5]]
    plan = tacit.function(lambda x, w: tacit.reveal([np.average(x, axis=1, weights=one) for one in w])).trace(
        tacit.secret("alice", shape=(4, 2), range=(-1e10, 1e10)),
        tacit.secret("bob", shape=(5, 2), dtype=weights, range=(0, 5)),
    )
    many = np.floor(given) if weights.kind == "int" else np.array(given)
    got = np.array(
        plan._restore(
            plan._program.evaluate([np.array(values), many.astype(int) if weights.kind == "int" else many])
        )
    )
    total = many.sum(axis=1)
    want = (many @ np.array(values).T) / np.maximum(total, 1e-9)[:, None]
    assert (abs(got - want) <= (0.51 + 0.5 / np.maximum(total, 1)[:, None]) / 2**16 + abs(want) / 2**50).all()


@pytest.mark.parametrize("bits", [12, 16, 20])
@pytest.mark.parametrize("ddof", [0, 1])
def test_masked_variances_of_large_numbers(bits: int, ddof: int) -> None:
    width = 1 << min(39 - bits, (61 - bits) // 2)
    raw = rows(bits, 0, width, 9)
    mask = np.arange(9) % 3 != 1
    plan = tacit.function(
        lambda x, k: tacit.reveal([np.var(one, where=k > 0, ddof=ddof) for one in x])
    ).trace(
        tacit.secret("alice", shape=raw.shape, dtype=tacit.fixed(bits), range=(0, width)),
        tacit.secret("bob", shape=9, dtype=tacit.int8, range=(0, 1)),
    )
    got = plan._restore(plan._program.evaluate([raw / 2**bits, mask.astype(int)]))
    want = [exact_products(row[mask], row[mask]) / 4**bits * Fraction(6, 6 - ddof) for row in raw]
    assert float(max(want)) > 2.0 ** (47 - bits)
    assert max(errors(got, want, bits)) <= 1 + 2 * 2 * Fraction(width) ** 2 / 2**60 * 2**bits


def test_masked_deviations_of_wide_ranges() -> None:
    values = np.array([0, 2**25 - 1, 2**25 - 1, 0, 5, 12345678.5])
    plan = tacit.function(lambda x: tacit.reveal((x[x != 5].std(), x[x > 6].std(ddof=1)))).trace(
        tacit.secret("alice", shape=6, dtype=tacit.fixed(24), range=(0, 2**25 - 1))
    )
    got = plan._restore(plan._program.evaluate([values]))
    want = values[values != 5].std(), values[values > 6].std(ddof=1)
    assert np.allclose(got, want, rtol=0, atol=2.0**-24 + 2 * 2.0**-30 * 2**25)


def test_masked_means_of_large_numbers_in_arms() -> None:
    def means(x: Any, k: Any) -> Any:
        arms = [lambda x, k: x[k > 0].mean(), lambda x, k: np.mean(-x, where=k > 0)]
        return tacit.reveal([tacit.cond(k.sum() > 1, *order, x, k) for order in (arms, arms[::-1])])

    plan = tacit.function(means).trace(
        tacit.secret("alice", shape=3, dtype=tacit.int64, range=(-(2**46), 2**46)),
        tacit.secret("bob", shape=3, dtype=tacit.int8, range=(0, 1)),
    )
    got = plan._restore(plan._program.evaluate([np.array([2**46, 2**46 - 1, 3]), np.array([1, 1, 0])]))
    assert [float(one) for one in got] == [2**46 - 0.5, 0.5 - 2**46]


def test_masked_variances_without_room_are_refused() -> None:
    with pytest.raises(tacit.ProgramError, match=r"no room in fixed\(16\)(.|\n)*up to 1.67772e\+07 there is"):
        tacit.function(lambda x: tacit.reveal(x[x > 0].var())).trace(
            tacit.secret("alice", shape=8, range=(0, 1e8))
        )
