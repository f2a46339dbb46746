"""Programs as people write them who know NumPy: each against NumPy, on small sizes."""

from __future__ import annotations

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
    (lambda x, i: x[i], [X, np.array([2, 0, 8])], [SMALL, INT], 2**-16),
    (lambda x, i: x[i].sum(), [X, np.array(3)], [SMALL, INT], 2**-16),
    (lambda x: ((x - x.mean()) / x.std(), np.linalg.norm(x)), [X], [SMALL], 1e-3),
    (lambda a: (a.mean(), a.std(), a / 3, np.median(a), np.bincount(a, minlength=11)), [IDS[0]], [INT], 1e-3),
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
