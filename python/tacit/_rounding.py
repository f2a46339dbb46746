"""Whole numbers near secrets."""

from __future__ import annotations

from typing import Any

from tacit._functions import where
from tacit._location import fault
from tacit._tensor import Tensor, tensor_of
from tacit.dtypes import fixed, int8, int16, int32, int64
from tacit.errors import ProgramTypeError


def floor(a: Tensor) -> Tensor:
    """The largest whole number that isn't above `a`, in its type."""
    one = tensor_of(a)
    return one.astype(int64).astype(one.dtype) if one.dtype.kind == "fixed" else one


def ceil(a: Tensor) -> Tensor:
    """The least whole number that isn't below `a`, in its type."""
    return -floor(-tensor_of(a))


def trunc(a: Tensor) -> Tensor:
    """The whole number next to `a` on the side of 0, in its type."""
    one = tensor_of(a)
    return where(one < 0, ceil(one), floor(one)) if one.dtype.kind == "fixed" else one


def rounded(a: Tensor, decimals: int = 0) -> Tensor:
    """The nearest number with so many decimal digits, ties up."""
    one = tensor_of(a)
    if one.dtype.kind != "fixed" and decimals >= 0:
        return one
    if decimals == 0:
        return floor(one + 0.5)
    unit: int = 10 ** abs(decimals)
    return floor(one * unit + 0.5) / unit if decimals > 0 else floor(one / unit + 0.5) * unit


def converted(a: Tensor, dtype: Any) -> Tensor:
    """A tensor in a type of Python's or NumPy's, as NumPy converts.

    Raises:
        ProgramTypeError: There is none like it.
    """
    import numpy as np

    try:
        found = np.dtype(dtype)
    except TypeError:
        found = np.dtype(object)
    integers = {1: int8, 2: int16, 4: int32, 8: int64}
    if found.kind == "b":
        return a.copy() if a.dtype.kind == "bool" else a != 0
    if found.kind == "f":
        return a.copy() if a.dtype.kind == "fixed" else a.astype(fixed(16))
    if found.kind != "i":
        hint = "use int, float, bool, tacit.fixed(16), tacit.int32, ..."
        raise fault(ProgramTypeError, f"{dtype!r} is no type of tacit", hint)
    return trunc(a).astype(integers[found.itemsize])


def sign(a: Tensor) -> Tensor:
    """1 above 0, -1 below, and 0: two comparisons."""
    one = tensor_of(a)
    made = (one > 0) * 1 - (one < 0) * 1
    return made.astype(one.dtype) if one.dtype.kind == "fixed" else made
