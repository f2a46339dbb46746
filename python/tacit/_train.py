"""Models trained on secrets: regressions, and the linear equations that they come down to."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from tacit._elementary import sigmoid
from tacit._functions import clip, concatenate, maximum, stack
from tacit._location import fault
from tacit._repeat import repeat
from tacit._tensor import Tensor, matmul, tensor_of
from tacit.dtypes import fixed
from tacit.errors import ProgramError, ProgramTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

FINE = fixed(24)
"""What sums of squares and the equations are in: products of two still fit in 64 bits."""

MOST = 2.0**15
"""Up to which size rows have room for sums of squares in these steps."""

_LEAST_PIVOT = 2.0**-14
"""What a pivot is at least: below it columns depend on one another as far as anybody can tell."""

_ROOM = 62
"""Bits that an exact sum of products may have."""


def standardize(x: Tensor, *, bound: float = 8.0) -> Tensor:
    """Each column less its mean and divided by its standard deviation, and cut off beyond `bound` of them.

    What `sklearn.preprocessing.StandardScaler` does, by a quotient for each element. A constant column
    becomes 0.
    """
    one = matrix(x)
    centred = one - one.mean(axis=0)
    spread = maximum(one.std(axis=0), 1 / one.dtype.unit)
    return clip(centred / spread, -bound, bound)


def linear_regression(
    x: Tensor,
    y: Tensor,
    *,
    alpha: float = 0.0,
    bound: float = 1024.0,
    solver: Literal["exact", "sgd"] = "exact",
    epochs: int = 100,
    rate: float = 0.1,
    batch: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Weights and bias of least squares: scikit-learn's `LinearRegression`, or `Ridge` with its `alpha`.

    Give columns of about unit size (`standardize`): the equations are in steps of 2**-24, and a result is
    off by about as much times the condition number of the columns' covariance.

    Args:
        x: (rows, features).
        y: (rows).
        alpha: What squares of weights count, beside the sum of squares of errors.
        bound: A weight is cut off there.
        solver: "exact" solves the normal equations, by features squared products and as many quotients as
            features; "sgd" descends along the gradient.
        epochs: How often "sgd" goes over all rows. The plan holds a step once.
        rate: The length of its steps.
        batch: Rows of a step, in their order; all if not given.
    """
    x, y = _samples(x, y)
    if checked_solver(solver, "exact", "sgd") == "sgd":
        return _descend(lambda scores: scores, x, y, alpha, bound, epochs, rate, batch)
    rows = x.shape[0]
    centre, middle = x.mean(axis=0), y.mean()
    centred, rest = x - centre, y - middle
    gram = mean_of_products(centred.T, centred, rows)
    moments = mean_of_products(centred.T, rest, rows)
    weights = solve(_plus_diagonal(gram, alpha / rows), moments, bound).astype(x.dtype)
    return weights, middle - (centre * weights).sum()


