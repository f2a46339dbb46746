"""Means, variances and correlations of secrets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tacit import _public
from tacit._elementary import divide, sqrt
from tacit._functions import clip, concatenate, where
from tacit._location import fault
from tacit._tensor import Tensor, matmul, multiply, tensor_of
from tacit.dtypes import fixed, int64
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
    # A sum of all has no room: the means of some, each rounded, are summed.
    flat = one.reshape(-1)
    length = max(1, one.size // parts)
    sums = [flat[start : start + length].sum().reshape(1) for start in range(0, one.size, length)]
    total = _public.divide(concatenate(sums), one.size).sum()
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
    frac = max(2 * places, 0)
    squares = _public.divide(_raw(sums, frac) if frac else sums.astype(fixed(1)), count - ddof)
    squares = _finer(squares, one.dtype.bits)
    root = sqrt(squares)
    if places < 0:
        root = root * (1 << -places)
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
    sums = _raw(sums, 2 * places) if places > 0 else sums * (1 << -2 * places)
    return divide(_finer(sums, 16), count * (filled.size // mask.size)).astype(as_fixed(filled).dtype)


def norm(a: Tensor) -> Tensor:
    """The root of the sum of squares."""
    one = as_fixed(tensor_of(a))
    off, places = _coarse(one, one.size)
    sums = (off * off).sum()
    root = sqrt(_finer(_raw(sums, 2 * places), one.dtype.bits) if places > 0 else sums)
    return (root if places >= 0 else root * (1 << -places)).astype(one.dtype)


def average(a: Tensor, axis: int | None = None, weights: Any = None) -> Tensor:
    """The mean, or the mean by weights, public or secret."""
    one = as_fixed(tensor_of(a, weights))
    if weights is None:
        return mean(one, axis)
    if isinstance(weights, Tensor):
        return divide(multiply(a, weights).sum(axis), weights.sum(axis))
    import numpy as np

    known = np.asarray(weights, dtype=float)
    if axis is None:
        return matmul(one.reshape(-1), known.ravel() / known.sum())
    turned = [place for place in range(one.ndim) if place != axis % one.ndim]
    return matmul(one.transpose(*turned, axis % one.ndim), known / known.sum())


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
    if places >= 1:
        return _raw(one.astype(fixed(places)), 0), places
    return one.astype(int64) >> -places if places < 0 else one.astype(int64), places


def _scaled(sums: Tensor, places: int, count: float, of: Tensor) -> Tensor:
    """`sums / count`, of which each counts 4**-places, in the type of what they are the squares of."""
    dtype = as_fixed(of).dtype
    if places <= 0:
        quotient = _public.divide(sums.astype(fixed(1)), count) * (1 << -2 * places)
    else:
        quotient = _public.divide(_raw(sums, 2 * places), count)
    try:
        return quotient.astype(dtype)
    except ProgramError:
        low, high = of.range
        raise fault(
            ProgramError,
            f"squares of numbers from {low:g} to {high:g} have no room in {dtype}",
            "declare a narrower range=(low, high), fewer fraction bits, or take the standard deviation",
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
