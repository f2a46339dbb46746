"""Programs as people write them who know NumPy: each against NumPy, on small sizes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tacit

if TYPE_CHECKING:
    from collections.abc import Callable

rng = np.random.default_rng(5)
PAY = np.round(rng.lognormal(10, 0.5, (2, 13)).clip(0, 99_999), 2)
X = np.round(rng.normal(size=(9, 3)).clip(-3, 3), 3)
Y = (X @ [1.0, -2.0, 0.5] > 0).astype(float)
IDS = np.array([[3, 8, 1, 5, 9, 2], [9, 4, 3, 7, 2, 0]])
REGION = np.array([0, 2, 1, 0, 2, 2, 0, 4])
SALES = np.round(rng.uniform(0, 900, 8), 2)
F16 = tacit.fixed(16)
PAY_RANGE: dict[str, Any] = {"dtype": F16, "range": (0, 100_000)}
SMALL: dict[str, Any] = {"dtype": F16, "range": (-3, 3)}
INT: dict[str, Any] = {"dtype": tacit.int32, "range": (0, 10)}


def sigmoid(x: Any) -> Any:
    return tacit.sigmoid(x) if isinstance(x, tacit.Tensor) else 1 / (1 + np.exp(-x))


def softmax(x: Any) -> Any:
    powers = np.exp(x - x.max())
    return tacit.softmax(x) if isinstance(x, tacit.Tensor) else powers / powers.sum()


def trained(x: Any, y: Any) -> Any:
    w = np.zeros(3)
    for _ in range(3):
        w = w - 0.5 * (x.T @ (sigmoid(x @ w) - y)) / len(y)
    return w


def gini(a: Any, b: Any) -> Any:
    pay = np.sort(np.concatenate([a, b]))
    return 1 - 2 * (np.cumsum(pay) / pay.sum()).mean()


def commonest(a: Any) -> Any:
    values, counts = np.unique(a, return_counts=True)
    return values[counts.argmax()], counts.max(), values[np.argmin(counts)], a[a > 1][-1], values[0]


def counted_at(x: Any, k: Any) -> Any:
    made = [np.zeros_like(k, shape=3), np.zeros_like(x[0]), np.zeros_like(x, shape=4)]
    np.add.at(made[0], k, 1)
    np.add.at(made[1], k, x[:, 0])
    np.add.at(made[2], [3, 1, 3, 0, 0, -1, 2, 1, 3], x[:, 1])
    filled = np.zeros_like(x)
    filled[np.arange(9), k] = 1
    filled[[0, 3], k[:2]] = x[:2, 1]
    return [*made, filled]


def chosen(r: Any, s: Any) -> Any:
    some, kinds = s[r > 0], r[r > 0]
    some -= 100
    mask = r < 3
    few, those = s[mask], r[mask]
    spread = np.sqrt(((few - few.mean()) ** 2).mean())
    return (
        some.mean(),
        (kinds * 2 + 1).sum(),
        spread,
        few[few > 200].max(),
        (few > 100).mean(),
        np.log(few + 1).sum(),
        (few * those).sum(),
        (few / 2 >= 0).all(),
        few[(few > 100) & (those < 2)].sum(),
    )


def bounded(x: Any) -> Any:
    """Infinities bound nothing, and no number reaches them."""
    edges = [-np.inf, 3, 5000, np.inf]
    ends = np.resize([np.inf, -np.inf, 3], len(x))
    return [
        *(x < np.inf, x > -np.inf, x == np.inf, np.inf != x, x >= ends),
        *(np.clip(x, 2, np.inf), x.clip(-np.inf, 3), np.clip(x, -abs(ends), np.inf)),
        *(np.minimum(x, np.inf), np.maximum(-np.inf, x), np.isin(x, [np.inf, 3])),
        *(np.histogram(x, edges)[0], np.digitize(x, edges), np.searchsorted(edges, x)),
    ]


PROGRAMS: list[tuple[Callable[..., Any], list[Any], list[dict[str, Any]], float]] = [
    (
        lambda a, b: {"std": np.concatenate([a, b]).std(), "mean": [a.mean(), np.mean(b)]},
        [*PAY],
        [PAY_RANGE] * 2,
        1e-2,
    ),
    (lambda a, b: np.percentile(np.concatenate([a, b]), [10, 50, 99]), [*PAY], [PAY_RANGE] * 2, 1e-4),
    (lambda a, b: (np.median(a), np.quantile(b, 0.3)), [*PAY], [PAY_RANGE] * 2, 1e-4),
    (lambda a, b: np.corrcoef(a, b), [*PAY], [PAY_RANGE] * 2, 1e-3),
    (lambda a: np.histogram(a, bins=np.linspace(0, 100_000, 7))[0], [PAY[0]], [PAY_RANGE], 0),
    (lambda a: np.histogram(a, bins=5, range=(1, 9))[0], [IDS[0]], [INT], 0),
    (lambda a: np.sort(a)[-3:], [PAY[0]], [PAY_RANGE], 1e-5),
    (lambda a: np.argsort(a.reshape(2, 3), axis=1), [IDS[0]], [INT], 0),
    (lambda a: np.argsort(a // 3, kind="stable"), [IDS[0]], [INT], 0),
    (lambda a, b: np.isin(a, b), [*IDS], [INT] * 2, 0),
    (lambda a, b: (b - a) / (a + 1), [*PAY], [PAY_RANGE] * 2, 2**-16),
    (gini, [*PAY], [PAY_RANGE] * 2, 1e-4),
    (trained, [X, Y], [SMALL, {"dtype": F16, "range": (0, 1)}], 1e-3),
    (lambda x: 1 / (1 + np.exp(-x)), [X], [SMALL], 2**-15),
    (lambda x: (np.exp(x), np.tanh(x), np.sqrt(abs(x)), abs(x) ** 0.5), [X], [SMALL], 2**-15),
    (lambda x: (np.log(abs(x) + 1), np.log2(abs(x) + 1), 1 / (x + 4)), [X], [SMALL], 2**-15),
    (lambda x: (np.round(x, 1), np.floor(x), np.ceil(x), np.trunc(x), np.sign(x)), [X], [SMALL], 2**-15),
    (lambda x: [softmax(row) for row in x[:2]], [X], [SMALL], 2**-14),
    (lambda r, s: [s[r == k].sum() for k in range(5)], [REGION, SALES], [INT, PAY_RANGE], 1e-4),
    (
        lambda r, s: [(s[r == 2].mean(), np.max(s[r > 1]), s[r < 4].min()) for _ in "a"],
        [REGION, SALES],
        [INT, PAY_RANGE],
        1e-3,
    ),
    (lambda r, s: s[r == 2].std(), [REGION, SALES], [INT, PAY_RANGE], 1e-1),
    (
        lambda x: (x[[2, 0, 1]], x[X[:, 0] > 0], x[[0, 1], [2, 1]], np.roll(x, 2), np.repeat(x, 2, axis=0)),
        [X],
        [SMALL],
        2**-16,
    ),
    (
        lambda x: (np.cumsum(x, axis=0), np.diff(x[:, 0]), np.prod(x[:4, 0]), np.var(x, axis=1)),
        [X],
        [SMALL],
        1e-3,
    ),
    (lambda x: (np.vstack([x, x[:1]]), np.hstack([x, x]), *np.split(x, 3)), [X], [SMALL], 2**-16),
    (lambda x: (np.einsum("ij,kj->ik", x, x), np.einsum("ij->j", x), np.cov(x.T)), [X], [SMALL], 1e-3),
    (lambda x: np.einsum("ij,kj,k->i", x, x, x[:, 0]), [X], [SMALL], 1e-3),
    (lambda x, i: x[i], [X, np.array([2, 0, 8])], [SMALL, INT], 2**-16),
    (lambda x, i: x[i].sum(), [X, np.array(3)], [SMALL, INT], 2**-16),
    (lambda x: ((x - x.mean()) / x.std(), np.linalg.norm(x)), [X], [SMALL], 1e-3),
    (lambda a: (a.mean(), a.std(), a / 3, np.median(a), np.bincount(a, minlength=11)), [IDS[0]], [INT], 1e-3),
    (lambda a, b: ((a / (a.sum() + b.sum())) ** 2).sum(), [*PAY], [PAY_RANGE] * 2, 1e-4),
    (lambda a, b: (np.sqrt(((a - b) ** 2).mean()), np.dot(a, b) / len(a)), [*PAY], [PAY_RANGE] * 2, 1e-2),
    (lambda a: (np.convolve(a, np.ones(3) / 3), np.convolve(a, [1, 2], "same")), [PAY[0]], [PAY_RANGE], 1e-3),
    (lambda a: (np.maximum.accumulate(a), np.partition(a, 3)[3], np.nanmean(a)), [PAY[0]], [PAY_RANGE], 1e-4),
    (lambda x: (np.linalg.norm(x, axis=1), np.triu(x), np.polyval([1, 2, 3], x)), [X], [SMALL], 1e-3),
    (
        lambda a, b: np.where(a > b, 1.0, 0.5).mean() + np.select([a < b], [1.5], 0).sum(),
        [*IDS],
        [INT] * 2,
        1e-4,
    ),
    (lambda a: (a * 0.5, a > 2.5, (a > 3) * 0.1, np.unique(a).size), [IDS[0]], [INT], 1e-4),
    (
        lambda x: (abs(x) ** 2.5, (abs(x) + 0.5) ** -1.5, np.power(abs(x), 1 / 3), (abs(x) + 1) ** -1),
        [X],
        [SMALL],
        1e-3,
    ),
    (commonest, [REGION], [INT], 0),
    (
        lambda x, k: (
            x[np.arange(9), k],
            x[[4, 0], k[:2]],
            x.astype(int),
            (x > 0).astype(float),
            x.astype(bool).sum(),
            np.choose(k, [x[:, 0], x[:, 1], x[:, 2]]),
            np.insert(x[0], 1, 2.5),
            np.insert(x[0], 0, [2.5]),
            np.insert(x[0], 3, 2),
            np.insert(x, 2, x[5], axis=0),
            np.pad(x, 1),
            np.pad(x[0], (0, 2), constant_values=1),
            np.kron(x[:2], np.eye(2)),
            counted_at(x, k),
        ),
        [X, np.array([2, 0, 1, 1, 0, 2, 2, 1, 0])],
        [SMALL, {"dtype": tacit.int8, "range": (0, 2)}],
        2**-14,
    ),
    (
        lambda x: (
            np.diag(x[0], 1),
            np.diag(x[:3], -1),
            np.dstack([x, x]),
            np.vsplit(x, 3)[1],
            np.hsplit(x, 3)[2],
            np.cbrt(x),
            np.sinh(x),
            np.cosh(x),
            np.logaddexp(x, 0.5),
            np.isclose(x, X + 2.0**-18 * (X > 1), atol=0.001),
            np.allclose(x, x),
            x.sum() + np.isfinite(x).sum() + np.isinf(x).sum(),
            np.atleast_2d(x[0]),
            x[~np.isnan(x)],
        ),
        [X],
        [SMALL],
        2**-13,
    ),
    (
        lambda a, b: (
            np.sum(a, where=a > b),
            np.mean(a, where=b > 3),
            np.max(b, where=a > 4, initial=0) if isinstance(b, np.ndarray) else b[a > 4].max(),
            np.any(a > 8, where=b > 2),
        ),
        [*IDS],
        [INT] * 2,
        1e-4,
    ),
    (chosen, [REGION, SALES], [INT, PAY_RANGE], 1e-2),
    (
        lambda a, b: (
            np.intersect1d(a, b).size,
            np.union1d(a, [1, 20]).sum(),
            np.setdiff1d(a, b, assume_unique=True).max(),
        ),
        [*IDS],
        [INT] * 2,
        0,
    ),
    (
        lambda r, s: (
            np.interp(s, [0, 500, 900], [0, 50, 200]),
            np.histogram2d(r, s, bins=[[0, 1, 2, 4], [0, 450, 900]])[0],
            np.histogram2d(r, s, bins=2, range=[[0, 4], [0, 900]], weights=r)[0],
        ),
        [REGION, SALES],
        [INT, PAY_RANGE],
        2**-16,
    ),
    (
        lambda a: (
            np.clip(a, 0.5, 2.5),
            np.append(a, [0.5]),
            np.isin(a, [0.5, 3.0]),
            np.clip(a, 2, a * 0 + 5),
            np.where(a > 3, a, 0.5),
        ),
        [IDS[0]],
        [INT],
        0,
    ),
    (
        lambda x: (np.trapezoid(x, dx=0.5), np.gradient(x[0]), np.heaviside(x, 0.5), np.hypot(x, 1)),
        [X],
        [SMALL],
        1e-4,
    ),
    (lambda x, i: (x[:, i], x[i, 1], x[2:5, i], x[i, i]), [X, np.array(2)], [SMALL, INT], 2**-16),
    (
        lambda x, y: (x % 1.0, x // 0.5, divmod(x, abs(y) + 0.5), np.fmod(y, 1.5), np.modf(x)),
        [np.floor(X[:4] * 64) / 64, np.floor(X[4:8] * 64) / 64],
        [SMALL] * 2,
        0,
    ),
    (
        lambda a, b: (a.std(), np.var(b / 64), np.corrcoef(a, b)[0, 1], b[b > a].std(), np.linalg.norm(a)),
        [*PAY[:, :4]],
        [PAY_RANGE] * 2,
        1e-3,
    ),
    (
        lambda x: ((abs(x) + 0.25) ** -0.5, (x * x + 0.25) ** -2, np.logaddexp(x[:, 0], x[:, 1])),
        [X[:2]],
        [SMALL],
        1e-3,
    ),
    (
        lambda x: (
            x.sum(axis=1, where=x > 0),
            x.max(initial=1, where=x < 1),
            np.median(x[x > 0]),
            np.cross(x[0], x[1]),
        ),
        [X],
        [SMALL],
        1e-3,
    ),
    (lambda a, b: (np.lexsort((a, b)), np.tensordot(a, b, 1)), [*IDS], [INT] * 2, 0),
    (bounded, [PAY[0]], [PAY_RANGE], 2**-16),
    (bounded, [PAY[0]], [{"dtype": F16}], 2**-16),
    (bounded, [IDS[0]], [INT], 0),
    (bounded, [IDS[0]], [{"dtype": tacit.int64, "range": (0, 2**60)}], 0),
    (
        lambda x: (np.max(x, initial=-np.inf), x.min(where=x > 0, initial=np.inf), 10 ** (x / 4)),
        [X],
        [SMALL],
        2**-8,
    ),
]


def same(got: Any, want: Any, tolerance: float) -> None:
    if isinstance(want, dict):
        for key in want:
            same(got[key], want[key], tolerance)
    elif isinstance(want, (list, tuple)):
        for one, other in zip(got, want, strict=True):
            same(one, other, tolerance)
    else:
        np.testing.assert_allclose(
            np.asarray(got, dtype=float), np.asarray(want, dtype=float), rtol=1e-9, atol=tolerance + 2**-17
        )


@pytest.mark.parametrize("place", range(len(PROGRAMS)))
def test_programs_give_what_numpy_gives(place: int) -> None:
    function, arrays, options, tolerance = PROGRAMS[place]
    names = [f"owner{number}" for number in range(len(arrays))]
    plan = tacit.function(lambda *secrets: tacit.reveal(function(*secrets))).trace(
        *(
            tacit.secret(name, shape=array.shape, **one)
            for name, array, one in zip(names, arrays, options, strict=True)
        )
    )
    with tacit.local() as run:
        got = run(plan, **{name: [array] for name, array in zip(names, arrays, strict=True)})
    same(got, function(*arrays), tolerance)


def result(function: Callable[..., Any], array: Any, **declared: Any) -> Any:
    """What a function of one secret gives."""
    plan = tacit.function(lambda x: tacit.reveal(function(x))).trace(
        tacit.secret("alice", shape=np.shape(array), **declared)
    )
    with tacit.local() as run:
        return run(plan, x=array)


NEAR = np.linspace(-15, 15, 401)
ABOVE = 2.0 ** np.linspace(-16, 30, 401)
STEP = 2.0**-16


@pytest.mark.parametrize(
    ("function", "of", "places", "relative"),
    [
        (np.exp, np.exp, NEAR, 2.0**-20),
        (np.exp, np.exp, np.linspace(15, 21.48, 401), 2.0**-20),
        (np.exp2, np.exp2, np.linspace(-20, 30.9, 401), 2.0**-20),
        (np.expm1, np.expm1, NEAR, 2.0**-20),
        (np.log, np.log, ABOVE, 0.0),
        (np.log2, np.log2, ABOVE, 0.0),
        (np.log10, np.log10, ABOVE, 0.0),
        (np.log1p, np.log1p, ABOVE, 0.0),
        (np.sqrt, np.sqrt, ABOVE, 0.0),
        (np.tanh, np.tanh, NEAR, 0.0),
        (tacit.sigmoid, lambda x: 1 / (1 + np.exp(-x)), NEAR, 0.0),
        (tacit.normal_cdf, lambda x: np.vectorize(math.erfc)(-x / math.sqrt(2)) / 2, NEAR, 0.0),
    ],
)
def test_functions_are_off_by_no_more_than_they_say(
    function: Callable[..., Any], of: Callable[..., Any], places: Any, relative: float
) -> None:
    places = np.round(places * 2**16) / 2**16
    got = result(function, places, dtype=F16)
    want = of(places)
    assert (abs(got - want) <= np.maximum(STEP, relative * abs(want)) * 1.0001).all()


@pytest.mark.parametrize("exponent", [2.5, -1.5, 1 / 3, 0.75, -0.1, 7.3])
@pytest.mark.parametrize("range_", [(0, 1), (-3, 3), (0.5, 2), (1, 1000), (0, 500_000)])
def test_powers_are_off_by_no_more_than_they_say(exponent: float, range_: tuple[float, float]) -> None:
    low, high = range_
    places = np.concatenate([np.linspace(low, high, 1001), np.geomspace(max(low, STEP), high, 1001)])
    places = np.clip(np.round(places * 2**16) / 2**16, low, high)
    power = tacit.function(lambda x: tacit.reveal(x**exponent))
    secret = tacit.secret("alice", shape=places.shape, dtype=F16, range=range_)
    if exponent > 0 and high**exponent > 2.0**31:
        with pytest.raises(tacit.ProgramError, match=r"may be 2\*\*31 or more(.|\n)*up to \d"):
            power.trace(secret)
        return
    plan = power.trace(secret)
    got = plan._restore(plan._program.evaluate([places]))
    above = np.maximum(places, STEP if exponent < 0 else 0)
    want = np.where((places > 0) | (exponent < 0), above**exponent, 0)
    near = want < 2.0**31 * (1 - 2.0**-14)
    off = np.maximum(STEP, (1 + abs(exponent)) * 2.0**-20 * want)
    assert (abs(got - want)[near] <= off[near]).all()
    assert (got[~near] >= 2.0**31 * (1 - 2.0**-13)).all()


def test_what_is_beyond_a_power_is_the_power_at_the_end() -> None:
    got = result(np.exp, np.array([21.4876, 22.0, 1000.0]), dtype=F16)
    assert (abs(got - 2.0**31) <= 2.0**15).all()


def test_powers_that_are_all_beyond_the_end_are_refused() -> None:
    secret = tacit.secret("alice", range=(23, 25))
    for function in (np.exp, np.cosh, np.sinh, lambda x: np.sinh(-x), lambda x: 10**x, np.exp2):
        if function is np.exp2:
            secret = tacit.secret("alice", range=(32, 40))
        with pytest.raises(tacit.ProgramError, match="is beyond its last number"):
            tacit.function(lambda x, function=function: tacit.reveal(function(x))).trace(secret)


def test_half_integer_powers_with_room_are_said() -> None:
    numbers = np.array([0, 0.25, 3, 1e4])
    for exponent, instead in [(1.5, r"write x \* np.sqrt"), (2.5, r"write x\*\*2 \* np.sqrt")]:
        with pytest.raises(tacit.ProgramError, match=instead):
            tacit.function(lambda x, power=exponent: tacit.reveal(x**power)).trace(
                tacit.secret("alice", shape=4, range=(0, 1e7 if exponent == 1.5 else 1e4))
            )
    got = result(lambda x: [x * np.sqrt(x), x**2 * np.sqrt(x)], numbers, dtype=F16, range=(0, 1e4))
    assert np.allclose(got, [numbers**1.5, numbers**2.5], rtol=2.0**-20, atol=2 * STEP)


@pytest.mark.parametrize(
    ("coefficients", "high"),
    [([0.001, -0.02, 1, 3], 50), ([0.001, -0.02, 1, 3], 1), ([1e6, -0.02, 1e5, 3], 1), ([2.5, -3, 1], 100)],
)
def test_polynomials_are_as_near_as_sums_of_powers(coefficients: list[float], high: int) -> None:
    places = np.floor(np.linspace(0, high, 501) * 2**16) / 2**16
    plan = tacit.function(lambda x: tacit.reveal(np.polyval(coefficients, x))).trace(
        tacit.secret("alice", shape=501, dtype=F16, range=(0, high))
    )
    off = abs(plan._restore(plan._program.evaluate([places])) - np.polyval(coefficients, places))
    # Written out each power is rounded; by Horner's rule each sum, which is then multiplied.
    degree = len(coefficients) - 1
    written = 1 + sum(
        abs(one) * (power - 1) * max(high, 1) ** (power - 2)
        for one, power in zip(coefficients, range(degree, 0, -1), strict=False)
        if power > 1
    )
    horner = sum(2 * high**power for power in range(degree))
    assert off.max() <= min(written, horner) * STEP / 2 * 1.001


def test_a_mean_without_room_for_the_sum_is_rounded_once() -> None:
    many = np.full(400_000, 6 * STEP)
    many[::3] = -STEP
    assert result(np.mean, many, dtype=F16) == np.floor(many.mean() / STEP + 0.5) * STEP


def test_means_by_public_weights_are_rounded_once() -> None:
    numbers = np.round(rng.uniform(-3, 3, (2, 501)) * 2**16) / 2**16
    weights = rng.uniform(0.1, 1, (2, 501))
    for given, axis in [(weights[0], 1), (weights, 1), (weights, None)]:

        def average(x: Any, axis: Any = axis, given: Any = given) -> Any:
            return np.average(x, axis=axis, weights=given)

        off = result(average, numbers, dtype=F16, range=(-3, 3)) - average(numbers)
        assert (abs(off) <= STEP / 2 + 2.0**-24).all()


ONES = np.array([[1.0, 2.5, -3.0], [0.5, 2.0, 1.0], [2.0, -1.0, 0.25]])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.add.reduce(x),
        lambda x: np.maximum.reduce(x),
        lambda x: np.average(x, axis=0, weights=[1, 2, 1]),
        lambda x: np.average(x, axis=1, weights=x[0] + 4),
        lambda x: np.average(x, weights=x + 4),
        lambda x: np.average(x, axis=0, weights=np.arange(1, 10).reshape(3, 3)),
        lambda x: (np.inner(x, x), np.vdot(x, x), np.dot(x, 2), np.dot(x, x[0])),
        lambda x: np.searchsorted([-1.0, 0.5, 2.0], x[0]),
        lambda x: np.digitize(x, [0.0, 1.0, 2.0]),
        lambda x: (x.clip(0), np.clip(x, None, 1), x.clip(max=1), np.round(x[0], decimals=1)),
        lambda x: np.split(x, np.int64(3)),
        lambda x: (x[0] == x[1]).sum() + np.array_equal(x, x[0]),
        lambda x: (x.clip(7), x.clip(max=-6), np.clip(x[0], [9, 0, 7], None), np.clip(x, 3, -2)),
        lambda x: (np.kron(x[0], x[1]), np.kron(x, x[0]), np.kron(x, 2)),
        lambda x: (np.insert(x, 1, 2, axis=-1), np.insert(x, -1, x[0], axis=-2)),
        lambda x: np.select([x > 0, [[True], [False], [True]]], [1, 2]),
        lambda x: np.select([x > 0, [[True], [False], [True]]], [1.5, 2]),
        lambda x: (np.histogram2d(x[0], x[1], bins=[[-4, 0, 4], [0, 2, 4]])[0], np.sort(x[0, 0], axis=None)),
        lambda x: (np.logical_and(x, [0, 1, 2]), np.logical_xor(x - 1, x > 0), np.logical_not(x - 2)),
        lambda x: (
            np.float_power(2, x[0, :1]),
            np.logical_xor.reduce(x > 0),
            np.logical_xor.reduce(x - 1, 1),
        ),
        lambda x: (x.argsort(kind="stable"), np.argsort(x, kind="mergesort"), np.all(x), (x - 1).any(axis=0)),
    ],
)
def test_what_was_apart_from_numpy(function: Callable[..., Any]) -> None:
    same(result(function, ONES, dtype=F16, range=(-4, 4)), function(ONES), 2**-15)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, _: np.full_like(x, 3) @ np.ones_like(x),
        lambda x, i: np.full_like(x, 3)[i],
        lambda x, i: np.full_like(x, 3) * i,
        lambda x, i: np.full_like(x, 2, shape=(2, 1))[:, i - 1],
        lambda x, i: np.intersect1d(np.stack([i, i]), x).sum(),
        lambda x, i: np.histogram2d(i.reshape(1), x[0, :1], bins=[[0, 1, 2], [-4, 4]])[0],
    ],
)
def test_fixed_point_stays_fixed_point(function: Callable[..., Any]) -> None:
    secrets = [
        tacit.secret("alice", shape=ONES.shape, dtype=F16, range=(-4, 4)),
        tacit.secret("ben", dtype=tacit.int8, range=(0, 2)),
    ]
    plan = tacit.function(lambda x, i: tacit.reveal(function(x, i))).trace(*secrets)
    got = np.asarray(plan._restore(plan._program.evaluate([ONES, 1])))
    want = function(ONES, np.int64(1))
    assert got.dtype == want.dtype == np.float64
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("equation", "by_hand"),
    [
        ("ij,jk,k->i", lambda a, b, v: a @ (b @ v)),
        ("k,ij,jk", lambda v, a, b: a @ (b @ v)),
        ("ij,jk,kl->il", lambda a, b, c: a @ (b @ c)),
        ("ij,kj,il->kl", lambda a, b, c: b @ (a.T @ c)),
        ("i,j,ij->", lambda u, v, a: (u @ a) @ v),
    ],
)
def test_einsum_joins_operands_in_the_order_of_fewest_products(equation: str, by_hand: Any) -> None:
    sizes = {"i": 6, "j": 2, "k": 3, "l": 4}
    random = np.random.default_rng(4)
    arrays = [
        random.integers(-9, 9, [sizes[letter] for letter in name]) / 8
        for name in equation.split("->")[0].split(",")
    ]
    given: list[Callable[..., Any]] = [lambda *all_: np.einsum(equation, *all_, optimize=True), by_hand]
    plans = [
        tacit.function(lambda *all_, one=one: tacit.reveal(one(*all_))).trace(
            *(tacit.secret(f"p{at}", shape=array.shape, range=(-2, 2)) for at, array in enumerate(arrays))
        )
        for one in given
    ]
    sent = [sum(plan.cost(protocol="replicated").bytes.values()) for plan in plans]
    assert sent[0] == sent[1]
    same(plans[0]._restore(plans[0]._program.evaluate(arrays)), np.einsum(equation, *arrays), 2**-13)


def test_einsum_of_public_arrays_counts_bools() -> None:
    ones, x = np.ones((2, 3), dtype=bool), np.arange(2)
    got = result(lambda x: np.einsum("ij,ij,i->", ones, ones, x), x, dtype=tacit.int8, range=(0, 9))
    same(got, np.einsum("ij,ij,i->", ones, ones, x), 0)
    # Sums of small unsigned integers have 64 bits, and stay integers beside a secret.
    small, few = np.ones((2, 3), dtype=np.uint8), np.arange(4, dtype=np.uint8)
    got = result(lambda x: np.einsum("ij,k,l->k", small, few, x), x, dtype=tacit.int8, range=(0, 9))
    same(got, 6 * few, 0)
    assert got.dtype.kind == "i"


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.linalg.norm(x, 1),
        lambda x: np.array_split(x, 5),
        lambda x: np.einsum("ij,ji->", x, x[:2]),
        lambda x: np.einsum("ij->k", x),
        lambda x: np.einsum("ij,jk,k", x, x[:2]),
        lambda x: np.einsum("ij,jk,kk->i", x, x, x),
        lambda x: np.average(x, axis=0, weights=[1.0, 2.0]),
        lambda x: np.dot(x, np.ones((2, 3, 1))),
        lambda x: np.digitize(x, [2.0, 0.0]),
        lambda x: x[x > 0] + x,
        lambda x: x[x > 0] + x[x < 0],
        lambda x: np.add.reduce(x[x > 0]),
        lambda x: list(x[x > 0] * 2),
        lambda x: x ** np.array([1, 2, 3]),
        lambda x: np.var(x, axis=5),
    ],
)
def test_what_cannot_be_is_refused_in_words(function: Callable[..., Any]) -> None:
    with pytest.raises(tacit.errors.ProgramError):
        result(function, ONES, dtype=F16, range=(-4, 4))
