"""Means, variances and correlations of secrets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tacit import _public
from tacit._division import whole_and_rest, wide_ratio
from tacit._elementary import LARGEST, divide, raised_ratio, raised_root, raw_of, sqrt
from tacit._functions import array_of, clip, concatenate, where
from tacit._location import fault
from tacit._moved import flat_along, moved
from tacit._ranges import held, within
from tacit._tensor import Tensor, matmul, tensor_of
from tacit.dtypes import fixed
from tacit.errors import ProgramError, ProgramTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tacit._index import Axes

_SUM = 61
"""Bits of sums of squares, at most."""


def mean(a: Tensor, axis: Axes = None, *, keepdims: bool = False) -> Tensor:
    """The mean over some axes, or over all; rounded once. Of integers and bools fixed(16)."""
    given = tensor_of(a)
    if given.dtype.kind == "int" and max(-given._kind.low, given._kind.high) * given.size >= 1 << 46:
        return _mean_of_integers(given, axis, keepdims)
    one = as_fixed(given)
    end = max(abs(one._kind.low), abs(one._kind.high), 1)
    parts = -(-(one.size * end) >> 62)
    if parts <= 1 or axis is not None or one.ndim == 0:
        total = one.sum(axis, keepdims=keepdims)
        return _public.divide(total, one.size // total.size)
    # A sum of all has no room. Of the sums of some, quotients are summed, and what these leave is divided.
    count = one.size
    raw = raw_of(_sums_of_some(one, parts), 0)
    whole = raw // count
    rest = within(raw - whole * count, 0, count - 1).sum()
    total = raw_of(whole.sum() + (2 * rest + count) // (2 * count), one.dtype.bits)
    return total.reshape(*(1,) * one.ndim) if keepdims else total


def _mean_of_integers(one: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    """The mean of integers of which fixed(16) may have no room for the sum."""
    low, high = one._kind.low, one._kind.high
    if max(-low, high + 1) > 1 << LARGEST:
        raise fault(
            ProgramError,
            f"a mean of integers from {low} to {high} may be 2**47 or more: fixed(16) has no room",
            "declare a range=(low, high) within 2**47, take (x // 1000).mean() in larger units, or for whole "
            "numbers x.sum() // len(x)",
        )
    parts = -(-(one.size * max(-low, high)) >> 62)
    if parts <= 1 or axis is not None or one.ndim == 0:
        total = one.sum(axis, keepdims=keepdims)
        return wide_ratio(total, one.size // total.size, low, high)
    # As of fixed point, in whole numbers.
    whole, rest = whole_and_rest(_sums_of_some(one, parts), one.size)
    total = wide_ratio(rest.sum(), one.size, low, high, beside=whole.sum())
    return total.reshape(*(1,) * one.ndim) if keepdims else total


def _sums_of_some(one: Tensor, parts: int) -> Tensor:
    """Sums of as many elements each as make so many parts of all, or more."""
    flat, length = one.reshape(-1), max(1, one.size // parts)
    return concatenate(
        [flat[start : start + length].sum().reshape(1) for start in range(0, one.size, length)]
    )


def var(a: Tensor, axis: int | None = None, *, ddof: float = 0, keepdims: bool = False) -> Tensor:
    """The variance along an axis, or of all: within a step, or 2**-60 of the square of the range."""
    sums, places, count, by = _squares_off_mean(a, axis, keepdims)
    return _scaled(sums, places, (count - ddof) * by, tensor_of(a))


def std(a: Tensor, axis: int | None = None, *, ddof: float = 0, keepdims: bool = False) -> Tensor:
    """The standard deviation along an axis, or of all: within a step and 2**-30 of the range.

    The root of the sum of squares, by that of their number: it needs no room for the variance.
    """
    bits = as_fixed(tensor_of(a)).dtype.bits
    sums, places, count, by = _squares_off_mean(a, axis, keepdims)
    root, finer = root_of(sums, places, bits + 1)
    return _public.divide(raw_of(root, bits), math.sqrt((count - ddof) * by) * 2.0 ** (finer - bits))


def cov(a: Any, b: Any = None, *, rowvar: bool = True, ddof: int = 1) -> Tensor:
    """The matrix of covariances of rows (of columns without `rowvar`), as `np.cov`: as far off as `var`."""
    rows = _variables(a, b, rowvar)
    sums, places = _products(rows)
    return _scaled(sums, places, rows.shape[1] - ddof, rows)


def corrcoef(a: Any, b: Any = None, *, rowvar: bool = True) -> Tensor:
    """The matrix of correlations of rows (of columns without `rowvar`), as `np.corrcoef`; 0 of constants.

    Within two steps of fixed(16), and for each of two rows the square of 2**-30 of the range and that of half
    a step of the mean, by its variance.
    """
    rows = _variables(a, b, rowvar)
    sums, _ = _products(rows)
    count = rows.shape[0]
    roots = sqrt(moved(sums, lambda places: places.diagonal()))
    quotient = divide(divide(sums, roots.reshape(count, 1)), roots.reshape(1, count))
    return clip(quotient, -1, 1)


def selected_var(filled: Tensor, mask: Tensor, count: Tensor, middle: Tensor, ddof: int) -> Tensor:
    """The variance of the elements in a mask: as far off as `var`."""
    bits = as_fixed(filled).dtype.bits
    sums, places = _selected_squares(filled, mask, middle)
    over = places - bits
    if over > 0:
        sums = (sums + (1 << over >> 1)) >> over
    more, most = max(-over, 0), _most_variance(filled, places, ddof)
    if most < 1 << LARGEST:
        return raw_of(raised_ratio(sums, count, more), bits)
    if most >= 1 << 62:
        raise _no_variance(most / (1 << bits), as_fixed(filled))
    return raw_of(_whole_ratio(sums, count, more, 0, most), bits)


def selected_std(filled: Tensor, mask: Tensor, count: Tensor, middle: Tensor, ddof: int) -> Tensor:
    """The standard deviation of the elements in a mask: as far off as `std`."""
    one = as_fixed(filled)
    bits = one.dtype.bits
    sums, places = _selected_squares(filled, mask, middle)
    root, finer = root_of(sums, places, bits + 4)
    # Of wide ranges, the last bits are less than 2**-30 of them: quotients have no room for these.
    width = one._kind.high - one._kind.low
    most = math.isqrt(_most_variance(filled, places, ddof) << bits) + (width >> 29) + 2
    less = max(most.bit_length() - LARGEST, 0)
    deviation = raised_ratio(root, raised_root(count, 60), bits + 30 - finer - less)
    return raw_of(deviation * (1 << less) if less else deviation, bits)


def mean_of(total: Tensor, count: Tensor, elements: Tensor) -> Tensor:
    """`total / count`, the mean of elements by their number, or by weights: as `/`, and 0 of none.

    A mean isn't beyond its elements, so it has no end where `/` has one, unless weights may be below 0.
    """
    if count._kind.low < 0:
        return divide(total, count)
    own, by, given = (one.dtype.unit.bit_length() - 1 for one in (total, count, elements))
    bits = max(own, by) or 16
    # Where weights are in steps, the total is off by half a step, and a mean by a part of one weight's step.
    more, slack = bits - own + by, 1 << bits - own + by if by else 0
    low, high = (end << bits - given for end in (elements._kind.low, elements._kind.high))
    low, high = min(low, 0) - slack, max(high, 0) + slack
    if max(-low, high + 1) <= 1 << LARGEST:
        return within(divide(total, count), low, high)
    divisor = raw_of(count)
    divisor = divisor if divisor._kind.low > 0 else clip(divisor, 1, max(divisor._kind.high, 1))
    return raw_of(_whole_ratio(raw_of(total), divisor, more, low, high), bits)


def norm(a: Tensor, ord: None = None, axis: int | None = None, *, keepdims: bool = False) -> Tensor:  # noqa: A002 (NumPy's name)
    """The root of the sum of squares, along an axis or of all: within a step.

    Where squares have no room, what is less than 2**-30 of the range counts as 0.
    """
    if ord is not None:
        raise fault(ProgramError, f"ord={ord!r}: secrets have the usual norm alone", "leave it out")
    one = as_fixed(tensor_of(a)) if tensor_of(a).dtype.kind not in ("int", "bool") else tensor_of(a) + 0
    dtype = one.dtype if one.dtype.kind == "fixed" else fixed(16)
    sums, places = _squares(one, axis, keepdims)
    root, finer = root_of(sums, places, dtype.bits)
    made = raw_of(root, finer).astype(dtype)
    if keepdims or axis is None:
        # Roots of exact sums are rounded to what no element is beyond.
        exact = places == 2 * dtype.bits or (places == 0 and one.dtype.kind == "int")
        made._norm_of = tensor_of(a)._id, exact
    return made


def average(a: Tensor, axis: int | None = None, weights: Any = None) -> Tensor:
    """The mean, or the mean by weights, public or secret: one for each element, or along an axis."""
    import numpy as np

    if weights is None:
        return mean(tensor_of(a), axis)
    many = weights if isinstance(weights, Tensor) else np.asarray(weights, dtype=float)
    values = array_of(a)
    shape = values.shape if axis is None or many.ndim != 1 else (values.shape[axis],)
    if many.shape != shape:
        raise fault(
            ProgramError,
            f"weights of shape {many.shape} beside elements of shape {values.shape}",
            "weights have the shape of the elements, or are a row as long as the axis",
        )
    if isinstance(many, np.ndarray):
        # One product of a row and a column for each mean: rounded once.
        rows, parts = as_fixed(tensor_of(a)), many / many.sum(None if many.ndim == 1 else axis, keepdims=True)
        if axis is None:
            return matmul(rows.reshape(-1), parts.ravel())
        order = [place for place in range(rows.ndim) if place != axis % rows.ndim] + [axis % rows.ndim]
        rows = rows.transpose(*order)
        if parts.ndim == 1:
            return matmul(rows, parts)
        means = matmul(rows[..., None, :], parts.transpose(order)[..., None])
        return means.reshape(*rows.shape[:-1])
    if axis is None:
        return mean_of(matmul(values.reshape(-1), many.reshape(-1)), many.sum(), values)
    along: Any = np.moveaxis
    rows, weights = along(values, axis, -1), many if many.ndim == 1 else along(many, axis, -1)
    sums = _row_by_row(rows, np.broadcast_to(weights, rows.shape)).reshape(*rows.shape[:-1])
    return mean_of(sums, many.sum() if many.ndim == 1 else many.sum(axis), values)


def as_fixed(a: Tensor) -> Tensor:
    """Integers and bools as fixed(16); fixed point as it is."""
    if a.dtype.kind == "fixed":
        return a
    if a.dtype.kind in ("int", "bool"):
        return a.astype(fixed(16))
    raise fault(ProgramTypeError, f"this is not defined for {a.dtype}", "use fixed(16) or integers")


def _squares_off_mean(a: Tensor, axis: int | None, keepdims: bool) -> tuple[Tensor, int, int, int]:
    """Sums of squares of what elements are off their mean, as `_sums` gives them.

    And of how many each is, and how many times too large: those of few integers are of `n x - x.sum()`.
    """
    one = tensor_of(a)
    if one.dtype.kind in ("int", "bool"):
        whole = one + 0
        total = whole.sum(axis, keepdims=True)
        count = one.size // total.size
        if count * (count * int(whole.range[1] - whole.range[0])) ** 2 < 1 << _SUM:
            return *_squares(whole * count - total, axis, keepdims), count, count**2
    one = as_fixed(one)
    sums, places = _squares(one - mean(one, axis, keepdims=True), axis, keepdims)
    return sums, places, one.size // sums.size, 1


def _squares(one: Tensor, axis: int | None, keepdims: bool) -> tuple[Tensor, int]:
    """Sums of squares of fixed point, or integers, along an axis, or of all, as `_sums` gives them."""
    if axis is None:
        kept, along = (1,) * one.ndim, 0
        one = one.reshape(-1)
    else:
        one, along = flat_along(one, axis)
        kept = (*one.shape[:along], 1, *one.shape[along + 1 :])
    order = [place for place in range(one.ndim) if place != along] + [along]
    count = one.shape[along]
    if one.dtype.kind == "int" and count * max(map(abs, one.range)) ** 2 >= 1 << _SUM:
        one = as_fixed(one)
    rows = one.transpose(*order).reshape(-1, count)
    sums, places = _sums(rows, _row_by_row, lambda both: both)
    shape = kept if keepdims else tuple(one.shape[place] for place in order[:-1])
    high = max(sums._kind.high, 0)
    return within(sums, 0, high).reshape(*shape), places


def _row_by_row(a: Any, b: Any) -> Tensor:
    """The sum of products along the last axes, row by row; each is rounded once."""
    count = a.shape[-1]
    return matmul(a.reshape(-1, 1, count), b.reshape(-1, count, 1))


def _products(rows: Tensor) -> tuple[Tensor, int]:
    """Sums of products of what any two rows are off their means, as `_sums` gives them."""
    off = rows - mean(rows, 1, keepdims=True)
    return _sums(off, lambda a, b: matmul(a, b.T), lambda both: both.T)


def _selected_squares(filled: Tensor, mask: Tensor, middle: Tensor) -> tuple[Tensor, int]:
    return _squares(where(mask, as_fixed(filled) - middle, 0), None, False)


def _sums(
    rows: Tensor, products: Callable[[Tensor, Tensor], Tensor], turned: Callable[[Tensor], Tensor]
) -> tuple[Tensor, int]:
    """Sums of products of rows, as integers of which each counts 2**-places, and the places.

    The sums are exact where 61 bits hold them. Else they are off by less than one of these integers: each
    number is `high 2**by + low`, and sums of products of these parts have room, whose last bits are dropped.

    Args:
        rows: Fixed point, or integers whose sums have room.
        products: The sums of products of two tensors of the shape of `rows`.
        turned: The sums with the two in each other's place.
    """
    raw, count = raw_of(rows), rows.shape[-1]
    end = max(abs(raw._kind.low), abs(raw._kind.high), 1)
    over = max((count * end**2 - 1).bit_length() - _SUM, 0)
    places = 2 * rows.dtype.bits - over if rows.dtype.kind == "fixed" else 0
    if places < 2 and over:
        raise fault(
            ProgramError,
            f"squares of numbers up to {end / rows.dtype.unit:g} leave no room for fractions",
            f"declare range=(low, high) for what is given: {count} numbers up to {_room(count):g} have room; "
            "where none is declared, fixed(16) goes up to 2**31",
        )
    if not over:
        return products(raw, raw), places
    by = (over + 1) // 2
    high = raw >> by
    low = within(raw - high * (1 << by), 0, (1 << by) - 1)
    both = products(high, low)
    rest = both + turned(both) + (products(low, low) >> by)
    dropped = over - by
    return products(high, high) * (1 << 2 * by - over) + ((rest + (1 << dropped >> 1)) >> dropped), places


def root_of(sums: Tensor, places: int, wanted: int) -> tuple[Tensor, int]:
    """The root of sums of squares as integers, of which each counts 2**-finer, and `finer`: near `wanted`."""
    by = min(max(2 * wanted - places, 2 - places % 2), 60 - places % 2)
    return raised_root(sums, by), (places + by) // 2


def _room(count: int) -> float:
    """Up to where so many numbers may be, for differences to have eight binary places."""
    return float(2.0 ** math.floor((_SUM - math.log2(count)) / 2 - 9.02))


def _scaled(sums: Tensor, places: int, count: float, of: Tensor) -> Tensor:
    """`sums / count`, of which each counts 2**-places, in the type of what they are the squares of."""
    dtype = as_fixed(of).dtype
    quotient = _divided(sums, places, count, dtype.bits)
    try:
        return quotient.astype(dtype)
    except ProgramError:
        raise _no_variance(max(map(abs, quotient.range)), of) from None


def _no_variance(most: float, of: Tensor) -> ProgramError:
    """That a variance of elements, which may be `most`, has no room in their type."""
    dtype, (low, high) = as_fixed(of).dtype, of.range
    room = math.sqrt(dtype.real(dtype.limits[1]) / most) * max(abs(low), abs(high))
    room = 2.0 ** math.floor(math.log2(room))
    bits = math.floor(63 - math.log2(most))
    coarser = f"use fixed({bits}), or " if bits >= 1 else ""
    return fault(
        ProgramError,
        f"squares of numbers from {low:g} to {high:g} have no room in {dtype}",
        f"declare range=(low, high) for what is given: up to {room:g} there is room; else {coarser}"
        "take the standard deviation",
    )


def _most_variance(filled: Tensor, places: int, ddof: int) -> int:
    """What a variance of some elements may be, in their steps, where sums count 2**-places.

    The mean square of what they are off their mean is a quarter of their range's square at most. Means and
    sums are rounded.
    """
    one = as_fixed(filled)
    bits, share = one.dtype.bits, max(ddof + 1, 1)
    width = one._kind.high - one._kind.low
    return (share * width**2 >> bits + 2) + share + (1 << max(bits - places, 0)) + 1


def _divided(sums: Tensor, places: int, count: float, bits: int) -> Tensor:
    """`sums / count`, of which each counts 2**-places, with so many fraction bits where there is room."""
    whole = int(count)
    if places >= bits or whole != count or whole < 1:
        return _public.divide(raw_of(sums, places), count)
    # The quotient's last bits are those of what a whole quotient leaves.
    quotient = sums // whole
    end = max(abs(quotient._kind.low), abs(quotient._kind.high), 1).bit_length()
    more = min(bits - places, 62 - end)
    if more <= 0:
        return raw_of(quotient, places)
    return raw_of(_refined(sums, whole, quotient, more), places + more)


def _whole_ratio(sums: Tensor, count: Tensor, more: int, low: int, high: int) -> Tensor:
    """`sums 2**more / count`, to the nearest, for integers: known to be from `low` to `high`, without an end.

    One quotient where the sums have room for these bits, and else another one of what the first leaves.
    """
    reach, most = max(-sums._kind.low, sums._kind.high), count._kind.high
    if (reach << more + 1) + most < 1 << 62:
        return within((sums * (2 << more) + count) // (2 * count), low, high)
    if max(-low, high + 1) > 1 << 63 or most << more + 1 >= 1 << 62:
        raise fault(
            ProgramError,
            f"a quotient of up to {reach:g} steps by {most:g} has no room for {more} more bits",
            "declare range=(low, high) for what is given, count in larger units (x / 1000), or use fewer "
            "fraction bits",
        )
    quotient = held(sums // count, low >> more, high >> more)
    return within(_refined(sums, count, quotient, more, held), low, high)


def _refined(
    sums: Tensor,
    count: Tensor | int,
    quotient: Tensor,
    more: int,
    bounded: Callable[[Tensor, int, int], Tensor] = within,
) -> Tensor:
    """`sums 2**more / count`, to the nearest, where `quotient` is `sums // count`.

    What is left is `bounded` by its range.
    """
    most = count if isinstance(count, int) else count._kind.high
    left = bounded(sums - quotient * count, 0, most - 1)
    last = (left * (2 << more) + count) // (2 * count)
    last = bounded(last, 0, ((most - 1) * (2 << more) + most) // (2 * most))
    return quotient * (1 << more) + last


def _variables(a: Any, b: Any, rowvar: bool) -> Tensor:
    """Variables as rows."""
    values: Sequence[Any] = [a] if b is None else [a, b]
    rows = []
    for value in values:
        flat = getattr(value, "ndim", 1) == 1
        rows.append(value.reshape(1, -1) if flat else value if rowvar else value.T)
    return as_fixed(concatenate(rows) if len(rows) > 1 else tensor_of(rows[0]))
