"""Order: sorting networks, ranks by comparisons, and what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit._functions import concatenate, stack, where
from tacit._location import fault
from tacit._moved import flat_along
from tacit._repeat import assume
from tacit._statistics import as_fixed
from tacit._tensor import Tensor, matmul, tensor_of
from tacit._trace import tracing
from tacit.errors import ProgramError, ProgramTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence


def sort(a: Tensor, axis: int | None = -1) -> Tensor:
    """The elements along an axis in ascending order, by a bitonic network (Batcher 1968).

    For n elements some n (log2 n) (log2 n + 1) / 4 comparisons, each with two choices, in
    log2 n (log2 n + 1) / 2 levels.
    """
    one = tensor_of(a)
    if not one.shape:
        raise fault(ProgramError, "a value without axes can't be sorted")
    one, along = flat_along(one, axis)
    if one.dtype.kind not in ("int", "fixed", "bool"):
        raise fault(ProgramTypeError, f"`sort` is not defined for {one.dtype}", "use fixed(16) or integers")
    if one.dtype.kind == "bool":
        return sort(one + 0, along) > 0
    trace = tracing(one)
    # Medians and quantiles of one tensor sort it once. What a body makes, nothing outside may use.
    known = trace.sorted if trace is not None and not trace.bodies else {}
    if (one._id, along) not in known:
        order = [place for place in range(one.ndim) if place != along] + [along]
        rows = one.transpose(*order)
        made = _network(rows.reshape(-1, one.shape[along])).reshape(*rows.shape)
        known[one._id, along] = made.transpose(*(order.index(place) for place in range(one.ndim)))
    return known[one._id, along]


def argsort(a: Tensor, axis: int | None = -1) -> Tensor:
    """Where the elements stood that `sort` puts in order; equal ones keep theirs.

    The place is sorted with the element, in bits below it.
    """
    import numpy as np

    one = tensor_of(a)
    one, along = flat_along(one, axis)
    one = one + 0 if one.dtype.kind == "bool" else one
    length = one.shape[along]
    shape = [1] * one.ndim
    shape[along] = length
    bits = max((length - 1).bit_length(), 1)
    raw = one._made(one._at().raw_as(one._id, 0))
    both = sort(raw * (1 << bits) + np.arange(length).reshape(shape), along)
    return assume(both - (both >> bits) * (1 << bits), 0, length - 1)


def median(a: Tensor, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """The median along an axis, or of all; of an even number the mean of the two in the middle."""
    return quantile(a, 0.5, axis, keepdims=keepdims)


def percentile(a: Tensor, q: Any, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """The percentile or percentiles `q`, which are public, between neighbours by a straight line."""
    import numpy as np

    return quantile(a, np.asarray(q, dtype=float) / 100, axis, keepdims=keepdims)


def quantile(
    a: Tensor, q: Any, axis: int | None = None, *, keepdims: bool = False, method: str = "linear"
) -> Tensor:
    """The quantile or quantiles `q`, which are public, between neighbours by a straight line."""
    import numpy as np

    if isinstance(q, Tensor) or method != "linear":
        raise fault(ProgramTypeError, "quantiles are public, and by a straight line", "use method='linear'")
    one = as_fixed(tensor_of(a))
    ndim = one.ndim
    wanted = np.asarray(q, dtype=float)
    if ((wanted < 0) | (wanted > 1)).any():
        raise fault(ProgramError, "a quantile is from 0 to 1, and a percentile from 0 to 100")
    one, along = flat_along(one, axis)
    ordered = sort(one, along)
    before: tuple[slice, ...] = (slice(None),) * along
    length = one.shape[along]

    def at(part: float) -> Tensor:
        place = part * (length - 1)
        low = min(int(place), length - 1)
        if place == low:
            return ordered[(*before, low)]
        pair = stack([ordered[(*before, low)], ordered[(*before, low + 1)]], axis=-1)
        return matmul(pair, np.array([low + 1 - place, place - low]))

    results = [at(float(part)) for part in wanted.ravel()]
    if keepdims:
        shape = [1] * ndim if axis is None else [*one.shape[:along], 1, *one.shape[along + 1 :]]
        results = [result.reshape(*shape) for result in results]
    if not wanted.shape:
        return results[0]
    return stack(results).reshape(*wanted.shape, *results[0].shape)


def histogram(
    a: Tensor,
    bins: Any = 10,
    range: tuple[float, float] | None = None,  # noqa: A002 (NumPy's name)
    density: bool | None = None,
    weights: Any = None,
) -> tuple[Tensor, Any]:
    """How many elements are between neighbours of public edges, and the edges. A comparison for each edge."""
    import numpy as np

    one = tensor_of(a).reshape(-1)
    if isinstance(bins, Tensor) or (isinstance(bins, int) and range is None) or isinstance(bins, str):
        raise fault(
            ProgramTypeError,
            "the edges of a histogram have to be public, and the least and the largest element are secret",
            "say bins=np.linspace(low, high, 11), or range=(low, high)",
        )
    first, end = range or (0, 1)
    edges = np.linspace(first, end, bins + 1) if isinstance(bins, int) else np.asarray(bins)
    if edges.ndim != 1 or len(edges) < 2 or (np.diff(edges) < 0).any():
        raise fault(ProgramError, "the edges of a histogram have to ascend")
    if one.dtype.kind == "int":
        # Between integers an edge counts as the next one.
        last = np.floor(edges[-1])
        inner = np.ceil(edges[:-1]).astype(np.int64)
        below = (one.reshape(-1, 1) < inner, (one <= int(last)).reshape(-1, 1))
    else:
        below = (one.reshape(-1, 1) < edges[:-1], (one <= float(edges[-1])).reshape(-1, 1))
    count = concatenate(below, axis=1)
    sums = matmul(weights, count + 0) if weights is not None else count.sum(axis=0)
    counts = sums[1:] - sums[:-1]
    if density:
        total = (counts.sum() + 0) if weights is None else counts.sum()
        from tacit._elementary import divide

        return divide(as_fixed(counts) / np.diff(edges), total), edges
    return counts, edges


def searchsorted(a: Any, v: Any, side: str = "left") -> Tensor:
    """Where each of `v` would go in a sorted `a`: how many of `a` are less. A comparison for each pair."""
    one = tensor_of(a, v)
    values = one._made(one._operand(v))
    ordered = one._made(one._operand(a))
    column = values.reshape(*values.shape, 1)
    less = ordered < column if side == "left" else ordered <= column
    return less.sum(axis=-1)


def isin(a: Any, b: Any, *, invert: bool = False) -> Tensor:
    """Whether each of `a` is among `b`: a comparison for each pair."""
    one = tensor_of(a, b)
    values, others = one._made(one._operand(a)), one._made(one._operand(b))
    found = (values.reshape(*values.shape, 1) == others.reshape(-1)).any(axis=-1)
    return ~found if invert else found


def unique(a: Tensor) -> Any:
    """The different elements in ascending order: how many there are, nobody knows (`count()` tells)."""
    import numpy as np

    from tacit._selection import Selection

    ordered = sort(tensor_of(a).reshape(-1), 0)
    first = ordered._made(ordered._at().constant(np.array([True]), "bool", 1))
    mask = concatenate([first, ordered[1:] != ordered[:-1]]) if ordered.size > 1 else first
    return Selection(ordered, mask)


def bincount(a: Tensor, weights: Any = None, minlength: int = 0) -> Tensor:
    """How often each integer from 0 on stands in `a`, up to the end of its range or `minlength`."""
    import numpy as np

    one = tensor_of(a).reshape(-1)
    high = int(one.range[1])
    if one.dtype.kind != "int" or one.range[0] < 0 or high >= 1 << 16:
        raise fault(
            ProgramTypeError,
            f"np.bincount takes integers from 0 to some thousands, and these are {one!r}",
            "declare range=(0, last)",
        )
    equal = one.reshape(-1, 1) == np.arange(max(high + 1, minlength))
    return equal.sum(axis=0) if weights is None else matmul(weights, equal + 0)


def _network(rows: Tensor) -> Tensor:
    """Sorts each row. A padded end holds what is at least as large as all, so that it stays there."""
    import numpy as np

    count, length = rows.shape
    highest = rows.range[1]
    block = 2
    while block < 2 * length:
        half = block // 2
        full = -(-length // block) * block
        if full > length:
            rows = concatenate([rows, np.full((count, full - length), highest)], axis=1)
        blocks = rows.reshape(count, full // block, block)
        low, high = _exchanged(blocks[..., :half], blocks[..., half:][..., ::-1])
        rows = concatenate([low, high[..., ::-1]], axis=-1)
        while half > 1:
            half //= 2
            pairs = rows.reshape(count, full // (2 * half), 2, half)
            rows = stack(_exchanged(pairs[:, :, 0], pairs[:, :, 1]), axis=2)
        rows = rows.reshape(count, full)[:, :length]
        block *= 2
    return rows


def _exchanged(left: Tensor, right: Tensor) -> Sequence[Tensor]:
    """The smaller and the larger of each two: one comparison."""
    swap = left > right
    return [where(swap, right, left), where(swap, left, right)]
