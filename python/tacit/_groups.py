"""What is found in rows without labels: groups of them (k-means), directions in which they differ (PCA)."""

from __future__ import annotations

import math
from typing import Any

from tacit._elementary import rsqrt
from tacit._functions import clip, maximum, minimum, stack, where
from tacit._location import fault
from tacit._repeat import repeat
from tacit._tensor import Tensor
from tacit._train import FINE, matrix, mean_of_products, rows_of
from tacit.errors import ProgramError

_LEAST_TRACE = 2.0**-20
"""What matrices are divided by at least: rows that are all the same have no direction."""


def k_means(x: Tensor, centres: Any, *, steps: int = 20) -> Tensor:
    """The centres of groups after some steps of Lloyd's algorithm: scikit-learn's `KMeans(init=centres)`.

    Each step takes a distance of every row to every centre, the least of a row's, and a quotient for each
    number of a centre; the plan holds it once. A group without rows keeps its centre.

    Args:
        x: (rows, features).
        centres: (groups, features) to begin with: public, or secret, such as some rows of `x`.
        steps: How many; once no row changes its group further ones change nothing.
    """
    one = rows_of(x)
    low, high = one.range

    def step(old: Tensor) -> Tensor:
        members = _one_hot(_distances(one, old).argmin(axis=1), old.shape[0])
        counts = members.sum(axis=0)
        sums = members.astype(one.dtype).T @ one
        means = sums / maximum(counts, 1).astype(one.dtype).reshape(-1, 1)
        return clip(where((counts > 0).reshape(-1, 1), means, old), low, high)

    found: Tensor = repeat(steps, step, _like(one, centres))
    return found


def nearest(x: Tensor, centres: Any) -> Tensor:
    """Which centre each row is nearest to, by number: `predict` of scikit-learn's `KMeans`."""
    one = rows_of(x)
    return _distances(one, _like(one, centres)).argmin(axis=1)


def pca(x: Tensor, components: int, *, squarings: int = 10) -> tuple[Tensor, Tensor]:
    """The directions in which rows differ most, and the variance along each: scikit-learn's `PCA`.

    Power iteration on the covariance: it is squared again and again, so that 10 squarings are 1,024 steps of
    a vector. What is found is taken away before the next direction is looked for. A direction is right where
    its variance is apart from the next one's; its largest entry is above 0, as scikit-learn has it.

    Args:
        x: (rows, features), of about unit size (`standardize`).
        components: How many directions.
        squarings: How often the covariance is squared for each.

    Returns:
        (components, features) of unit length, and (components) variances, in steps of 2**-24.
    """
    one = rows_of(x)
    rows, features = one.shape
    if not 1 <= components <= min(rows - 1, features):
        raise fault(ProgramError, f"components={components}: there are from 1 to {min(rows - 1, features)}")
    centred = one - one.mean(axis=0)
    left = mean_of_products(centred.T, centred, rows - 1)
    most = max(map(abs, left.range))
    found, variances = [], []
    for _ in range(components):
        trace = maximum(_diagonal(left).sum(), _LEAST_TRACE)
        power = repeat(squarings, lambda old: _enlarged(old @ old), clip(left / trace, -1, 1))
        # A column of v v^T, and the longest of them.
        column = power @ _one_hot(_diagonal(power).argmax(), features).astype(FINE)
        vector = clip(column * rsqrt(maximum((column * column).sum(), _LEAST_TRACE)), -1, 1)
        along = left @ vector
        variance = maximum((along * vector).sum(), 0)
        left = clip(left - (variance * vector).reshape(-1, 1) * vector.reshape(1, -1), -most, most)
        found.append(vector)
        variances.append(variance)
    return stack(found), stack(variances)


def _enlarged(a: Tensor) -> Tensor:
    """A positive matrix times the power of two with which the sum of its diagonal is above 1/2 and at most 1.

    No entry is beyond that sum. That of the square of such a matrix is 1 / (4 features) at least. Comparisons
    with powers of two take a tenth of the rounds of a quotient.
    """
    import numpy as np

    powers = 2 ** np.arange(math.ceil(math.log2(4 * a.shape[0])))
    is_small = _diagonal(a).sum() <= 0.5 / powers
    # 1 + 1 + 2 + 4 + ...
    return clip(a * ((is_small * powers).sum() + 1), -1, 1)


def _diagonal(a: Tensor) -> Tensor:
    """The diagonal."""
    size = a.shape[0]
    return a.reshape(-1)[:: size + 1]


def _distances(x: Tensor, centres: Tensor) -> Tensor:
    """Squares of distances of rows to centres, less that of the row to 0."""
    return (centres * centres).sum(axis=1) - (x @ centres.T) * 2


def _one_hot(index: Tensor, count: int) -> Tensor:
    """Bools on a new last axis, of which the one at the index is set."""
    import numpy as np

    return index.reshape(*index.shape, 1) == np.arange(count)


def _like(x: Tensor, centres: Any) -> Tensor:
    """Centres as fixed point, as many numbers as a row has."""
    import numpy as np

    if not isinstance(centres, Tensor):
        public = np.asarray(centres, dtype=np.float64)
        if not public.ndim:
            raise fault(
                ProgramError,
                f"{centres!r} says no centres to begin with",
                "give some rows, such as x[:3] for three groups",
            )
        low, high = x.range
        if public.ndim == 2 and not (public >= low).all() & (public <= high).all():
            raise fault(ProgramError, f"a centre is outside the range of rows, {low:g} to {high:g}")
        centres = x[:1, :1] * 0 + public
    one = matrix(centres)
    if one.shape[1] != x.shape[1]:
        raise fault(ProgramError, f"rows have shape {x.shape}, and centres {one.shape}")
    return minimum(maximum(one, x.range[0]), x.range[1])
