"""Means, variances and correlations of secrets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tacit import _public
from tacit._elementary import divide, sqrt
from tacit._functions import clip, concatenate, where
from tacit._location import fault
from tacit._moved import flat_along
from tacit._ranges import within
from tacit._tensor import Tensor, matmul, multiply, tensor_of
from tacit.dtypes import fixed
from tacit.errors import ProgramError, ProgramTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit._index import Axes

_SUM = 61
"""Bits of sums of squares, at most."""


def mean(a: Tensor, axis: Axes = None, *, keepdims: bool = False) -> Tensor:
    """The mean over some axes, or over all; rounded once. Of integers and bools fixed(16)."""
    one = as_fixed(tensor_of(a))
    end = max(abs(one._kind.low), abs(one._kind.high), 1)
    parts = -(-(one.size * end) >> 62)
    if parts <= 1 or axis is not None or one.ndim == 0:
        total = one.sum(axis, keepdims=keepdims)
        return _public.divide(total, one.size // total.size)
    # A sum of all has no room. Of the sums of some, quotients are summed, and what these leave is divided.
    flat, count = one.reshape(-1), one.size
    length = max(1, count // parts)
    sums = [flat[start : start + length].sum().reshape(1) for start in range(0, count, length)]
    raw = _raw(concatenate(sums), 0)
    whole = raw // count
    rest = within(raw - whole * count, 0, count - 1).sum()
    total = _raw(whole.sum() + (2 * rest + count) // (2 * count), one.dtype.bits)
    return total.reshape(*(1,) * one.ndim) if keepdims else total


def var(a: Tensor, axis: int | None = None, *, ddof: float = 0, keepdims: bool = False) -> Tensor:
    """The variance along an axis, or of all.

    What elements are off the mean is rounded to as many bits as leave room for the sum of squares: the root
    of the result is off by no more than that step.
    """
    sums, places, count = _squares(a, axis, keepdims)
    return _scaled(sums, places, count - ddof, tensor_of(a))


def std(a: Tensor, axis: int | None = None, *, ddof: float = 0, keepdims: bool = False) -> Tensor:
    """The standard deviation along an axis, or of all: the root of `var`, which needs no room of its own."""
    one = as_fixed(tensor_of(a))
    sums, places, count = _squares(a, axis, keepdims)
    frac = 2 * places
    squares = _public.divide(_raw(sums, frac), count - ddof)
    squares = _finer(squares, one.dtype.bits)
    root = sqrt(squares)
    return root.astype(one.dtype)


def cov(a: Any, b: Any = None, *, rowvar: bool = True, ddof: int = 1) -> Tensor:
    """The matrix of covariances of rows (of columns without `rowvar`), as `np.cov`."""
    rows = _variables(a, b, rowvar)
    off, places = _off_mean(rows, rows.shape[1], 1)
    return _scaled(matmul(off, off.T), places, rows.shape[1] - ddof, rows)


def corrcoef(a: Any, b: Any = None, *, rowvar: bool = True) -> Tensor:
    """The matrix of correlations of rows (of columns without `rowvar`), as `np.corrcoef`; 0 of constants."""
    rows = _variables(a, b, rowvar)
    off, _ = _off_mean(rows, rows.shape[1], 1)
    sums = matmul(off, off.T)
    count = rows.shape[0]
    roots = sqrt((off * off).sum(axis=1))
    quotient = divide(divide(sums, roots.reshape(count, 1)), roots.reshape(1, count))
    return clip(quotient, -1, 1)


def selected_var(filled: Tensor, mask: Tensor, count: Tensor, middle: Tensor) -> Tensor:
    """The variance of the elements in a mask."""
    off = where(mask, as_fixed(filled) - middle, 0)
    off, places = _coarse(off, off.size)
    sums = (off * off).sum()
    sums = _raw(sums, 2 * places)
    return divide(_finer(sums, 16), count * (filled.size // mask.size)).astype(as_fixed(filled).dtype)


def norm(a: Tensor, ord: None = None, axis: int | None = None, *, keepdims: bool = False) -> Tensor:  # noqa: A002 (NumPy's name)
    """The root of the sum of squares, along an axis or of all."""
    if ord is not None:
        raise fault(ProgramError, f"ord={ord!r}: secrets have the usual norm alone", "leave it out")
    one = as_fixed(tensor_of(a))
    if axis is not None:
        axis = flat_along(one, axis)[1]
    off, places = _coarse(one, one.size if axis is None else one.shape[axis])
    sums = (off * off).sum(axis, keepdims=keepdims)
    root = sqrt(_finer(_raw(sums, 2 * places), one.dtype.bits))
    return root.astype(one.dtype)


def average(a: Tensor, axis: int | None = None, weights: Any = None) -> Tensor:
    """The mean, or the mean by weights, public or secret: one for each element, or along an axis."""
    import numpy as np

    if weights is None:
        return mean(tensor_of(a), axis)
    many = weights if isinstance(weights, Tensor) else np.asarray(weights, dtype=float)
    values = a if isinstance(a, Tensor) else np.asarray(a)
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
    if axis is not None and many.ndim != values.ndim:
        along = [1] * values.ndim
        along[axis] = -1
        many = many.reshape(*along)
    return divide(multiply(values, many).sum(axis), many.sum(axis))


def as_fixed(a: Tensor) -> Tensor:
    """Integers and bools as fixed(16); fixed point as it is."""
    if a.dtype.kind == "fixed":
        return a
    if a.dtype.kind in ("int", "bool"):
        return a.astype(fixed(16))
    raise fault(ProgramTypeError, f"this is not defined for {a.dtype}", "use fixed(16) or integers")


def _squares(a: Tensor, axis: int | None, keepdims: bool) -> tuple[Tensor, int, int]:
    """Sums of squares as integers, of which each counts 4**-places, and of how many elements each is."""
    one = tensor_of(a)
    if axis is not None:
        axis = flat_along(one, axis)[1]
    count = one.size if axis is None else one.shape[axis]
    off, places = _off_mean(one, count, axis)
    return (off * off).sum(axis, keepdims=keepdims), places, count


def _off_mean(a: Tensor, count: int, axis: int | None) -> tuple[Tensor, int]:
    one = as_fixed(a)
    return _coarse(one - mean(one, axis, keepdims=True), count)


def _coarse(one: Tensor, count: int) -> tuple[Tensor, int]:
    """Integers with so many binary places that a sum of squares has room."""
    end = max(abs(one.range[0]), abs(one.range[1]), 2.0**-one.dtype.bits)
    places = math.floor((_SUM - math.log2(count)) / 2 - math.log2(end) - 0.01)
    if places >= one.dtype.bits:
        return _raw(one, 0), one.dtype.bits
    if places < 1:
        raise fault(
            ProgramError,
            f"squares of numbers up to {end:g} leave no room for fractions",
            f"declare range=(low, high) for what is given: {count} numbers up to {_room(count):g} have room; "
            "where none is declared, fixed(16) goes up to 2**31",
        )
    return _raw(one.astype(fixed(places)), 0), places


def _room(count: int) -> float:
    """Up to where so many numbers may be, for differences to have eight binary places."""
    return float(2.0 ** math.floor((_SUM - math.log2(count)) / 2 - 9.02))


def _scaled(sums: Tensor, places: int, count: float, of: Tensor) -> Tensor:
    """`sums / count`, of which each counts 4**-places, in the type of what they are the squares of."""
    dtype = as_fixed(of).dtype
    quotient = _public.divide(_raw(sums, 2 * places), count)
    try:
        return quotient.astype(dtype)
    except ProgramError:
        low, high = of.range
        most = max(map(abs, quotient.range))
        room = math.sqrt(dtype.real(dtype.limits[1]) / most) * max(abs(low), abs(high))
        room = 2.0 ** math.floor(math.log2(room))
        bits = math.floor(63 - math.log2(most))
        coarser = f"use fixed({bits}), or " if bits >= 1 else ""
        raise fault(
            ProgramError,
            f"squares of numbers from {low:g} to {high:g} have no room in {dtype}",
            f"declare range=(low, high) for what is given: up to {room:g} there is room; else {coarser}"
            "take the standard deviation",
        ) from None


def _finer(a: Tensor, bits: int) -> Tensor:
    """With so many fraction bits at least, as far as there is room."""
    if a.dtype.kind == "fixed" and a.dtype.bits >= bits:
        return a
    end = max(abs(a._kind.low), abs(a._kind.high), 1).bit_length()
    own = a.dtype.bits if a.dtype.kind == "fixed" else 0
    bits = min(bits, own + 62 - end)
    return a.astype(fixed(bits)) if bits > own else a


def _raw(a: Tensor, frac: int) -> Tensor:
    """The number of so many fraction bits with the same raw value."""
    return a._made(a._at().raw_as(a._id, frac))


def _variables(a: Any, b: Any, rowvar: bool) -> Tensor:
    """Variables as rows."""
    values: Sequence[Any] = [a] if b is None else [a, b]
    rows = []
    for value in values:
        flat = getattr(value, "ndim", 1) == 1
        rows.append(value.reshape(1, -1) if flat else value if rowvar else value.T)
    return as_fixed(concatenate(rows) if len(rows) > 1 else tensor_of(rows[0]))
