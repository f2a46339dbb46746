"""Whole numbers near secrets."""

from __future__ import annotations

from tacit._functions import where
from tacit._tensor import Tensor, tensor_of
from tacit.dtypes import int64


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


def rounded(a: Tensor, digits: int = 0) -> Tensor:
    """The nearest number with so many decimal digits, ties up."""
    one = tensor_of(a)
    if one.dtype.kind != "fixed" and digits >= 0:
        return one
    if digits == 0:
        return floor(one + 0.5)
    unit: int = 10 ** abs(digits)
    return floor(one * unit + 0.5) / unit if digits > 0 else floor(one / unit + 0.5) * unit


def sign(a: Tensor) -> Tensor:
    """1 above 0, -1 below, and 0: two comparisons."""
    one = tensor_of(a)
    made = (one > 0) * 1 - (one < 0) * 1
    return made.astype(one.dtype) if one.dtype.kind == "fixed" else made