def logistic_regression(
    x: Tensor,
    y: Tensor,
    *,
    alpha: float = 1.0,
    bound: float = 64.0,
    solver: Literal["irls", "sgd"] = "irls",
    epochs: int | None = None,
    rate: float = 0.5,
    batch: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Weights and bias of log-odds: scikit-learn's `LogisticRegression` with `C=1/alpha`.

    Args:
        x: (rows, features), of about unit size (`standardize`).
        y: (rows) of 0 and 1, or bools.
        alpha: What half the squares of weights count, beside the sum of losses.
        bound: A weight is cut off there.
        solver: "irls" takes Newton's steps (iteratively reweighted least squares), each of which solves
            equations; "sgd" descends along the gradient.
        epochs: Newton's steps, 8 if not given; of "sgd" how often it goes over all rows, 100 if not given.
            The plan holds a step once.
        rate: The length of steps of "sgd".
        batch: Rows of a step of "sgd", in their order; all if not given.
    """
    x, y = _samples(x, y)
    if checked_solver(solver, "irls", "sgd") == "sgd":
        return _descend(sigmoid, x, y, alpha, bound, epochs or 100, rate, batch)
    import numpy as np

    rows, features = x.shape
    one = concatenate([x, np.ones((rows, 1))], axis=1)
    costs = np.append(np.full(features, alpha / rows), 0.0)

    def newton(weights: Tensor) -> Tensor:
        chances = sigmoid(one @ weights)
        slope = mean_of_products(one.T, chances - y, rows) + (weights * costs).astype(FINE)
        spread = (chances * (1 - chances)).reshape(rows, 1) * one
        curve = _plus_diagonal(mean_of_products(one.T, spread, rows), costs)
        return clip(weights - solve(curve, slope, bound).astype(x.dtype), -bound, bound)

    found = repeat(epochs or 8, newton, _zeros(x, features + 1))
    return found[:features], found[features]


def _descend(
    link: Callable[[Tensor], Tensor],
    x: Tensor,
    y: Tensor,
    alpha: float,
    bound: float,
    epochs: int,
    rate: float,
    batch: int | None,
) -> tuple[Tensor, Tensor]:
    """Weights and bias after steps along the gradient of the mean loss."""
    import numpy as np

    rows, features = x.shape
    size = rows if batch is None else batch
    if size < 1 or rows % size:
        raise fault(
            ProgramError,
            f"batch={batch}: {rows} rows aren't a multiple of it",
            "leave some rows out, or none",
        )
    one = concatenate([x, np.ones((rows, 1))], axis=1)
    costs = np.append(np.full(features, alpha / rows), 0.0)

    def step(weights: Tensor, part: tuple[Tensor, Tensor]) -> Tensor:
        some, wanted = part
        slope = some.T @ (link(some @ weights) - wanted) / size
        if alpha:
            slope = slope + weights * costs
        return clip(weights - rate * slope, -bound, bound)

    def epoch(weights: Tensor) -> Tensor:
        if size == rows:
            return step(weights, (one, y))
        parts = one.reshape(-1, size, features + 1), y.reshape(-1, size)
        done: Tensor = repeat(rows // size, step, weights, over=parts)
        return done

    found = repeat(epochs, epoch, _zeros(x, features + 1))
    return found[:features], found[features]


def solve(a: Tensor, b: Tensor, bound: float) -> Tensor:
    """The `w` with `a w = b`, for a symmetric positive definite `a` in steps of 2**-24, cut off at `bound`.

    Elimination without a search for pivots, which such matrices don't need: what is left of one after a step
    is such a matrix too, none of whose entries is beyond the largest before (Higham 2002, section 10.1).
    """
    import numpy as np

    features = a.shape[0]
    most = max(map(abs, a.range))
    reach = max(map(abs, b.range))
    factors, pivots, rights = [], [], []
    left, right = a, b
    for column in range(features):
        pivot = maximum(left[0, 0], _LEAST_PIVOT)
        pivots.append(pivot)
        rights.append(right[0])
        if column + 1 == features:
            break
        # As many digits as matter: columns that are far apart in size have large factors.
        factor = clip(left[1:, 0] / pivot, -bound, bound)
        factors.append(factor)
        rest = left[1:, 1:] - factor.reshape(-1, 1) * left[0, 1:].reshape(1, -1)
        left = clip(rest, -most, most)
        right = clip(right[1:] - factor * right[0], -reach, reach)
    ends = clip(stack(rights) / stack(pivots), -bound, bound)
    found = [ends[features - 1]]
    for column in reversed(range(features - 1)):
        known = stack(found)
        found.insert(0, clip(ends[column] - (factors[column] * known).sum(), -bound, bound))
    return stack(found) if features > 1 else found[0] * np.ones(1)


def mean_of_products(a: Tensor, b: Tensor, count: float) -> Tensor:
    """`a @ b / count` in steps of 2**-24; sums are exact where 64 bits hold them."""
    ends = [max(map(abs, one.range)) for one in (a, b)]
    fraction = sum(one.dtype.bits for one in (a, b))
    bits = fraction + math.log2(max(ends[0] * ends[1] * a.shape[-1], 1.0))
    total = matmul(a, b, exact=True) if fraction <= 32 and bits < _ROOM else matmul(a, b)
    return (total / count).astype(FINE)


def _plus_diagonal(a: Tensor, values: Any) -> Tensor:
    """Public values added to the diagonal."""
    import numpy as np

    summed: Tensor = a + np.eye(a.shape[0]) * values
    return summed


def _zeros(like: Tensor, count: int) -> Tensor:
    """What training starts from."""
    return like.reshape(-1)[:1].broadcast_to((count,)) * 0


def _samples(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Rows and what belongs to each, as fixed point."""
    from tacit._statistics import as_fixed

    one, other = rows_of(x), as_fixed(tensor_of(y))
    if other.shape != one.shape[:1]:
        raise fault(
            ProgramError, f"x has shape {one.shape}, and y {other.shape}", "give a y for each row of x"
        )
    return one, other


def rows_of(x: Any) -> Tensor:
    """Rows of features of a size for which sums of squares have room, as fixed point."""
    one = matrix(x)
    low, high = one.range
    if max(-low, high) > MOST:
        raise fault(
            ProgramError,
            f"x may be anything from {low:g} to {high:g}, and beyond {MOST:g} sums of squares have no room",
            "declare its range=(low, high), or give tacit.learn.standardize(x)",
        )
    return one


def checked_solver(solver: str, *known: str) -> str:
    """A way that there is."""
    if solver not in known:
        raise fault(ProgramError, f"solver={solver!r} isn't one of {' and '.join(known)}")
    return solver


def matrix(x: Any) -> Tensor:
    """Rows of features, as fixed point."""
    from tacit._statistics import as_fixed

    one = as_fixed(tensor_of(x))
    if one.ndim != 2:
        raise fault(
            ProgramTypeError, f"x has shape {one.shape}", "give it as (rows, features): x.reshape(-1, 1)"
        )
    return one
