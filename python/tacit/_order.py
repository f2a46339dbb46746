"""Order: sorts, ranks by comparisons, and what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit import _endless
from tacit._functions import concatenate, shape, stack
from tacit._keys import counts
from tacit._location import fault
from tacit._moved import flat_along
from tacit._statistics import as_fixed
from tacit._tensor import Tensor, matmul, tensor_of
from tacit._trace import is_in_arm, tracing
from tacit.errors import ProgramError, ProgramTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence


def sort(a: Tensor, axis: int | None = -1) -> Tensor:
    """The elements along an axis in ascending order.

    With `replicated` and `replicated-malicious` elements are shuffled, and then sorted by comparisons whose
    outcomes may be known: about n log2 n of them. Other protocols compare and choose in a bitonic network:
    some n (log2 n)**2 / 4 comparisons, each with two choices.
    """
    one, along = flat_along(_orderly(a if axis is not None else tensor_of(a).reshape(-1)), axis)
    trace = tracing(one._builder)
    # Medians and quantiles of one tensor sort it once. What a body makes, nothing outside may use.
    known = trace.sorted if trace is not None and not trace.bodies else {}
    if (one._id, along) not in known:
        order = [place for place in range(one.ndim) if place != along] + [along]
        rows = one.transpose(*order)
        made = _by_rows(rows.reshape(-1, one.shape[along]))[0].reshape(*rows.shape)
        known[one._id, along] = made.transpose(*(order.index(place) for place in range(one.ndim)))._id
    return one._made(known[one._id, along])


def argsort(a: Tensor, axis: int | None = -1) -> Tensor:
    """Where the elements stood that `sort` puts in order; equal ones keep theirs."""
    import numpy as np

    one, along = flat_along(_orderly(a if axis is not None else tensor_of(a).reshape(-1)), axis)
    order = [place for place in range(one.ndim) if place != along] + [along]
    rows = one.transpose(*order)
    keys = rows.reshape(-1, one.shape[along])
    places = np.broadcast_to(np.arange(keys.shape[1]), keys.shape)
    made = _by_rows(keys, places)[1].reshape(*rows.shape)
    return made.transpose(*(order.index(place) for place in range(one.ndim)))


def sort_by(key: Any, *columns: Any, descending: bool = False) -> tuple[Any, ...]:
    """Rows in the order of a key: the sorted key, and each column with its rows in the same order.

    Rows with equal keys keep their order. With `replicated` and `replicated-malicious` every column costs one
    shuffle of it, however many there are; other protocols choose between rows in each level of a network.

    Args:
        key: A vector of numbers or bools, or a tuple of vectors: rows are ordered by the first one, equal
            ones by the second, and so on.
        columns: Tensors or arrays whose first axes are as long.
        descending: Whether the largest comes first; equal keys keep their order all the same.

    Raises:
        ProgramError: The lengths differ, or a tuple's keys together have more than 62 bits.
        ProgramTypeError: The key has no order.
    """
    parts = list(key) if isinstance(key, (tuple, list)) else [key]
    if not parts:
        raise fault(ProgramError, "a sort takes one key at least")
    one = tensor_of(*parts, *columns)
    keys = [_orderly(one._made(one._operand(part))) for part in parts]
    rows = [one._made(one._operand(column)) for column in columns]
    lengths = keys[0].shape[:1]
    wrong = [part for part in keys if part.shape != lengths] + [
        row for row in rows if row.shape[:1] != lengths
    ]
    if wrong:
        raise fault(
            ProgramError,
            f"rows are sorted by a key of shape {keys[0].shape}, and a column has shape {wrong[0].shape}",
            "keys are vectors, and columns have as many rows",
        )
    whole = keys[0] if len(keys) == 1 and not descending else _joined(keys)
    if descending:
        whole = -whole
    is_key = len(keys) == 1 and not descending
    all_rows = [row.reshape(1, *row.shape) for row in (rows if is_key else [*keys, *rows])]
    made = [each.reshape(*each.shape[1:]) for each in _by_rows(whole.reshape(1, *lengths), *all_rows)]
    if is_key:
        return tuple(made)
    of_keys, of_rows = made[1 : 1 + len(keys)], made[1 + len(keys) :]
    return (of_keys[0] if len(keys) == 1 and not isinstance(key, (tuple, list)) else tuple(of_keys), *of_rows)


def lexsort(keys: Any) -> Tensor:
    """Where rows stood that are in the order of the last key, and equal ones in that of the one before it."""
    import numpy as np

    parts = [*keys]
    made: Tensor = sort_by(tuple(reversed(parts)), np.arange(shape(parts[0])[0]))[1]
    return made


def top_k(key: Any, k: int, *columns: Any) -> tuple[Any, ...]:
    """The rows with the `k` largest keys, the largest first; of equal keys those that come first.

    Args:
        key: As in `sort_by`.
        k: How many, from 1 on.
        columns: As in `sort_by`.
    """
    made = sort_by(key, *columns, descending=True)
    rows = (made[0][0] if isinstance(made[0], tuple) else made[0]).shape[0]
    if type(k) is not int or not 1 <= k <= rows:
        raise fault(ProgramError, f"there is no top {k!r} of {rows} rows", f"take from 1 to {rows}")
    return tuple(tuple(one[:k] for one in each) if isinstance(each, tuple) else each[:k] for each in made)


def _joined(keys: Sequence[Tensor]) -> Tensor:
    """Keys as one integer each row: the first counts most."""
    numbers = [part + 0 if part.dtype.kind == "bool" else part for part in keys]
    first, *others = (number._made(number._at().raw_as(number._id, 0)) for number in numbers)
    for raw in others:
        low, high = (int(end) for end in raw.range)
        first = first * (high - low + 1) + (raw - low)
    return first


def _orderly(a: Any) -> Tensor:
    """A tensor whose elements have an order."""
    one = tensor_of(a)
    if not one.shape:
        raise fault(ProgramError, "a value without axes can't be sorted")
    if one.dtype.kind not in ("int", "fixed", "bool"):
        raise fault(ProgramTypeError, f"`sort` is not defined for {one.dtype}", "use fixed(16) or integers")
    return one


def _by_rows(keys: Tensor, *columns: Any) -> list[Tensor]:
    """Each row of a matrix sorted, and columns with it; in an arm of a branch by a network."""
    numbers = [keys._operand(column) for column in columns]
    made = keys._at().sort(keys._id, numbers, is_in_arm(keys._builder))
    return [keys._made(one) for one in made]


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

    wanted = quantiles(q, method)
    one = as_fixed(tensor_of(a))
    ndim = one.ndim
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


def quantiles(q: Any, method: str = "linear") -> Any:
    """Quantiles as an array of floats.

    Raises:
        ProgramTypeError: They are secret, or not by a straight line.
        ProgramError: One is not from 0 to 1.
    """
    import numpy as np

    if isinstance(q, Tensor) or method != "linear":
        raise fault(ProgramTypeError, "quantiles are public, and by a straight line", "use method='linear'")
    wanted = np.asarray(q, dtype=float)
    if not ((wanted >= 0) & (wanted <= 1)).all():
        raise fault(ProgramError, "a quantile is from 0 to 1, and a percentile from 0 to 100")
    return wanted


def histogram(
    a: Tensor,
    bins: Any = 10,
    range: tuple[float, float] | None = None,  # noqa: A002 (NumPy's name)
    density: bool | None = None,
    weights: Any = None,
) -> tuple[Tensor, Any]:
    """How many elements are between neighbours of public edges, and the edges. A comparison for each edge."""
    import numpy as np

    edges = _edges(bins, range)
    count = _below(a, edges)
    sums = matmul(weights, count + 0) if weights is not None else count.sum(axis=0)
    counts = sums[1:] - sums[:-1]
    if density:
        total = (counts.sum() + 0) if weights is None else counts.sum()
        from tacit._elementary import divide

        return divide(as_fixed(counts) / np.diff(edges), total), edges
    return counts, edges


def histogram2d(
    x: Tensor,
    y: Tensor,
    bins: Any = 10,
    range: Any = None,  # noqa: A002 (NumPy's name)
    weights: Any = None,
) -> tuple[Tensor, Any, Any]:
    """How many pairs are in each cell of public edges, and the edges. A comparison for each edge."""
    each = [bins, bins] if isinstance(bins, (int, Tensor)) or len(bins) != 2 else bins
    ranges = (None, None) if range is None else range
    edges = [_edges(one, of) for one, of in zip(each, ranges, strict=True)]
    below = [_below(one, of) + 0 for one, of in zip((x, y), edges, strict=True)]
    within = [one[:, 1:] - one[:, :-1] for one in below]
    first = within[0] if weights is None else weights.reshape(-1, 1) * within[0]
    # NumPy counts in floats here.
    return as_fixed(matmul(first.T, within[1])), edges[0], edges[1]


def _edges(bins: Any, range: tuple[float, float] | None) -> Any:  # noqa: A002 (NumPy's name)
    """Public edges that ascend."""
    import numpy as np

    if isinstance(bins, Tensor) or (isinstance(bins, int) and range is None) or isinstance(bins, str):
        raise fault(
            ProgramTypeError,
            "the edges of a histogram have to be public, and the least and the largest element are secret",
            "say bins=np.linspace(low, high, 11), or range=(low, high)",
        )
    first, last = range or (0, 1)
    edges = np.linspace(first, last, bins + 1) if isinstance(bins, int) else np.asarray(bins)
    if edges.ndim != 1 or len(edges) < 2 or (np.diff(edges) < 0).any():
        raise fault(ProgramError, "the edges of a histogram have to ascend")
    return edges


def _below(a: Tensor, edges: Any) -> Tensor:
    """Which elements are below each edge; the last bin has its upper edge."""
    import numpy as np

    one = tensor_of(a).reshape(-1)
    edges = np.asarray(_endless.compared(edges, one))
    if one.dtype.kind == "int":
        # Between integers an edge counts as the next one.
        last = np.floor(edges[-1])
        inner = np.ceil(edges[:-1]).astype(np.int64)
        below = (one.reshape(-1, 1) < inner, (one <= int(last)).reshape(-1, 1))
    else:
        below = (one.reshape(-1, 1) < edges[:-1], (one <= float(edges[-1])).reshape(-1, 1))
    return concatenate(below, axis=1)


def partition(a: Tensor, _kth: Any, axis: int | None = -1) -> Tensor:
    """The elements along an axis in ascending order, which is a partition at every place."""
    return sort(a, axis)


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
    if weights is None:
        made = counts(one, high + 1)
    else:
        made = matmul(weights, (one.reshape(-1, 1) == np.arange(high + 1)) + 0)
    # Nothing is beyond the end of the range.
    rest = max(minlength - high - 1, 0)
    return concatenate([made, np.zeros(rest, dtype=np.int64)]) if rest else made
