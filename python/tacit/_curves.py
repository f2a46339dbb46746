"""Secrets along public lines: interpolation, areas and slopes."""

from __future__ import annotations

import itertools
from typing import Any

from tacit._functions import clip, concatenate, stack, together
from tacit._functions import shape as shape_of
from tacit._location import fault
from tacit._statistics import as_fixed, norm
from tacit._tensor import Tensor, matmul, tensor_of
from tacit.errors import ProgramError, ProgramTypeError


def interp(x: Tensor, xp: Any, fp: Any) -> Tensor:
    """The line through public points, flat beyond the first and the last: two comparisons for each piece.

    Points along the axis are rounded to the step of `x`; the result is rounded twice.
    """
    import numpy as np

    if isinstance(xp, Tensor) or isinstance(fp, Tensor) or not isinstance(x, Tensor):
        raise fault(
            ProgramTypeError,
            "np.interp takes secrets between public points",
            "of secret points, choose with tacit.where, or multiply np.searchsorted(xp, x) == k by fp[k]",
        )
    one = as_fixed(x)
    at = np.floor(np.asarray(xp, dtype=float) * one.dtype.unit + 0.5) / one.dtype.unit
    values = np.asarray(fp, dtype=float)
    if at.ndim != 1 or at.shape != values.shape or (np.diff(at) <= 0).any():
        raise fault(ProgramError, "the points of np.interp have to ascend, by a step of the secret at least")
    if len(at) == 1:
        return one * 0 + float(values[0])
    low, high = one.range
    column = one.reshape(*one.shape, 1)
    parts = []
    for start, end in itertools.pairwise(at):
        if high <= start:
            parts.append(column * 0)
        else:
            # Beyond the range there is nothing to compare with.
            inside = (
                clip(column, max(start, low), max(min(end, high), low)) if low < end else column * 0 + end
            )
            parts.append(inside - float(start))
    slopes = np.diff(values) / np.diff(at)
    return matmul(concatenate(parts, axis=-1), slopes) + float(values[0])


def hypot(a: Any, b: Any) -> Tensor:
    """The root of the sum of two squares: as `np.linalg.norm`."""
    import numpy as np

    shape = np.broadcast_shapes(shape_of(a), shape_of(b))
    one = as_fixed(tensor_of(a, b))
    pair = [one._made(one._operand(value)).broadcast_to(shape) for value in together([a, b])]
    return norm(stack(pair), axis=0)


def trapezoid(y: Tensor, x: Any = None, dx: float = 1.0) -> Tensor:
    """The area below a line whose points are at public places: rounded once."""
    import numpy as np

    one = as_fixed(tensor_of(y))
    widths = np.full(one.shape[-1] - 1, float(dx)) if x is None else np.diff(np.asarray(x, dtype=float))
    if widths.shape != (one.shape[-1] - 1,):
        raise fault(ProgramError, f"places of shape {np.shape(x)} for {one.shape[-1]} points")
    return matmul(one, (np.append(widths, 0) + np.append(0, widths)) / 2)


def gradient(f: Tensor, dx: float = 1.0) -> Tensor:
    """The slopes of a row of points that are `dx` from one another."""
    import numpy as np

    one = as_fixed(tensor_of(f))
    if one.ndim != 1 or one.size < 2 or np.ndim(dx):
        raise fault(
            ProgramTypeError, "np.gradient of secrets takes one row of two points or more, and one dx"
        )
    inner = [(one[2:] - one[:-2]) / (2 * dx)] if one.size > 2 else []
    return concatenate([(one[1:2] - one[:1]) / dx, *inner, (one[-1:] - one[-2:-1]) / dx])
